"""Xia et al. 2013 at a small size: the paper's examples, and its figures on a made-up county."""

from __future__ import annotations

import sys
import warnings
from collections.abc import Iterator
from itertools import islice

import numpy as np
import pyarrow as pa
from benchmarks.against_safe_harbor import beaten, longest_chain
from benchmarks.by_evaluations import areas
from benchmarks.paper_results import Result
from benchmarks.update_probability import measure

from voile.core.frontier import Frontier
from voile.demo.county import QUASI, make_county
from voile.tables.fitting.paper.bisect import BisectSearch
from voile.tables.fitting.paper.chains import RandomChain
from voile.tables.fitting.paper.clauses import PolicySublattice, PrunedSublattices
from voile.tables.fitting.paper.sublattice import SublatticeSearch
from voile.tables.fitting.search import search
from voile.tables.fitting.searches.run import TablesSearchRun
from voile.tables.fitting.space import PolicySpace
from voile.tables.policies.policy import Policy
from voile.tables.policies.safe_harbor import SafeHarborWarning, safe_harbor

COUNTY = {"tiny": 2_000, "small": 50_000}
SEEDS = {"tiny": 2, "small": 20}
SUBLATTICES = {"tiny": 50, "small": 2_424}
ALTERNATIVES = {"tiny": 20, "small": 500}
CHAINS = 20
FIRST = 100


def compute_results(number: str, size: str) -> Iterator[Result]:
    """Yield the examples, then Figures 5 to 9 on the county."""
    county = make_county(people=COUNTY[size])
    space = PolicySpace.of(county.patients, county.population, list(QUASI))
    yield from compute_examples()
    yield from compute_homomorphisms(space)
    yield from compute_searches(space, size)
    yield from compute_heuristic(space, size)
    yield from compare_safe_harbor(space, size)


def compute_examples() -> Iterator[Result]:
    """Yield Figure 1 and the sublattices of Figure 3, which need no data."""
    ages = PolicySpace.of(pa.table({"age": range(1, 11)}), None, ["age"])
    example = ages.policy(np.array([0, 1, 0, 0, 0, 1, 0, 0, 0], bool))
    ours = ", ".join(one.label.replace(" to ", "-") for one in example.intervals["age"])
    yield Result(
        place="Figure 1, Definition 3.2",
        quantity="ages of the bit-string [0, 1, 0, 0, 0, 1, 0, 0, 0]",
        paper="1-2, 3-6, 7-10",
        ours=ours,
        exact=True,
    )
    top, bottom = (np.array(one, bool) for one in ([0, 0, 0, 1], [1, 0, 1, 1]))
    every = (np.arange(16)[:, None] >> np.arange(4)[::-1] & 1).astype(bool)
    within = [p for p in every if (p >= top).all() and (p <= bottom).all()]
    yield Result(
        place="Figure 3",
        quantity="policies in the sublattice",
        paper="4",
        ours=str(len(within)),
        exact=True,
    )
    pruned = PrunedSublattices(4)
    pruned.add(PolicySublattice(top, bottom))
    drawn = pruned.draw(np.random.default_rng(0), np.zeros(4, bool))
    free = drawn is not None and not any(
        (p >= drawn.top).all() and (p <= drawn.bottom).all() for p in within
    )
    yield Result(
        place="Algorithm 3",
        quantity="a drawn sublattice overlaps the pruned one",
        paper="no",
        ours="no" if free else "yes",
        exact=True,
    )


def compute_homomorphisms(space: PolicySpace) -> Iterator[Result]:
    """Yield the violations of Definitions 3.7 and 3.8 on random chains."""
    rng = np.random.default_rng(0)
    wrong = 0
    for _ in range(CHAINS):
        chain = rng.permutation(space.n_bits)[None, :] >= np.arange(space.n_bits + 1)[:, None]
        risk, loss = space.evaluate(chain)
        wrong += int((np.diff(risk) > 1e-9).sum() + (np.diff(loss) < -1e-9).sum())
    yield Result(
        place="Definitions 3.7, 3.8",
        quantity=f"violations on {CHAINS} chains",
        paper="0",
        ours=str(wrong),
        exact=True,
    )


def compute_searches(space: PolicySpace, size: str) -> Iterator[Result]:
    """Yield Figure 5: the areas under the frontier of Algorithms 1 and 2."""
    last = CHAINS * (space.n_bits + 1)
    marks = (FIRST, last)
    found = {
        name: np.mean(
            [areas(space.evaluator, method, marks, seed)[0] for seed in range(SEEDS[size])], axis=0
        )
        for name, method in (("chain", RandomChain()), ("sublattice", SublatticeSearch()))
    }
    for place, mark in enumerate(marks):
        less = 1 - found["sublattice"][place] / found["chain"][place]
        yield Result(
            place="Figure 5",
            quantity=f"less area by Algorithm 2 than by Algorithm 1 after {mark:,} policies",
            paper="28%" if mark == FIRST else "",
            ours=f"{less:.0%}",
        )


def compute_heuristic(space: PolicySpace, size: str) -> Iterator[Result]:
    """Yield Figure 6: Pearson's correlation of H and E."""
    single, bins = measure(space.evaluator, 0, SUBLATTICES[size]).correlations()
    yield Result(
        place="Figure 6, eq. 1",
        quantity="correlation of H and E, single sublattices",
        paper=".864",
        ours=f"{single:.3f}",
    )
    yield Result(
        place="Figure 6", quantity="the same over ten bins of H", paper="", ours=f"{bins:.3f}"
    )


def compare_safe_harbor(space: PolicySpace, size: str) -> Iterator[Result]:
    """Yield Figures 7 to 9: the frontier of Algorithm 2, Safe Harbor, and bisecting."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", SafeHarborWarning)
        rule = safe_harbor(space)
    risk, loss = (float(one[0]) for one in space.evaluate(rule.bits[None]))
    frontier: Frontier = search(
        space, method="sublattice", evaluations=CHAINS * (space.n_bits + 1), random_state=0
    ).frontier
    better = frontier.dominating(risk, loss)
    yield Result(
        place="Section 4", quantity="bits of a policy", paper="739", ours=str(space.n_bits)
    )
    yield Result(
        place="Figure 7", quantity="policies on the frontier", paper="796", ours=str(len(frontier))
    )
    yield Result(
        place="Figure 8",
        quantity="policies that dominate Safe Harbor",
        paper="24",
        ours=str(len(better)),
    )
    if not len(better):
        return
    far = np.hypot(risk - frontier.risk[better], loss - frontier.loss[better]).mean()
    yield Result(
        place="Figure 8", quantity="their mean distance from it", paper=".025", ours=f"{far:.3f}"
    )
    longest = longest_chain(frontier.policies[better])
    yield Result(
        place="Figure 8", quantity="most of them on one chain", paper="23", ours=str(longest)
    )
    points = bisect(space, risk, ALTERNATIVES[size])
    share = beaten(points, frontier.risk[better], frontier.loss[better])
    yield Result(
        place="Figure 8",
        quantity=f"share of bisecting's {points.shape[1]} policies that they dominate",
        paper="98%",
        ours=f"{share:.0%}",
    )
    yield Result(
        place="Figure 9",
        quantity="a policy that dominates Safe Harbor, in intervals",
        paper="Policies A and B",
        ours=describe(space.policy(frontier.policies[better[0]])),
    )


def bisect(space: PolicySpace, risk: float, most: int) -> np.ndarray:
    """Return risk and loss, (2, n), of bisecting's policies of no more risk."""
    rng = np.random.default_rng(0)
    run = TablesSearchRun(
        space.evaluator, evaluations=sys.maxsize, seconds=None, rng=rng, progress=None
    )
    return np.stack(
        space.evaluate(np.stack(list(islice(BisectSearch(risk).alternatives(run), most))))
    )


def describe(policy: Policy) -> str:
    """Return the number of intervals by column."""
    return ", ".join(f"{column} {len(ends)}" for column, ends in policy.intervals.items())
