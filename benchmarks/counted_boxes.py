"""Estimated over true matches where a population counts 4 of 10 quasi-identifiers.

    python -m benchmarks.counted_boxes

Adult is the population: a tenth of it is drawn, by several designs, and released by policies of the
global search, at most 10% suppressed. What a release's groups number in all of Adult is known, so
that the sum of n / F is the truth. k = 1 shows where the estimate fails, and is not given.
"""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
from benchmarks.data import folder
from benchmarks.tables import save
from numpy.typing import NDArray

from voile.tables.people.counted_boxes import expect_inverse
from voile.tables.people.counts import Constraints, row_keys
from voile.tables.policies.policy import Policy
from voile.tables.policies.space import PolicySpace
from voile.tables.verbs.search import search

COUNTED = ["age", "sex", "race", "education"]
OTHERS = ["marital_status", "occupation", "relationship", "workclass", "hours_per_week"]
QUASI = [*COUNTED, *OTHERS, "native_country"]
SHARE, DRAWS, POLICIES = 0.1, 3, 6
LEVELS = (5, 11, 1)
Rows = NDArray[np.bool_]


def designs(people: pa.Table) -> Iterator[tuple[str, NDArray[np.float64], int]]:
    """Yield each design: its name, every person's chance, and how large households are."""
    single = np.array([str(x).startswith("Never") for x in people["marital_status"].to_pylist()])
    for odds in (1, 2, 5):
        chance = np.where(single, odds, 1.0)
        yield f"never married {odds} times as likely", SHARE * chance / chance.mean(), 1
    for size in (2, 3, 4):
        yield f"households of {size}, taken whole", np.full(len(people), SHARE), size


def draw(rng: np.random.Generator, chance: NDArray[np.float64], size: int) -> Rows:
    """Draw people, in households of neighbours."""
    first = np.arange(len(chance)) // size * size
    return np.asarray(rng.random(len(chance))[first] < chance)


def ratio(space: PolicySpace, policy: Policy, people: pa.Table) -> float:
    """Return the estimated matches over the true ones."""
    boxes = space.population.boxes
    assert boxes is not None
    n, subjects, counted = space.counted_boxes(policy, boxes)
    drawn = subjects / np.maximum(counted, subjects)
    groups, _, kept = space.groups(policy)
    own = np.column_stack(
        [np.append(policy.interval_of(d), -1)[d.codes(people[d.column])] for d in space.domains]
    )
    seen = own[(own >= 0).all(axis=1)]
    sizes = [len(policy.intervals[name]) for name in QUASI]
    keys = row_keys(np.concatenate([groups[kept], seen]), sizes)
    distinct, place = np.unique(keys, return_inverse=True)
    truth = np.bincount(place[len(n) :], minlength=len(distinct))[place[: len(n)]]
    return float(n @ expect_inverse(np.maximum(n, 1), drawn) / (n / truth).sum())


def measure(people: pa.Table, counted: pa.Table, drawn: Rows, k: int) -> list[float]:
    """Return the ratios of policies along a frontier."""
    space = PolicySpace.of(
        people.filter(pa.array(drawn)),
        counted,
        QUASI,
        sampled=True,
        constraints=Constraints(k, suppress=0.1),
    )
    frontier = search(space, method="steepest", evaluations=400_000, random_state=1).frontier
    chosen = np.linspace(0, len(frontier) - 1, POLICIES + 1).astype(int)[1:]
    return [ratio(space, space.policy(frontier.policies[i]), people) for i in chosen]


def main() -> None:
    table = pq.read_table(folder("tennessee") / "adult.parquet").select(QUASI)
    people = table.sort_by([(name, "ascending") for name in QUASI])
    counted = people.group_by(COUNTED).aggregate([([], "count_all")])
    counted = counted.rename_columns([*COUNTED, "people"])
    rows = []
    for name, chance, size in designs(people):
        rng, found = np.random.default_rng(1), []
        for k in LEVELS if name.startswith("never married 1 ") else LEVELS[:2]:
            ratios = [
                one
                for _ in range(DRAWS)
                for one in measure(people, counted, draw(rng, chance, size), k)
            ]
            found.append(f"{np.median(ratios):.2f} ({min(ratios):.2f} to {max(ratios):.2f})")
        rows.append((name, *found, *["–"] * (len(LEVELS) - len(found))))
    save(
        "counted_boxes",
        "Estimated over true expected matches of released tenths of Adult, 4 of 10 columns "
        "counted: median, least and greatest over "
        f"{DRAWS} draws and {POLICIES} policies of each frontier.",
        ("who is drawn", *(f"k = {k}" for k in LEVELS)),
        rows,
        "Households are neighbours in the order of all ten columns. Below 1 the risk is "
        "understated. Groups of fewer than 5 subjects are not estimated by `--sampled`.",
    )


if __name__ == "__main__":
    main()
