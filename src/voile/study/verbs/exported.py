"""What the files of a written export show: facts that an informed adversary may know, and days."""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from datetime import date
from pathlib import Path

import numpy as np

from voile.core.brief import Brief
from voile.keys.pseudonyms import pseudonym
from voile.study.adversary.informed import Facts
from voile.study.adversary.people import Fact, PartFacts
from voile.study.carriers.carrier import Carrier, Extract, is_day_of_people
from voile.study.plan.plan import Plan
from voile.study.study_release import EXPORT
from voile.study.verbs.export import carrier_of, mover, open_export

_EPOCH = date(1970, 1, 1)


@dataclass(frozen=True)
class Exported(Brief):
    """What the files of a written export show: facts by kind; all of them, with days, as a part."""

    facts: Mapping[str, Facts]
    shown: PartFacts

    @classmethod
    def of(
        cls,
        written: Carrier,
        source: Carrier,
        whose: Mapping[str, str],
        move: Callable[[str, date], date | None],
    ) -> Exported:
        """Read a written export beside its source.

        whose : the person of each pseudonym. move : what becomes of a person's day.
        """
        facts: dict[str, dict[str, set[Fact]]] = defaultdict(lambda: defaultdict(set))
        days: dict[str, set[date]] = defaultdict(set)
        rows = Counter[str]()
        for event in written.events(written=True):
            person = whose[event.subject]
            rows[person] += 1
            days[person].update(event.days)
            if event.fact is not None:
                facts[event.kind][person].add(event.fact)
        pairs: dict[str, set[tuple[int, int]]] = defaultdict(set)
        for event in source.events(written=False):
            for day in event.days if event.subject in days else ():
                new = move(event.subject, day) if is_day_of_people(day) else None
                if new is not None and new in days[event.subject]:
                    pairs[event.subject].add((_number(day), _number(new)))
        frozen = {
            kind: {person: frozenset(one) for person, one in own.items()}
            for kind, own in facts.items()
        }
        dates = {one: np.array(sorted(own), np.int64) for one, own in pairs.items()}
        every = {
            person: frozenset(
                (kind, *fact) for kind, own in frozen.items() for fact in own.get(person, ())
            )
            for person in rows
        }
        return cls(
            {kind: Facts(own, own) for kind, own in frozen.items()}, PartFacts(every, dates, rows)
        )


def read_exported(plan: Plan, release: Path, extract: Extract) -> Exported | None:
    """Read what the written export of a release shows of each person; None where there is none."""
    if plan.export is None:
        return None
    people = plan.opened(plan.table[0]).read([plan.study.subject]).column(0).unique().to_pylist()
    whose = {pseudonym(plan.secret, str(one)): str(one) for one in people}
    written = open_export(plan.export, str(release / EXPORT))
    return Exported.of(written, carrier_of(plan), whose, mover(plan, extract))


def _number(day: date) -> int:
    return (day - _EPOCH).days
