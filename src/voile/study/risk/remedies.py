"""Remedies of a part whose rows single people out: fewer rows of each person, or no pseudonym.

Each remedy is applied to the released rows, and the gate counts the people again. The loss is the
share of the part's rows that the remedy leaves out, or the rows that nobody can join any more.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
import pyarrow as pa

from voile.core.rounding import rounded
from voile.data import open_source
from voile.gate.people import ALONE, ReleasedPart, count_people

SHARES = (0.0, 0.25, 0.5, 0.75)
"""Of people, by their numbers of rows: the caps that are tried."""
MOST_ROWS = 200_000
"""Rows of a part whose caps are tried: they lie in memory."""
TABLE = "table"


@dataclass(frozen=True)
class Remedy:
    """An option of a part, and the people whom all facts then no longer single out.

    helped : of `alone`, before it. left_out : the share of the part's rows that goes; None where no
    row goes, and none is joined to a person.
    """

    part: str
    option: str
    helped: int
    alone: int
    left_out: float | None

    @property
    def says(self) -> str:
        """The option in the plan's syntax, with its gain and its loss."""
        loss = "its rows are no longer joined to people"
        if self.left_out is not None:
            loss = f"{rounded(self.left_out, 'up'):.0%} of its rows are left out"
        helped = f"{self.helped:,} of the {self.alone:,} people whom all facts single out"
        return f"{self.option} in [parts.{self.part}] helps {helped}: {loss}"

    def to_data(self) -> dict[str, Any]:
        return vars(self)


def find_remedies(
    parts: Mapping[str, ReleasedPart], names: Iterable[str], group: ReleasedPart
) -> tuple[Remedy, ...]:
    """Measure the best cap, and the break of links, of each of some parts; the best remedy first.

    group : the rows of the table, which stay linked.

    Cost: a count of all facts for each cap and part. Memory: the rows of a part, up to `MOST_ROWS`;
    of a larger part no cap is tried.
    """
    alone = _count_alone(parts, group)
    found = [one for name in names if alone for one in _remedies_of(name, parts, group, alone)]
    return tuple(sorted((x for x in found if x.helped > 0), key=lambda x: (-x.helped, x.part)))


def _remedies_of(
    name: str, parts: Mapping[str, ReleasedPart], group: ReleasedPart, alone: int
) -> Iterator[Remedy]:
    others = {other: part for other, part in parts.items() if other != name}
    helped = alone - _count_alone(others, group)
    yield Remedy(name, 'links = "none"', helped, alone, None)
    if (parts[name].rows.about_rows() or 0) > MOST_ROWS:
        return
    rows = parts[name].rows.read()
    people = rows.column(parts[name].person).to_pylist()
    numbers = sorted(Counter(people).values())
    caps = sorted({int(np.quantile(numbers, share, method="lower")) for share in SHARES})
    tried = []
    for most in (one for one in caps if one < numbers[-1]):
        kept = rows.filter(are_first(people, most, Counter()))
        capped = replace(parts[name], rows=open_source(kept))
        helped = alone - _count_alone({**others, name: capped}, group)
        left_out = 1 - sum(min(one, most) for one in numbers) / sum(numbers)
        tried.append(Remedy(name, f"most_rows = {most}", helped, alone, left_out))
    if tried:
        yield max(tried, key=lambda one: (one.helped, -(one.left_out or 0.0)))


def are_first(people: Sequence[Any], most: int, seen: Counter[Any]) -> pa.Array:
    """Return which rows are among the first of their person.

    seen : the rows of each person in earlier batches, to which these are added.
    """
    kept = []
    for who in people:
        seen[who] += 1
        kept.append(seen[who] <= most)
    return pa.array(kept, pa.bool_())


def _count_alone(parts: Mapping[str, ReleasedPart], group: ReleasedPart) -> int:
    found = count_people({TABLE: group, **parts}, of=TABLE)
    return int(next((one.value for one in found if one.name == ALONE), 0))
