"""Read value hierarchies, and order partially ordered domains so that their groups stay together.

This addresses limitation 1 of the paper: values that have groups and no order. In a depth-first
traversal of a tree, each group is a run of its leaves. A tree therefore gives a domain in which
each level of groups is a set of split points. A node of ARX's lattice is a policy, and voile's
lattice contains many more. Groups that do not form a tree (a value with two parents, or levels that
are not nested) have no such order in general. They are rejected.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence
from itertools import pairwise, zip_longest
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from voile.core.errors import RequestError, SourceError
from voile.tables.domains.domain import ValueDomain
from voile.tables.domains.parser import CellParser
from voile.tables.domains.public_files import read_rows
from voile.tables.domains.settings import QuasiSettings

ROOT = "*"


def read_tree(wanted: QuasiSettings) -> list[tuple[str, ...]] | None:
    """Read the tree file that a column's settings name, or return None if they name no file."""
    if wanted.hierarchy is not None:
        return read_hierarchy(wanted.hierarchy)
    return None if wanted.parents is None else read_parents(wanted.parents)


def read_hierarchy(path: Path) -> list[tuple[str, ...]]:
    """Read an ARX hierarchy file: one tuple for each value, from the value to the coarsest group.

    Raises
    ------
    SourceError : a row has another number of levels than the first row.
    """
    rows = read_rows(path, "hierarchy")
    for number, row in enumerate(rows, 1):
        if len(row) != len(rows[0]):
            raise SourceError(
                f"row {number} has {len(row)} levels, row 1 has {len(rows[0])}", where=str(path)
            )
    return rows


def read_parents(path: Path) -> list[tuple[str, ...]]:
    """Read a tree from a file with one ``value;parent`` pair per line and no header.

    The result has the form of `read_hierarchy`. Names without children are values. Groups at the
    same distance from the root form a level. A value closer to the root than others represents
    itself on the finer levels. Several roots are joined under ``*``.

    Raises
    ------
    SourceError : a row does not have two cells.
    RequestError : a value has two parents, or the parents form a cycle.
    """
    parent: dict[str, str] = {}
    for number, row in enumerate(read_rows(path, "parents"), 1):
        if len(row) != 2:
            raise SourceError(f"row {number} has {len(row)} cells, not two", where=str(path))
        if row[0] in parent:
            raise RequestError(
                f"row {number} gives a value a second parent, and in a tree each has one",
                where=str(path),
                instead="leave one of the two rows out",
            )
        parent[row[0]] = row[1]
    if len(set(parent.values()) - set(parent)) > 1:
        roots = set(parent.values()) - set(parent) - {ROOT}
        parent |= dict.fromkeys(sorted(roots), ROOT)
    ways = [_way_up(path, parent, number, value) for number, value in enumerate(parent, 1)]
    groups = set(parent.values())
    leaves = [way for way in ways if way[0] not in groups]
    depth = max(len(way) for way in leaves)
    return [(way[0],) * (depth - len(way)) + way for way in leaves]


def _way_up(path: Path, parent: dict[str, str], number: int, value: str) -> tuple[str, ...]:
    way = {value: None}
    while value in parent:
        value = parent[value]
        if value in way:
            raise RequestError(
                f"the parents above row {number} lead round in a circle, so this is not a tree",
                where=str(path),
            )
        way[value] = None
    return tuple(way)


def prefix_tree(values: Iterable[str]) -> list[tuple[str, ...]]:
    """Return codes as rows of a tree with one group for each common prefix.

    Upper and lower case differ. Spaces, points and hyphens separate the parts of a code, and each
    part is padded to one width. B1 1AB is therefore in the district B1, and B11 1AB is not. A short
    code represents itself on the finer levels.

    >>> prefix_tree(["C50.9", "C5", "B1"])
    [('B1', 'B1', 'B1', 'B', '*'), ('C5', 'C5', 'C5', 'C', '*'), ('C50.9', 'C50', 'C5', 'C', '*')]
    """
    parts = {value: re.split(r"[\s.-]+", value.strip()) for value in values}
    widths = [max(map(len, own)) for own in zip_longest(*parts.values(), fillvalue="")]

    def padded(own: list[str]) -> str:
        return "".join(part.ljust(size) for part, size in zip(own, widths, strict=False)).rstrip()

    codes = sorted((padded(own), value) for value, own in parts.items())
    depth = max((len(code) for code, _ in codes), default=0)
    lengths = range(depth - 1, 0, -1)
    return [(value, *(code[:length] for length in lengths), ROOT) for code, value in codes]


def build_tree_domain(
    column: str,
    rows: Sequence[Sequence[str]],
    *,
    nullable: bool = False,
    missing: tuple[str, ...] = (),
) -> ValueDomain:
    """Order the leaves so that every level's groups are contiguous.

    The domain keeps the split points of each level. Groups are in the order in which the file first
    names them, level by level from the coarsest. If `nullable`, null is the last value and a
    separate group below the coarsest level.

    Raises
    ------
    RequestError : a value occurs twice, or a level is not nested in the next.

    >>> domain = build_tree_domain("d", [("a", "x", "*"), ("b", "y", "*"), ("c", "x", "*")])
    >>> domain.values, domain.levels[1]
    (('a', 'c', 'b'), (False, True))
    """
    _check_nested(column, rows)
    depth = len(rows[0])
    ranks: list[dict[str, int]] = []
    for level in range(depth):
        ranks.append({})
        for row in rows:
            ranks[level].setdefault(row[level], len(ranks[level]))
    ordered = sorted(rows, key=lambda row: [ranks[i][row[i]] for i in reversed(range(depth))])
    levels = [[a[level] != b[level] for a, b in pairwise(ordered)] for level in range(depth)]
    if nullable:
        for cuts in levels:
            cuts.append(any(cuts) or cuts is levels[0])
    values = tuple(row[0] for row in ordered) + (None,) * nullable
    parser = CellParser("listed", missing=missing)
    return ValueDomain(column, values, parser, levels=tuple(map(tuple, levels)))


def _check_nested(column: str, rows: Sequence[Sequence[str]]) -> None:
    leaves: set[str] = set()
    for number, row in enumerate(rows, 1):
        if row[0] in leaves:
            raise RequestError(
                f"row {number} of the hierarchy places a value again, and in a tree each has one "
                "place",
                where=f"column {column}",
                instead="leave one of the two rows out",
            )
        leaves.add(row[0])
    for level in range(len(rows[0]) - 1):
        parents: dict[str, str] = {}
        for number, row in enumerate(rows, 1):
            if parents.setdefault(row[level], row[level + 1]) != row[level + 1]:
                raise RequestError(
                    f"level {level + 1} of the hierarchy is not nested in level {level + 2}: "
                    f"row {number} puts a group under a second parent",
                    where=f"column {column}",
                    instead="name the groups apart",
                )


def level_cuts(
    domain: ValueDomain, *, finest: int | None = None, coarsest: int | None = None
) -> tuple[NDArray[np.bool_], NDArray[np.bool_]]:
    """Return the split points to keep and those to drop, for groups between two levels of a tree.

    Both are (n - 1,) bool.

    Raises
    ------
    RequestError : the domain has no levels, or not the given ones.

    >>> rows = [("a", "x", "*"), ("b", "x", "*"), ("c", "y", "*")]
    >>> [cuts.tolist() for cuts in level_cuts(build_tree_domain("d", rows), finest=1)]
    [[False, False], [True, False]]
    """
    if not domain.levels:
        raise RequestError(
            "levels are asked for, and no hierarchy is given", where=f"column {domain.column}"
        )
    last = len(domain.levels) - 1
    fine = 0 if finest is None else finest
    coarse = last if coarsest is None else coarsest
    if not 0 <= fine <= coarse <= last:
        raise RequestError(
            f"there are no levels from {fine} to {coarse}",
            where=f"column {domain.column}",
            instead=f"levels are 0 (the values) to {last}, the finest first",
        )
    levels = np.array(domain.levels, dtype=np.bool_)
    required = np.zeros_like(levels[0]) if coarsest is None else levels[coarsest]
    return required, ~levels[fine]
