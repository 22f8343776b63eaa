"""Names of one person or of several: the paper's Table 4, on a made-up bibliography.

The task of 5.1: a row is a name, a column a keyword of the papers under it, and the label says
whether the name is one person or several. No bibliography with known authors is at hand, so names
are drawn here, of the published shape: 148 names, half of each kind, by 552 keywords, 9.7% ones.
"""

from __future__ import annotations

import warnings
from collections.abc import Callable
from functools import cache

import numpy as np
from benchmarks.itemsets_adult import DEFAULT, JOINT, SELECTORS, auc
from benchmarks.itemsets_paper import KS, print_beside
from benchmarks.tables import save
from sklearn.decomposition import LatentDirichletAllocation
from sklearn.metrics import roc_auc_score

from voile.itemsets import Constraint, RandomFlipping, exposure, select
from voile.itemsets.selector import ContainmentSelector, ItemsetsWarning

NAMES, KEYWORDS, DENSITY = 148, 552, 0.097
FIELDS, GENERAL = 20, 0.1  # fields of research; the share of keywords that any field uses
SPREAD = 0.6  # of how many keywords a person has, as the logarithm's standard deviation
PEOPLE = (2, 3)  # behind a name of several
NEAR, FAR = 12.0, 0.1  # how much likelier keywords of her own fields, and of others, are
TOPICS = 20
RUNS = 3
SEEDS = range(3)
COLUMNS = (
    "method",
    "k",
    "AUC, topic entropy",
    "AUC, SVM",
    "keywords",
    "cells flipped",
    "unique names",
    "empty names",
)


@cache
def names(seed: int = 0) -> tuple[np.ndarray, np.ndarray]:
    """Draw names by keywords, and which are of several people.

    A person works in a field and its neighbour on a circle. Her keywords are from those, the
    popular ones likelier (Zipf-like), and from general ones that every field uses. A name of
    several people has the keywords of all of them, from fields drawn apart.
    """
    rng = np.random.default_rng(seed)
    several = np.arange(NAMES) % 2 == 1
    people = np.where(several, rng.integers(PEOPLE[0], PEOPLE[1] + 1, NAMES), 1)
    field = np.where(rng.random(KEYWORDS) < GENERAL, -1, rng.integers(0, FIELDS, KEYWORDS))
    popular = 1 / (1 + rng.permutation(KEYWORDS)) ** 0.6
    busy = np.exp(SPREAD * rng.standard_normal((NAMES, max(people))))
    own = rng.integers(0, FIELDS, (NAMES, max(people)))
    chance = rng.random((NAMES, max(people), KEYWORDS))
    low, high = 0.0, 100.0
    while high - low > 1e-6:  # scaled to the density
        scale = (low + high) / 2
        near = (field[None, None] - own[:, :, None]) % FIELDS <= 1
        fits = np.where(field < 0, 0.5, np.where(near, NEAR, FAR))
        rate = scale * busy[:, :, None] * popular * fits
        held = chance < np.minimum(rate, 0.9)
        held &= (np.arange(max(people)) < people[:, None])[:, :, None]
        X = held.any(axis=1)
        low, high = (low, scale) if X.mean() > DENSITY else (scale, high)
    return X.astype(np.int8), several


def entropy_auc(X: np.ndarray, several: np.ndarray) -> float:
    """Return how well the entropy of a name's topics tells names of several people (eq. 5).

    E(u) = - sum over topics T of P(u|T) log P(u|T), by latent Dirichlet allocation of the
    keywords published; the mean over random starts.
    """
    return float(np.mean([roc_auc_score(several, entropy(X, seed)) for seed in range(RUNS)]))


def entropy(X: np.ndarray, seed: int) -> np.ndarray:
    """Return the entropy of the topics of each name's own keywords; 0 where it has none left.

    The prior is taken out again: it alone would make names of few keywords look like several.
    """
    share = LatentDirichletAllocation(TOPICS, random_state=seed).fit_transform(X)
    sizes = X.sum(axis=1, keepdims=True)
    own = np.maximum(share * (sizes + 1) - 1 / TOPICS, 0)  # a prior of 1 / TOPICS for each
    own /= np.maximum(own.sum(axis=1, keepdims=True), 1e-9)
    return -(own * np.log(np.where(own > 0, own, 1))).sum(axis=1)


def chosen(name: str, k: int, X: np.ndarray, several: np.ndarray) -> np.ndarray:
    """Return the columns that a method publishes."""
    if name in JOINT:
        how = {"constraint": Constraint(k), "method": "joint", "unique": JOINT[name]}
        return X[:, select(X, several, **how).features]
    method, utility = SELECTORS[name]
    return ContainmentSelector(k, None, method, utility, random_state=0).fit_transform(X, several)


def row(name: str, k: str, released: Callable[[np.ndarray, np.ndarray], tuple]) -> tuple[str, ...]:
    """Return means (standard deviations) over made-up bibliographies."""
    found = []
    for seed in SEEDS:
        X, several = names(seed)
        shown, flipped = released(X, several)
        told = exposure(shown)
        shares = told.unique_rows / told.rows, told.empty_rows / told.rows
        areas = entropy_auc(shown, several), auc(shown, several, seed)
        found.append((*areas, told.features, flipped, *shares))
    mean, spread = np.mean(found, axis=0), np.std(found, axis=0)
    areas = [f"{m:.3f} ({s:.3f})" for m, s in zip(mean[:2], spread[:2], strict=True)]
    flips = f"{mean[3]:.1%}" if mean[3] else "-"
    return (name, k, *areas, f"{mean[2]:.0f}", flips, f"{mean[4]:.1%}", f"{mean[5]:.1%}")


def flipped(k: int) -> Callable[[np.ndarray, np.ndarray], tuple]:
    def release(X: np.ndarray, several: np.ndarray) -> tuple:
        flipping = RandomFlipping(k)
        return flipping.fit_transform(X).toarray(), flipping.flipped_

    return release


def main() -> None:
    warnings.simplefilter("ignore", ItemsetsWarning)
    rows = [row("all 552 keywords", "-", lambda X, y: (X, 0.0))]
    for name in (*SELECTORS, *JOINT):
        for k in KS:
            rows.append(
                row(name, str(k), lambda X, y, name=name, k=k: (chosen(name, k, X, y), 0.0))
            )
    rows += [row("random flipping", str(k), flipped(k)) for k in KS]
    found: dict[str, list[str]] = {}
    for name, k, area, _, keywords, flips, *_ in rows:
        if k != "-":
            taken = keywords if flips == "-" else flips
            found.setdefault(name, []).append(f"{area.split()[0]} ({taken})")
    whole = f"{rows[0][2].split()[0]} ({KEYWORDS})"
    printed = print_beside("Table 4", whole, found, [DEFAULT, *JOINT])
    counts = [roc_auc_score(y, X.sum(axis=1)) for X, y in map(names, SEEDS)]
    save(
        "itemsets_names",
        f"{NAMES} names, half of several people, by {KEYWORDS} keywords of their papers; made up.\n"
        f"AUC of the entropy of {TOPICS} topics (mean of {RUNS} starts) and of a linear SVM in 5\n"
        f"folds, chance .5; means (standard deviations) of {len(SEEDS)} made-up bibliographies.",
        COLUMNS,
        rows,
        f"{printed}\n\n{NOTES.format(counts=np.mean(counts))}",
    )


NOTES = """\
The paper's bibliography of names was not found, so only the shape is the paper's: compare the
order of methods, not the figures. The second table has topic entropy, as the paper does. A
name's number of keywords alone separates the kinds as well: AUC {counts:.3f}. The paper
predefines the number of topics, without its value. *Joint information*, *unique* and *empty*:
as for [Adult](#adult)."""


if __name__ == "__main__":
    main()
