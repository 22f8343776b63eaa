"""`voile inspect`: propose what each column of a source is."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

import click

from voile.cli.parameters import Command, argument, open_told, out, reading
from voile.cli.screen import Screen
from voile.data.files.outputs import ROLES

if TYPE_CHECKING:
    from voile.data import Source
    from voile.proposals.proposal import Proposal


def _inspect(
    screen: Screen,
    *,
    source: str,
    out: Path | None,
    kind: str | None,
    table: str | None,
    encoding: str | None,
    force: bool,
) -> None:
    """Propose what each column of a source is.

    The file says why, column by column; read it and correct it. Without --out it is printed. For
    rows of items, each column is proposed in the form that features are made of.
    """
    kind = kind or _named(source)
    proposal = _examined(open_told(screen, source, table, encoding, kind), kind)
    if out is not None:
        from voile.data.files.atomic import write_text

        write_text(out, proposal.to_toml(), ROLES, force=force)
        for role, names in proposal.by_role().items():
            screen.say(f"  {role + ':':<12} {', '.join(names)}")
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


def _named(source: str) -> str | None:
    """Name the kind of data that a source is by its name: a corpus is of documents."""
    from voile.documents.text.source import is_corpus

    return "documents" if is_corpus(source) else None


def _examined(source: Source, kind: str | None) -> Proposal:
    """Propose roles for a kind of data; where none is named, spans and lists tell."""
    from voile.proposals.documents import examine_documents, holds_spans
    from voile.proposals.items import examine_items, holds_lists
    from voile.proposals.readings import examine_readings
    from voile.proposals.tables import examine

    if kind == "documents" or (kind is None and holds_spans(source)):
        return examine_documents(source)
    if kind == "signals":
        return examine_readings(source)
    if kind == "itemsets" or (kind is None and holds_lists(source)):
        return examine_items(source)
    return examine(source)


KIND = click.Option(
    ["--kind"],
    type=click.Choice(["documents", "tables", "itemsets", "signals"]),
    help="What the roles are for [tables; documents where there are spans, itemsets lists].",
)
inspect = Command(
    "inspect",
    _inspect,
    [argument("source"), *out("ROLES", ROLES, required=False), KIND, *reading()],
)
