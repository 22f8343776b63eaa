"""`voile inspect`: propose what each column of a source is."""

from __future__ import annotations

from pathlib import Path

import click

from voile.cli.parameters import Command, argument, force, free, open_told, out, reading
from voile.cli.screen import Screen


def _inspect(
    screen: Screen,
    *,
    source: str,
    out: Path | None,
    table: str | None,
    encoding: str | None,
    force: bool,
) -> None:
    """Propose what each column of a source is.

    The file says why, column by column; read it and correct it. Without --out it is printed.
    """
    from voile.proposal import examine

    if out is not None:
        free(out, force=force, source=source)
    proposal = examine(open_told(screen, source, table, encoding))
    if out is not None:
        from voile.io.atomic import write_text

        write_text(out, proposal.to_toml(), force=force)
        for role, names in proposal.by_role().items():
            screen.say(f"  {role + ':':<12} {', '.join(names)}")
        screen.say(f"{out}: read it and correct it, since a kept column can undo the rest")
    elif not screen.json:
        click.echo(proposal.to_toml(), nl=False)
    screen.result(
        {
            "source": proposal.source,
            "subject": proposal.subject,
            "columns": {c.name: {"role": c.role, "why": c.why} for c in proposal.columns},
        }
    )


inspect = Command(
    "inspect", _inspect, [argument("source"), out("ROLES", required=False), force(), *reading()]
)
