"""Small random tables with everything computed naively, and the paper's worked example."""

from __future__ import annotations

import itertools
from dataclasses import dataclass

import numpy as np
import pytest

from voile.itemsets.rows.incidence import Incidence


@dataclass(frozen=True)
class Table:
    """A small matrix, whose rows are whose, labels; and every number from its definition."""

    X: np.ndarray
    subjects: np.ndarray | None
    y: np.ndarray

    @property
    def incidence(self):
        return Incidence.of(self.X, subjects=self.subjects)

    @property
    def whose(self):
        return np.arange(len(self.X)) if self.subjects is None else self.subjects

    @property
    def n_subjects(self):
        return len(set(self.whose.tolist()))

    def matching(self, features, present):
        """Subjects with a row that has, or has not, each feature."""
        rows = zip(self.X.tolist(), self.whose.tolist(), strict=True)
        wanted = list(zip(features, present, strict=True))
        return {who for row, who in rows if all(row[x] == sign for x, sign in wanted)}

    def support(self, features):
        return len(self.matching(features, [1] * len(features)))

    def row_anonymity(self, features):
        return [self.support([x for x in features if row[x]]) for row in self.X.tolist()]

    def row_exact(self, features):
        return [len(self.matching(features, [row[x] for x in features])) for row in self.X.tolist()]

    def parts(self, features, m, absences):
        """Every itemset of at most m features that occurs, with its support."""
        for size in range(min(m, len(features)) + 1):
            for some in itertools.combinations(features, size):
                for signs in itertools.product([0, 1], repeat=size) if absences else [[1] * size]:
                    support = len(self.matching(some, signs))
                    if support:
                        yield some, signs, support

    def feasible(self, features, k, m=None, absences=False):
        most = len(features) if m is None else m
        return all(support >= k for _, _, support in self.parts(features, most, absences))

    def feasible_sets(self, k, m=None, absences=False):
        """Every feasible set of features that occur."""
        occur = [x for x in range(self.X.shape[1]) if self.X[:, x].any()]
        sizes = range(len(occur) + 1)
        every = itertools.chain.from_iterable(itertools.combinations(occur, n) for n in sizes)
        return [some for some in every if self.feasible(some, k, m, absences)]

    def unlike(self):
        """Pairs of rows with unlike labels."""
        pairs = itertools.combinations(range(len(self.X)), 2)
        return [(a, b) for a, b in pairs if self.y[a] != self.y[b]]

    def hamdist(self, features):
        differ = [sum(self.X[a, x] != self.X[b, x] for x in features) for a, b in self.unlike()]
        return sum(differ) / len(differ)

    def distcnt(self, features):
        apart = [any(self.X[a, x] != self.X[b, x] for x in features) for a, b in self.unlike()]
        return sum(apart) / len(apart)

    def cm(self, features):
        wrong = 0
        for key in {tuple(row[list(features)]) for row in self.X}:
            labels = [
                label
                for row, label in zip(self.X, self.y, strict=True)
                if tuple(row[list(features)]) == key
            ]
            wrong += len(labels) - max(labels.count(label) for label in labels)
        return wrong / len(self.X)


def made(seed, rows=14, features=6):
    rng = np.random.default_rng(seed)
    shape = rng.integers(2, rows + 1), rng.integers(1, features + 1)
    X = (rng.random(shape) < rng.choice([0.15, 0.4, 0.7, 0.95])).astype(np.int8)
    if rng.random() < 0.3:  # equal rows, equal columns
        X = X[rng.integers(0, len(X), len(X))]
        X = X[:, rng.integers(0, X.shape[1], X.shape[1])]
    y = rng.integers(0, rng.integers(2, 4), len(X))
    y[:2] = [0, 1]
    subjects = rng.integers(0, len(X) // 2 + 1, len(X)) if rng.random() < 0.5 else None
    return Table(X, subjects, y)


@pytest.fixture(scope="session")
def table():
    """Make a table from a seed."""
    return made


@pytest.fixture(scope="session")
def table_1():
    """The paper's Table 1, as its published figures for k = 2 pin it down.

    15 frequent itemsets; 19 feasible sets, of which {x1, x2, x5} and {x1, x3, x4, x5} are
    maximal; the best HamDist is 8/9, and 6/9 over frequent sets.
    """
    X = [
        [1, 1, 1, 0, 1],
        [1, 1, 0, 1, 1],
        [1, 0, 0, 0, 1],
        [1, 0, 1, 0, 1],
        [1, 0, 0, 1, 1],
        [1, 0, 0, 0, 1],
    ]
    return Table(np.array(X), None, np.array([1, 1, 1, 0, 0, 0]))
