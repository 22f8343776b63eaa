"""What an imperfect map reveals to an adversary with beliefs p(c | s) of her own.

The paper's learner takes p(c | s) = p(c), and leaves open how much privacy that costs where a map
is imperfect (Section 5).
"""

from __future__ import annotations

import warnings
from collections.abc import Iterator

import numpy as np
from benchmarks.signals_data import SHARES, generator
from benchmarks.tables import save
from sklearn.ensemble import HistGradientBoostingClassifier
from sklearn.linear_model import LogisticRegression
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import PolynomialFeatures, StandardScaler

from voile.signals import PrivacyMap, SignalsWarning, Subjects
from voile.signals.paper.affine import LearnedAffine

N, FRESH, SEEDS = 1_371, 10_000, 3
SURE = (0.0, 0.3, 0.6, 0.9)  # how likely a hint is the class itself; otherwise drawn from p(c)
MAPS = {
    "none": None,
    "affine, CMA-ES (histogram)": LearnedAffine(optimiser="cma", evaluations=3_000),
    "affine, CMA-ES (mixture)": LearnedAffine("mixture", "cma", evaluations=2_000),
    "whitening": "normal",
    "transport": "transport",
}


def beliefs(c: np.ndarray, sure: float, seed: int) -> np.ndarray:
    """Draw a hint at each subject's class, and return p(c | s), (n, 4), given the hint."""
    rng = np.random.default_rng(seed)
    hint = np.where(rng.random(len(c)) < sure, c - 1, rng.choice(4, len(c), p=SHARES))
    return (1 - sure) * SHARES + sure * np.eye(4)[hint]


def ratios_of(Z: np.ndarray, c: np.ndarray, degree: int = 3) -> list[np.ndarray]:
    """Return p(c | z) / p(c) of the second half, as two attackers learn it from the first."""
    half = len(c) // 2
    attackers = (
        make_pipeline(
            StandardScaler(),
            PolynomialFeatures(degree, include_bias=False),
            StandardScaler(),
            LogisticRegression(max_iter=1000),
        ),
        HistGradientBoostingClassifier(learning_rate=0.05, max_iter=60, max_leaf_nodes=15),
    )
    shares = np.bincount(c[:half] - 1) / half
    return [one.fit(Z[:half], c[:half]).predict_proba(Z[half:]) / shares for one in attackers]


def gained(ratios: list[np.ndarray], prior: np.ndarray, c: np.ndarray) -> float:
    """Return the bits by which messages lower the log-loss of beliefs, for the better attacker."""
    rows, right = np.arange(len(c)), c - 1
    best = np.inf
    for ratio in ratios:
        chances = prior * ratio + 1e-4
        chances /= chances.sum(axis=1, keepdims=True)
        best = min(best, -np.log2(chances[rows, right]).mean())
    return float(-np.log2(prior[rows, right]).mean() - best)


def attacked(method: object, sure: float, seed: int) -> list[np.ndarray]:
    """Fit a map with the beliefs of so likely hints, and attack its messages."""
    X, c = generator(N, 100 + seed)
    fresh, d = generator(2 * FRESH, 200 + seed)
    if method is None:
        return ratios_of(fresh, d)
    subjects = Subjects(np.arange(N), beliefs=beliefs(c, sure, 300 + seed)) if sure else None
    map = PrivacyMap(method, resolution=0.1, random_state=seed).fit(X, c, subjects)
    return ratios_of(map.encode(fresh, d), d)


def revealed(found: list[list[np.ndarray]], sure: float) -> str:
    """Return the bits revealed to an adversary with so likely hints, the mean over seeds."""
    each = []
    for seed, ratios in enumerate(found):
        d = generator(2 * FRESH, 200 + seed)[1][FRESH:]
        each.append(gained(ratios, beliefs(d, sure, 400 + seed), d))
    return f"{np.mean(each):.3f}"


def unknown(sure: float) -> str:
    """Return the bits of the class that hints leave unknown."""
    c = generator(2 * FRESH, 200)[1]
    return f"{-np.log2(beliefs(c, sure, 400)[np.arange(len(c)), c - 1]).mean():.2f}"


def rows() -> Iterator[tuple[str, ...]]:
    for name, method in MAPS.items():
        seeds = range(SEEDS if method is not None else 1)
        plain = [attacked(method, 0.0, seed) for seed in seeds]
        for sure in SURE:
            with_it = "-"
            if sure and isinstance(method, LearnedAffine):
                with_it = revealed([attacked(method, sure, seed) for seed in seeds], sure)
            yield name, f"{sure:.1f}", unknown(sure), revealed(plain, sure), with_it


def main() -> None:
    warnings.simplefilter("ignore", SignalsWarning)
    save(
        "signals_beliefs",
        "Bits of the class that one message reveals to an adversary with a hint about each\n"
        "subject. The hint is the class itself with the shown probability, otherwise a draw\n"
        f"from p(c). Maps are fitted to {N:,} made-up children in two ways. The paper's way\n"
        "assumes that the adversary believes p(c) of all. The other uses her actual beliefs\n"
        "p(c | s). Whitening and transport do not depend on beliefs. The better of two attackers,\n"
        f"who learn from {FRESH:,} fresh readings and are tried on as many others, means of\n"
        f"{SEEDS} seeds.",
        (
            "map",
            "hint is the class",
            "unknown before",
            "fitted with p(c)",
            "fitted with p(c \\| s)",
        ),
        list(rows()),
    )


if __name__ == "__main__":
    main()
