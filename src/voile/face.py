"""What a user calls for every kind of data: inspect a source, open a kit or a release again."""

from __future__ import annotations

import os
from pathlib import Path

from voile.core.errors import as_keywords
from voile.core.kinds import load
from voile.proposals.propose import ProposedRoles, kind_named, propose
from voile.release.kit import Kit
from voile.release.manifest import Release
from voile.release.verbs import opener


def inspect(source: object, kind: str | None = None) -> ProposedRoles:
    """Propose what each column of a source is; correct it before you use it.

    Parameters
    ----------
    source : a frame, a dictionary of columns, or a path or address of a table.
    kind : of data, tables, documents, itemsets or signals; without it tables, documents where
        there are spans, itemsets where there are lists.

    >>> roles = inspect({"name": ["Ada", "Ben"], "age": [36, 41]})
    >>> roles.corrected({"age": "quasi"}).of("quasi")
    ['age']
    """
    with as_keywords():
        if kind is not None:
            load(kind)
        kind = kind or kind_named(source)
        return ProposedRoles.of_proposal(propose(opener(kind)(source), kind))


def open_kit(path: str | os.PathLike[str]) -> Kit:
    """Open a kit that `Kit.save` or `voile KIND fit` wrote."""
    return Kit.load(Path(path))


def open_release(path: str | os.PathLike[str]) -> Release:
    """Open a release that `Kit.apply`, `Release.save` or `voile KIND apply` wrote.

    Its `frame` is an Arrow table.
    """
    return Release.open(path)
