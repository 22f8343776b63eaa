"""Propose roles for a source of any kind of data."""

from __future__ import annotations

import os
from pathlib import Path
from typing import Any

from pydantic import PrivateAttr

from voile.core.arguments import check_arguments
from voile.core.errors import as_keywords
from voile.data import Source
from voile.data.roles import Roles
from voile.data.source import without_rows
from voile.modules import find_module, find_opener
from voile.proposals.documents import examine_documents, holds_spans
from voile.proposals.items import examine_items, holds_lists
from voile.proposals.proposal import RolesProposal
from voile.proposals.readings import examine_readings
from voile.proposals.tables import examine


class ProposedRoles(Roles):
    """Roles with a reason for each column. Read them, and correct them with `corrected`."""

    _proposal: RolesProposal = PrivateAttr()

    @classmethod
    def of_proposal(cls, proposal: RolesProposal) -> ProposedRoles:
        columns = {c.name: {"role": c.role, **c.settings} for c in proposal.columns}
        roles = cls.model_validate({"subject": proposal.subject, "columns": columns})
        roles._proposal = proposal
        return roles

    @check_arguments
    def save(self, path: str | os.PathLike[str], *, force: bool = False) -> Path:
        """Write the roles file with the reasons. `force` replaces a file that voile wrote."""
        from voile.data.files.atomic import write_text
        from voile.data.files.outputs import ROLES

        write_text(path, self._proposal.to_toml(), ROLES, force=force)
        return Path(path)

    def _repr_html_(self) -> str:
        from voile.report.notebook import frame_blocks
        from voile.report.sections import Grid

        rows = tuple((c.name, c.role, c.why) for c in self._proposal.columns)
        return frame_blocks("Proposed roles: correct them", [Grid(("column", "role", "why"), rows)])


@check_arguments
def inspect(source: object, kind: str | None = None) -> ProposedRoles:
    """Propose a role for each column of a source. Correct the roles before you use them.

    Parameters
    ----------
    source : a frame, a dictionary of columns, or a path or address of a table.
    kind : the kind of data: tables, documents, itemsets or signals. By default it is tables, but
        documents if there are spans, and itemsets if there are lists.

    >>> roles = inspect({"name": ["Ada", "Ben"], "age": [36, 41]})
    >>> roles.corrected({"age": "quasi"}).of("quasi")
    ['age']
    """
    with as_keywords():
        if kind is not None:
            find_module(kind)
        kind = kind or kind_named(source)
        return ProposedRoles.of_proposal(propose(find_opener(kind)(source), kind))


def propose(source: Source, kind: str | None) -> RolesProposal:
    """Propose roles for a kind of data. Without a kind, spans and lists decide."""
    proposal = _propose(source, kind)
    if not proposal.rows:
        raise without_rows(source.name)
    return proposal


def _propose(source: Source, kind: str | None) -> RolesProposal:
    if kind == "documents" or (kind is None and holds_spans(source)):
        return examine_documents(source)
    if kind == "signals":
        return examine_readings(source)
    if kind == "itemsets" or (kind is None and holds_lists(source)):
        return examine_items(source)
    return examine(source)


def kind_named(thing: Any) -> str | None:
    """Return "documents" if the source is the path of a corpus, and None otherwise.

    A folder with as many tables as documents is not a corpus. It is refused unless its kind is
    given.
    """
    from voile.documents.text.source import is_corpus, is_mostly_tables

    is_one = isinstance(thing, str | os.PathLike) and is_corpus(thing)
    return "documents" if is_one and not is_mostly_tables(thing) else None
