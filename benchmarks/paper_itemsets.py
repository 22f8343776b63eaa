"""Zhang et al. 2017 at a small size: Table 1 exactly, and the methods on scikit-learn's digits."""

from __future__ import annotations

import itertools
import warnings
from collections.abc import Iterator

import numpy as np
from benchmarks.itemsets_adult import SELECTORS, auc
from benchmarks.itemsets_paper import KS, METHODS, PRINTED
from benchmarks.paper_results import Result
from numpy.typing import NDArray
from scipy import sparse
from sklearn.datasets import load_digits

from voile.itemsets import (
    Constraint,
    ExponentialRelease,
    Incidence,
    LaplaceRelease,
    RandomFlipping,
    anonymity,
    distcnt,
    hamdist,
    row_anonymity,
    select,
)
from voile.itemsets.selector import ContainmentSelector, ItemsetsWarning

TABLE_1 = np.array(
    [
        [1, 0, 1, 0, 1],
        [1, 0, 1, 0, 1],
        [1, 0, 0, 1, 1],
        [1, 0, 1, 0, 1],
        [1, 1, 1, 0, 1],
        [1, 1, 0, 1, 1],
    ]
)
CLASSES = np.array([1, 0, 1, 1, 0, 0])
ROWS = {"tiny": 300, "small": 1_797}
INK = 8
"""The digits' pixels run from 0 to 16; a feature says that one is darker than half."""
RUNS = {"tiny": 1, "small": 10}
EPSILONS = (0.5, 1.0, 1.5, 2.0)
FEATURES = 8
RELEASES = {"Laplace-DP": LaplaceRelease, "Exponential-DP": ExponentialRelease}


def compute_results(number: str, size: str) -> Iterator[Result]:
    """Yield Table 1's figures, then Tables 3 to 6 and Figure 1 on the digits."""
    warnings.simplefilter("ignore", ItemsetsWarning)
    yield from compute_table_1()
    X, y = read_digits(ROWS[size])
    yield Result(
        place="Table 3",
        quantity="entities, features, density",
        paper="148, 552, 9.7% (Entity)",
        ours=f"{X.shape[0]}, {X.shape[1]}, {X.mean():.1%}",
    )
    for k in KS if size == "small" else KS[:1]:
        yield from compare_methods(X, y, k, RUNS[size])
    yield from compare_private(X, y, size)


def read_digits(rows: int) -> tuple[NDArray[np.int8], NDArray[np.bool_]]:
    """Return pixels as 0 and 1, (rows, 64), and whether the digit is odd."""
    digits = load_digits()
    return (digits.data[:rows] > INK).astype(np.int8), digits.target[:rows] % 2 == 1


def compute_table_1() -> Iterator[Result]:
    """Yield the examples of Sections 3 and 4, each on the paper's own six rows."""
    rows = Incidence.of(TABLE_1)
    names = {"x1x2x5": [0, 1, 4], "x3x4x5": [2, 3, 4], "x2x3": [1, 2]}
    own = {name: TABLE_1[:, features] for name, features in names.items()}
    exact = [
        ("Definition 4", "AC of e_1 in Table 1", "4", f"{row_anonymity(rows)[0]}"),
        (
            "Definition 6",
            "AC of the projection on x1x2x5",
            "2",
            f"{anonymity(rows, names['x1x2x5'])}",
        ),
        ("Section 3", "AC of the projection on x2x3", "1", f"{anonymity(rows, names['x2x3'])}"),
        (
            "Definition 8",
            "HamDist(x1x2x5), in ninths",
            "6",
            f"{hamdist(own['x1x2x5'], CLASSES) * 9:.0f}",
        ),
        (
            "Definition 8",
            "HamDist(x3x4x5), in ninths",
            "8",
            f"{hamdist(own['x3x4x5'], CLASSES) * 9:.0f}",
        ),
        (
            "Definition 9",
            "DistCnt(x1x2x5), in ninths",
            "",
            f"{distcnt(own['x1x2x5'], CLASSES) * 9:.0f}",
        ),
    ]
    for place, quantity, paper, ours in exact:
        yield Result(place=place, quantity=quantity, paper=paper, ours=ours, exact=bool(paper))
    every = [s for n in range(1, 6) for s in itertools.combinations(range(5), n)]
    frequent = sum(TABLE_1[:, s].all(axis=1).sum() >= 2 for s in every)
    feasible = sum(anonymity(rows, s) >= 2 for s in every)
    yield Result(
        place="Lemma 3",
        quantity="itemsets of support 2",
        paper="15",
        ours=str(frequent),
        exact=True,
    )
    yield Result(
        place="Lemma 3",
        quantity="feature sets with AC of 2 or more (the lemma says 15)",
        paper="15",
        ours=str(feasible),
    )
    best = select(rows, CLASSES, constraint=Constraint(2), method="exact", utility="hamdist")
    greedy = select(rows, CLASSES, constraint=Constraint(2), method="maximal", utility="hamdist")
    yield Result(
        place="Algorithm 1",
        quantity="HamDist of Maximal's set, in ninths",
        paper="6",
        ours=f"{greedy.utility * 9:.0f}",
        exact=True,
    )
    yield Result(
        place="Section 4",
        quantity="HamDist of the best set, in ninths",
        paper="6",
        ours=f"{best.utility * 9:.0f}",
    )


def compare_methods(
    X: NDArray[np.int8], y: NDArray[np.bool_], k: int, runs: int
) -> Iterator[Result]:
    """Yield the AUC of each method of Tables 4 to 6; the paper's columns are of other data."""
    printed = [table.strip().splitlines() for table in PRINTED.values()]
    for line, name in enumerate(METHODS):
        cells = (table[line].split(" | ")[KS.index(k)] for table in printed)
        yield Result(
            place="Tables 4, 5, 6",
            quantity=f"AUC of {name}, k = {k}",
            paper="; ".join(cells),
            ours=measure_flipping(X, y, k, runs)
            if name == "random flipping"
            else measure(X, y, k, name),
        )
    yield Result(
        place="Tables 4, 5, 6",
        quantity="AUC of all features",
        paper="; ".join(table[-1] for table in printed),
        ours=f"{auc(X, y):.3f} ({X.shape[1]})",
    )


def measure(X: NDArray[np.int8], y: NDArray[np.bool_], k: int, name: str) -> str:
    """Return AUC and number of features of one selector."""
    method, utility = SELECTORS[name]
    selector = ContainmentSelector(k=k, method=method, utility=utility, random_state=0)
    kept = selector.fit(sparse.csr_array(X), y).get_support(indices=True)
    return f"{auc(X[:, kept], y):.3f} ({len(kept)})"


def measure_flipping(X: NDArray[np.int8], y: NDArray[np.bool_], k: int, runs: int) -> str:
    """Return AUC and share of flipped cells of random flipping."""
    flipping, areas = RandomFlipping(k=k), []
    for seed in range(runs):
        areas.append(auc(flipping.fit_transform(X), y, seed))
    return f"{np.mean(areas):.3f} ({flipping.flipped_:.2%})"


def compare_private(X: NDArray[np.int8], y: NDArray[np.bool_], size: str) -> Iterator[Result]:
    """Yield Figure 1: AUC of a classifier trained on each private release."""
    from benchmarks.itemsets_private import learnt_from

    matrix = sparse.csr_array(X)
    for epsilon in EPSILONS:
        for name, release in RELEASES.items():
            tried = learnt_from(matrix, y)
            areas = [tried(release(epsilon, FEATURES), seed) for seed in range(min(RUNS[size], 3))]
            yield Result(
                place="Figure 1",
                quantity=f"AUC of {name}, epsilon {epsilon:g}",
                paper="0.51 (Entity)" if epsilon == 1 else "a bar without a number",
                ours=f"{np.mean(areas):.3f}",
            )
