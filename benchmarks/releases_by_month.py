"""A table that grows each month: what the difference shows, and how long new people wait."""

from __future__ import annotations

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
import pyarrow.parquet as pq
from benchmarks.data import folder
from benchmarks.tables import save
from benchmarks.tennessee import COLUMNS

from voile.tables.fitting.search import search
from voile.tables.fitting.space import PolicySpace
from voile.tables.joint.difference import OutRelease, ReleaseTimeline
from voile.tables.joint.people import ABSENT, ReleasedPeople
from voile.tables.people.counts import Constraints
from voile.tables.policies.policy import Policy

FIRST, MONTHLY, MONTHS, K, SUPPRESS, EVALUATIONS = 20_000, 1_000, 12, 5, 0.1, 100_000


def main() -> None:
    rows = pq.read_table(folder("tennessee") / "adult.parquet", columns=list(COLUMNS))
    order = np.random.default_rng(1).permutation(len(rows))[: FIRST + MONTHS * MONTHLY]
    people = rows.take(pa.array(order))
    cells = groups(people)
    all_at_once, waiting = months(cells, hold_back=False), months(cells, hold_back=True)
    save(
        "releases_by_month",
        f"{FIRST:,} people of the Tennessee pair and {MONTHLY:,} more each month, {MONTHS} months, "
        f"by a policy of k = {K} that suppresses at most {SUPPRESS:.0%} of the first.",
        ("what", "all at once", "--hold-back", "prototype"),
        [
            ("new people whom the difference shows alone", *both(all_at_once, waiting, 0), "17.8%"),
            (f"in groups under {K}", *both(all_at_once, waiting, 1), "58.5%"),
            (f"of all who came, out after {MONTHS} months", *both(all_at_once, waiting, 2), "86%"),
            (
                "mean delay of those who are out, months",
                f"{all_at_once[3]:.2f}",
                f"{waiting[3]:.2f}",
                ".75",
            ),
        ],
        "The prototype's policy and order of people are not known, so its figures are of the same "
        "kind, not of the same run.",
    )


def both(one: tuple[float, ...], other: tuple[float, ...], place: int) -> tuple[str, str]:
    return f"{one[place]:.1%}", f"{other[place]:.1%}"


def groups(people: pa.Table) -> np.ndarray:
    """Return the group of each person, by a policy that keeps k among the first."""
    space = PolicySpace.of(
        people.slice(0, FIRST), None, COLUMNS, constraints=Constraints(k=K, suppress=SUPPRESS)
    )
    found = search(space, method="best", evaluations=EVALUATIONS, random_state=1).frontier
    policy = space.policy(found.policies[int(np.argmin(found.loss))])
    assert isinstance(policy, Policy)
    codes = np.column_stack([domain.codes(people[domain.column]) for domain in space.domains])
    numbers = policy.numbers_of(codes)  # a new value is in a group of its own
    keys = numbers.astype(np.int64) @ np.array([10**9, 10**6, 10**3, 1])
    size = len(pc.unique(pa.array(keys[:FIRST])))
    print(f"policy of {size:,} groups, loss {found.loss.min():.3f}")
    return np.unique(keys, return_inverse=True)[1].astype(np.uint64) + np.uint64(1)


def months(cells: np.ndarray, *, hold_back: bool) -> tuple[float, ...]:
    """Release each month all who are there, or those who need not wait."""
    who = np.arange(len(cells), dtype=np.uint64)
    out, came = np.full(len(cells), -1), np.maximum(0, (who.astype(int) - FIRST) // MONTHLY + 1)
    before: list[OutRelease] = []
    alone = few = shown = 0
    for month in range(MONTHS + 1):
        here = came <= month
        seen = np.where(here & ((out >= 0) | enough(cells, here)), cells, ABSENT)
        people = ReleasedPeople.of_rows(who[here], seen[here], {})
        nobody = np.zeros(len(people), np.uint64)
        timeline = ReleaseTimeline(before, OutRelease(people, None), nobody, np.zeros(len(people)))
        if hold_back and month:
            seen[np.flatnonzero(here)[timeline.waiting(K)]] = ABSENT
            people = ReleasedPeople.of_rows(who[here], seen[here], {})
            timeline = ReleaseTimeline(
                before, OutRelease(people, None), nobody, np.zeros(len(people))
            )
        new = (seen != ABSENT) & (out < 0)
        if month:
            size = timeline.size[np.searchsorted(timeline.who, who[new])]
            alone, few = alone + int((size == 1).sum()), few + int((size < K).sum())
            shown += int(new.sum())
        out[new] = month
        before = [
            OutRelease(people.select_released(), None)
        ]  # who is out stays, so the last shows all
    late = came > 0
    gone = late & (out >= 0)
    delay = float((out - came)[gone].mean())
    return alone / shown, few / shown, float(gone.sum() / late.sum()), delay


def enough(cells: np.ndarray, here: np.ndarray) -> np.ndarray:
    """Say whose group holds k people: other groups are suppressed."""
    return (
        np.bincount(cells[here].astype(int), minlength=int(cells.max()) + 1)[cells.astype(int)] >= K
    )


if __name__ == "__main__":
    main()
