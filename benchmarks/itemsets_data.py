"""Seeded sparse 0/1 matrices with a class label, of the shapes the itemsets wing is measured on.

Column supports fall like a power of the column's rank (Zipf-like), scaled to the density asked
for. A share of the columns is tilted towards one class: there, her rows are likelier to hold it.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from scipy import sparse

TILT = 3.0  # how much likelier a tilted column is in its class than in the other
MOST = 0.9  # no column is held by a larger share of the rows


@dataclass(frozen=True)
class Shape:
    """What to make: rows of each class, features, the density, the share of tilted columns."""

    classes: tuple[int, ...]
    features: int
    density: float
    tilted: float
    exponent: float = 1.0


ENTITY = Shape(classes=(74, 74), features=552, density=0.097, tilted=0.10, exponent=0.6)
EMAIL = Shape(classes=(618, 481), features=24_604, density=0.0093, tilted=0.02)
LARGE_ROWS, LARGE_FEATURES, LARGE_ONES = 1_000_000, 100_000, 20


def made(shape: Shape, seed: int = 0) -> tuple[sparse.csr_array, np.ndarray]:
    """Draw a matrix and its labels: every cell for itself, each column at its class's rate."""
    rng = np.random.default_rng(seed)
    rate = (1.0 + np.arange(shape.features)) ** -shape.exponent
    rates = np.minimum(scaled(rate, shape.density), MOST)
    rng.shuffle(rates)
    labels = np.repeat(np.arange(len(shape.classes)), shape.classes)
    tilted = rng.random(shape.features) < shape.tilted
    towards = rng.integers(0, len(shape.classes), shape.features)
    blocks = []
    for label, rows in enumerate(shape.classes):
        factor = np.where(tilted, np.where(towards == label, TILT, 1 / TILT), 1.0)
        at = np.minimum(rates * factor, MOST)
        counts = rng.binomial(rows, at)
        columns = np.repeat(np.arange(shape.features), counts)
        held = np.concatenate([rng.permutation(rows)[:count] for count in counts])
        ones = np.ones(len(held), dtype=np.int8)
        blocks.append(sparse.csr_array((ones, (held, columns)), shape=(rows, shape.features)))
    order = rng.permutation(len(labels))
    return sparse.vstack(blocks, format="csr")[order], labels[order]


def scaled(rate: np.ndarray, density: float) -> np.ndarray:
    """Scale the rates so that, none above the most there may be, their mean is the density."""
    factor = density / rate.mean()
    for _ in range(50):
        factor *= density / np.minimum(rate * factor, MOST).mean()
    return rate * factor


def large(rows: int = LARGE_ROWS, seed: int = 0) -> tuple[sparse.csr_array, np.ndarray]:
    """Draw rows of twenty items each, an item twice counting once; two classes tilt 2% of them."""
    rng = np.random.default_rng(seed)
    rate = 1.0 / (1.0 + np.arange(LARGE_FEATURES))
    tilted = np.where(rng.random(LARGE_FEATURES) < 0.02, TILT, 1.0)
    labels = rng.integers(0, 2, rows).astype(np.int8)
    drawn = np.empty((rows, LARGE_ONES), dtype=np.int32)
    for label, factor in enumerate((tilted, 1 / tilted)):
        of = np.flatnonzero(labels == label)
        ends = np.cumsum(rate * factor)
        places = rng.random((len(of), LARGE_ONES), dtype=np.float32) * np.float32(ends[-1])
        found = np.searchsorted(ends, places.ravel()).reshape(places.shape)
        drawn[of] = np.minimum(found, LARGE_FEATURES - 1)
    drawn.sort(axis=1)
    kept = np.ones(drawn.shape, dtype=np.bool_)
    kept[:, 1:] = drawn[:, 1:] != drawn[:, :-1]
    starts = np.concatenate([[0], np.cumsum(kept.sum(axis=1))])
    ones = np.ones(starts[-1], dtype=np.int8)
    shape = (rows, LARGE_FEATURES)
    return sparse.csr_array((ones, drawn[kept], starts), shape=shape), labels


if __name__ == "__main__":
    for name, (matrix, labels) in {
        "entity": made(ENTITY),
        "e-mail": made(EMAIL),
        "large": large(),
    }.items():
        density = matrix.nnz / (matrix.shape[0] * matrix.shape[1])
        supports = np.sort(np.bincount(matrix.indices, minlength=matrix.shape[1]))
        print(
            f"{name}: {matrix.shape[0]:,} x {matrix.shape[1]:,}, {matrix.nnz:,} ones"
            f" ({density:.3%}), classes {np.bincount(labels).tolist()}, supports"
            f" {supports[-1]:,} to {supports[0]:,}, median {supports[len(supports) // 2]:,}"
        )
