"""Trees of values, as ARX writes them: value;coarser;coarser;...;*  with one line a value.

A tree gives a domain whose order keeps every level contiguous, and each level is then a set of
cuts: a node of ARX's hierarchies is a policy, and the lattice holds many more.
"""

from __future__ import annotations

import csv
import io
from collections.abc import Sequence
from itertools import pairwise
from pathlib import Path

from voile.errors import RequestError, SourceError
from voile.tables.domain import Domain, Reading


def read_hierarchy(path: Path, *, delimiter: str | None = None) -> list[tuple[str, ...]]:
    """Read an ARX hierarchy file: one tuple a value, from the value itself to the coarsest."""
    try:
        text = path.read_text(encoding="utf-8-sig")
    except FileNotFoundError:
        raise SourceError("no such hierarchy file", where=str(path)) from None
    except UnicodeDecodeError as error:
        raise SourceError(f"byte {error.start} is not UTF-8 text", where=str(path)) from None
    except OSError as error:
        raise SourceError(f"cannot be read ({error.strerror})", where=str(path)) from None
    delimiter = delimiter or max(";,\t", key=text.count)
    lines = io.StringIO(text, newline="")
    rows = [tuple(row) for row in csv.reader(lines, delimiter=delimiter) if row]
    if not rows:
        raise SourceError("the hierarchy is empty", where=str(path))
    for number, row in enumerate(rows, 1):
        if len(row) != len(rows[0]):
            raise SourceError(
                f"row {number} has {len(row)} levels, row 1 has {len(rows[0])}", where=str(path)
            )
    return rows


def hierarchy_domain(
    column: str,
    rows: Sequence[Sequence[str]],
    *,
    nullable: bool = False,
    reading: Reading | None = None,
) -> Domain:
    """Order the leaves so that every level's groups are contiguous, and keep the levels' cuts.

    Groups stand in the order in which the file first names them, level by level from the
    coarsest. Null, where `nullable`, is last and a group of its own below the coarsest level.

    Raises
    ------
    RequestError : the levels are not nested, or a value stands twice.

    >>> domain = hierarchy_domain("d", [("a", "x", "*"), ("b", "y", "*"), ("c", "x", "*")])
    >>> domain.values, domain.levels[1]
    (('a', 'c', 'b'), (False, True))
    """
    reading = reading or Reading("listed")
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
    values = tuple(reading(row[0]) for row in ordered) + (None,) * nullable
    return Domain(column, values, reading, levels=tuple(tuple(cuts) for cuts in levels))


def _check_nested(column: str, rows: Sequence[Sequence[str]]) -> None:
    leaves = [row[0] for row in rows]
    if len(set(leaves)) < len(leaves):
        raise RequestError("a value stands twice in the hierarchy", where=f"column {column}")
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
