"""The facts in the files of a written export: days, and events that an acquaintance may know."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from datetime import date
from pathlib import Path
from typing import Any

import pyarrow as pa

from voile.core.brief import BriefRepr
from voile.data import open_source
from voile.gate.people import ReleasedPart
from voile.keys.pseudonyms import pseudonym
from voile.study.adversary.people import DATES
from voile.study.carriers.carrier import ExportCarrier, Extract, is_day_of_people
from voile.study.plan.plan import StudyPlan
from voile.study.risk.remedies import RANK, TYPE
from voile.study.study_release import EXPORT
from voile.study.verbs.export import carrier_of, mover, open_export, place_export

_EPOCH = date(1970, 1, 1)
_PERSON = "person"


@dataclass(frozen=True)
class ExportedFacts(BriefRepr):
    """The facts in the files of a written export: days, and events by kind, one per row."""

    dates: pa.Table
    events: Mapping[str, ReleasedPart]

    @classmethod
    def of(
        cls,
        written: ExportCarrier,
        source: ExportCarrier,
        whose: Mapping[str, str],
        move: Callable[[str, date], date | None],
        *,
        is_joined: bool,
    ) -> ExportedFacts:
        """Read a written export with its source.

        whose : the person of each pseudonym. move : returns the moved day of a person. is_joined :
            whether the other parts have these pseudonyms.
        """
        days: dict[str, set[date]] = defaultdict(set)
        rows: dict[str, list[dict[str, Any]]] = defaultdict(list)
        for event in written.events(written=True):
            person = whose[event.subject]
            days[person].update(event.days)
            joined = event.subject if is_joined else person
            label = {_PERSON: joined, "fact": repr(event.fact)}
            own = {f"day {n}": day for n, day in enumerate(event.days)}
            place = {TYPE: event.type, RANK: event.rank}
            rows[event.kind].append({**label, **place, **own})
        pairs: set[tuple[str, int, int]] = set()
        for event in source.events(written=False):
            for day in event.days if event.subject in days else ():
                new = move(event.subject, day) if is_day_of_people(day) else None
                if new is not None and new in days[event.subject]:
                    pairs.add((event.subject, _number(day), _number(new)))
        columns = zip(*sorted(pairs), strict=True) if pairs else ((), (), ())
        dates = pa.table([pa.array(x, y.type) for x, y in zip(columns, DATES, strict=True)], DATES)
        return cls(dates, {kind: _as_part(own) for kind, own in rows.items()})


def _as_part(rows: list[dict[str, Any]]) -> ReleasedPart:
    text = [(name, pa.string()) for name in (_PERSON, "fact", TYPE)]
    dates = sorted({name for row in rows for name in row} - {_PERSON, "fact", TYPE, RANK})
    schema = pa.schema([*text, (RANK, pa.int64()), *((name, pa.date32()) for name in dates)])
    source = open_source(pa.Table.from_pylist(rows, schema))
    return ReleasedPart(rows=source, person=_PERSON, facts=("fact",), dates=tuple(dates))


def read_exported(plan: StudyPlan, release: Path, extract: Extract) -> ExportedFacts | None:
    """Read the facts of each person in a release's written export, or return None without one."""
    if plan.export is None:
        return None
    people = plan.open_part(plan.table[0]).read([plan.study.subject]).column(0).unique().to_pylist()
    whose = {pseudonym(plan.secret, str(one)): str(one) for one in people}
    written = open_export(place_export(plan), str(release / EXPORT))
    move, is_joined = mover(plan, extract), plan.study.join
    return ExportedFacts.of(written, carrier_of(plan), whose, move, is_joined=is_joined)


def _number(day: date) -> int:
    return (day - _EPOCH).days
