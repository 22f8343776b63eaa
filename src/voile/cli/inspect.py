"""The command `voile inspect`, which proposes a role for each column of a source."""

from __future__ import annotations

from pathlib import Path

import click

from voile.cli.parameters import VoileCommand, open_and_report, out, reading, source_argument
from voile.cli.screen import CommandScreen
from voile.core.errors import printable
from voile.data.files.outputs import ROLES
from voile.modules import MODULES


def _inspect(
    screen: CommandScreen,
    *,
    source: str,
    out: Path | None,
    kind: str | None,
    table: str | None,
    encoding: str | None,
    force: bool,
) -> None:
    """Propose a role for each column of a source.

    The roles file gives a reason for each column. Read it and correct it. Without --out, the
    command prints the file. For itemsets, each column also gets the form of its features.
    """
    from voile.proposals.propose import kind_named, propose

    kind = kind or kind_named(source)
    proposal = propose(open_and_report(screen, source, table, encoding, kind), kind)
    if out is not None:
        from voile.data.files.atomic import write_text

        write_text(out, proposal.to_toml(), ROLES, force=force)
        for role, names in proposal.by_role().items():
            screen.say(f"  {role + ':':<12} {', '.join(map(printable, names))}")
        screen.say(f"{out}: read it and correct it, since a kept column can undo the rest")
    elif not screen.json:
        click.echo(proposal.to_toml(), nl=False)
    screen.result(
        {
            "source": proposal.source,
            "subject": proposal.subject,
            "columns": {
                c.name: {"role": c.role, **c.settings, "why": c.why} for c in proposal.columns
            },
        }
    )


KIND = click.Option(
    ["--kind"],
    type=click.Choice(list(MODULES)),
    help=(
        "Kind of data [documents for columns of spans, itemsets for columns of lists, else tables]."
    ),
)
inspect = VoileCommand(
    "inspect", _inspect, [source_argument(), *out("ROLES", ROLES, required=False), KIND, *reading()]
)
