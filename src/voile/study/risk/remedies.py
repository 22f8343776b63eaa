"""Remedies if facts single people out, as options of a plan, with their gain and their loss.

Each remedy is applied to the released rows, and the gate counts the people again. The loss is the
share of rows that the remedy leaves out, or the content that rows no longer show.
"""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import islice
from typing import Any, NamedTuple

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from voile.core.rounding import round_number
from voile.data import open_source
from voile.gate.people import ALONE, ReleasedPart, count_people

SHARES = (0.0, 0.25, 0.5, 0.75)
"""Quantiles of people's numbers of rows, which are the caps to try."""
MOST_ROWS = 200_000
"""Maximum rows of a part in a trial of caps, since they are in memory."""
MOST_TYPES = 12
"""Maximum types of an export in trials, those with the most rows. A trial counts every part."""
TABLE = "table"
TYPE, RANK = "type", "rank"
"""Columns of exported events: the resource type or table, and the number within its person."""
Parts = Mapping[str, ReleasedPart]
Limit = Callable[[int], int]
"""The number of kept rows of a person, given its number of rows."""


@dataclass(frozen=True)
class PlanRemedy:
    """An option of a plan, and the number of people whom all facts then no longer single out.

    place : the table of the plan. helped : number of people out of `alone`, who were singled out
        before.
    loss : the loss, in words.
    """

    place: str
    option: str
    helped: int
    alone: int
    loss: str

    @property
    def says(self) -> str:
        """The option in the plan's syntax, with its gain and its loss."""
        helped = f"{self.helped:,} of the {self.alone:,} people whom all facts single out"
        return f"{self.option} in {self.place} helps {helped}: {self.loss}"

    def to_data(self) -> dict[str, Any]:
        return vars(self)


@dataclass(frozen=True)
class ExportOptions:
    """The options of an export that a remedy extends.

    drop, most_rows : as in the plan. kept : types with rows that no remedy removes.
    """

    drop: Sequence[str]
    most_rows: Mapping[str, int]
    kept: frozenset[str]


class _RemedyTrial(NamedTuple):
    """A remedy to measure. Only the best remedy of a family is offered."""

    place: str
    option: str
    family: str
    parts: Parts
    loss: str
    left_out: float = 0.0
    are_months: bool = False


def find_remedies(
    parts: Parts,
    names: Iterable[str],
    group: ReleasedPart,
    *,
    codes: Callable[[str], pa.Array],
    export: ExportOptions | None = None,
    are_months: bool = False,
) -> tuple[PlanRemedy, ...]:
    """Measure the remedies of some parts, of an export's types and of days. Return the best first.

    names : the parts to try. group : the rows of the table, which stay linked.
    codes : returns a keyed code for each row of a part. A person keeps the rows with the smallest
        codes.
    export : set for parts that are events of an export.
    are_months : whether days are written as the first day of their month.
    Cost: a count of all facts for each trial. Memory: the rows of a part, up to `MOST_ROWS`. No
    trial leaves out rows of a larger part.
    """
    alone = _count_alone(parts, group, are_months=are_months)
    if not alone:
        return ()
    best: dict[tuple[str, str], tuple[tuple[int, float], PlanRemedy]] = {}
    for one in _list_trials(parts, names, codes, export, are_months=are_months):
        helped = alone - _count_alone(one.parts, group, are_months=one.are_months or are_months)
        score = helped, -one.left_out
        before = best.get((one.place, one.family))
        if helped > 0 and (before is None or score > before[0]):
            remedy = PlanRemedy(one.place, one.option, helped, alone, one.loss)
            best[one.place, one.family] = score, remedy
    found = (remedy for _, remedy in best.values())
    return tuple(sorted(found, key=lambda x: (-x.helped, x.place, x.option)))


def _list_trials(
    parts: Parts,
    names: Iterable[str],
    codes: Callable[[str], pa.Array],
    export: ExportOptions | None,
    *,
    are_months: bool,
) -> Iterator[_RemedyTrial]:
    for name in names:
        yield from _try_part(name, parts, codes)
    if export is not None:
        yield from _try_export(export, parts)
    if not are_months and any(part.dates for part in parts.values()):
        loss = "each day becomes the first of its month"
        yield _RemedyTrial("[study]", 'dates = "months"', "months", parts, loss, are_months=True)


def _try_part(name: str, parts: Parts, codes: Callable[[str], pa.Array]) -> Iterator[_RemedyTrial]:
    """Yield a part without links, without stays, and with fewer rows of each person."""
    place, part = f"[parts.{name}]", parts[name]
    others = {other: own for other, own in parts.items() if other != name}
    loss = "its rows are no longer joined to people"
    yield _RemedyTrial(place, 'links = "none"', "links", others, loss)
    if len(part.dates) > 1:
        loss = f"of its {len(part.dates)} columns of days one is released"
        first = {**parts, name: replace(part, dates=part.dates[:1])}
        yield _RemedyTrial(place, 'stays = "drop"', "stays", first, loss)
    if (part.rows.about_rows() or 0) > MOST_ROWS:
        return
    rows = part.rows.read().take(pc.sort_indices(codes(name)))
    people = rows.column(part.person).to_pylist()
    for option, family, limit in _list_limits(people):
        kept = rows.filter(are_kept(people, limit))
        capped = {**parts, name: replace(part, rows=open_source(kept))}
        left_out = 1 - len(kept) / len(rows)
        yield _RemedyTrial(place, option, family, capped, _say_left_out(left_out), left_out)


def _list_limits(people: Sequence[Any]) -> Iterator[tuple[str, str, Limit]]:
    """Yield the options for fewer rows of each person: caps at some quantiles, and bins."""
    numbers = sorted(Counter(people).values())
    for most in _list_caps(numbers):
        yield f"most_rows = {most}", "most_rows", limit_rows(most, None)
    bins = [2**n for n in range(numbers[-1].bit_length())] if numbers else []
    if bins:
        yield f"row_bins = {bins}", "row_bins", limit_rows(None, bins)


def _list_caps(numbers: Sequence[int]) -> list[int]:
    caps = {int(np.quantile(numbers, share, method="lower")) for share in SHARES if numbers}
    return [one for one in sorted(caps) if one < numbers[-1]]


def _try_export(export: ExportOptions, parts: Parts) -> Iterator[_RemedyTrial]:
    """Yield an export without stays, without a type, and with fewer rows of a type."""
    exported = {name: part for name, part in parts.items() if TYPE in part.rows.columns}
    first = {name: replace(part, dates=part.dates[:1]) for name, part in exported.items()}
    if first != exported:
        loss = "of the days of a resource or row the first is released"
        yield _RemedyTrial("[export]", 'stays = "drop"', "stays", {**parts, **first}, loss)
    events = {name: part.rows.read() for name, part in exported.items()}
    total = sum(map(len, events.values()))
    if not 0 < total <= MOST_ROWS:
        return
    types = Counter(x for rows in events.values() for x in rows.column(TYPE).to_pylist())
    tried = (kind for kind, _ in types.most_common() if kind not in export.kept)
    for kind in sorted(islice(tried, MOST_TYPES)):
        ranks = Counter[Any]()
        for name, rows in events.items():
            own = rows.filter(pc.equal(rows.column(TYPE), kind))
            for who, rank in zip(*_columns(own, parts[name].person, RANK), strict=True):
                ranks[who] = max(ranks[who], rank)
        numbers = sorted(ranks.values())
        dropped = json.dumps([*export.drop, kind])
        options = [(f"drop = {dropped}", "drop", 0)]
        options += [
            (f"most_rows = {_inline({**export.most_rows, kind: most})}", "most_rows", most)
            for most in _list_caps(numbers)[-1:]
        ]
        for option, family, most in options:
            kept = {name: _cap_type(rows, kind, most) for name, rows in events.items()}
            left_out = 1 - sum(map(len, kept.values())) / total
            new = {x: replace(parts[x], rows=open_source(rows)) for x, rows in kept.items()}
            loss = _say_left_out(left_out, "the export's")
            yield _RemedyTrial(
                "[export]", option, f"{family} {kind}", {**parts, **new}, loss, left_out
            )


def _cap_type(rows: pa.Table, kind: str, most: int) -> pa.Table:
    """Return the rows, keeping only the first rows of a type of each person."""
    is_other = pc.not_equal(rows.column(TYPE), kind)
    return rows.filter(pc.or_(is_other, pc.less_equal(rows.column(RANK), most)))


def _columns(rows: pa.Table, *names: str) -> list[list[Any]]:
    return [rows.column(name).to_pylist() for name in names]


def _inline(options: Mapping[str, int]) -> str:
    """Return numbers by name as an inline table of TOML."""
    return "{ " + ", ".join(f"{name} = {x}" for name, x in options.items()) + " }"


def _say_left_out(share: float, whose: str = "its") -> str:
    return f"{round_number(share, 'up'):.0%} of {whose} rows are left out"


def limit_rows(most: int | None, bins: Sequence[int] | None) -> Limit:
    """Return a function for the number of kept rows: at most `most`, rounded down to a bin.

    >>> [limit_rows(None, [1, 2, 4])(n) for n in (1, 2, 3, 9)], limit_rows(3, None)(9)
    ([1, 2, 2, 4], 3)
    """

    def limit(rows: int) -> int:
        capped = rows if most is None else min(rows, most)
        return capped if bins is None else max((one for one in bins if one <= capped), default=0)

    return limit


def are_kept(people: Sequence[Any], limit: Limit) -> pa.Array:
    """Return a mask of the kept rows, the first ones of each person."""
    rows, seen, kept = Counter(people), Counter[Any](), []
    for who in people:
        seen[who] += 1
        kept.append(seen[who] <= limit(rows[who]))
    return pa.array(kept, pa.bool_())


def _count_alone(parts: Parts, group: ReleasedPart, *, are_months: bool) -> int:
    found = count_people({TABLE: group, **parts}, of=TABLE, are_months=are_months)
    return int(next((one.value for one in found if one.name == ALONE), 0))
