"""What maps of NHANES still reveal by how many children they were fitted to."""

from __future__ import annotations

import warnings

import numpy as np
from benchmarks.signals_known import FOLDS, attackers, children
from benchmarks.tables import save
from sklearn.metrics import balanced_accuracy_score
from sklearn.model_selection import StratifiedKFold, cross_val_predict, train_test_split

from voile.signals import PrivacyMap, SignalsWarning, mutual_information
from voile.signals.information.conditional import conditional_information

SPLITS = 16
SIZES = (559, 839, 1_677, 2_516)  # all but a quarter of the children, at most


def found_by(F: np.ndarray, c: np.ndarray, seed: int) -> float:
    folds = StratifiedKFold(FOLDS, shuffle=True, random_state=seed)
    guessed = cross_val_predict(attackers(seed)["SVM, weighted"], F, c, cv=folds)
    return float(balanced_accuracy_score(c, guessed))


def tried(n: int, seed: int, *, known: bool) -> tuple[float, ...]:
    """Fit to n children; measure what messages of a quarter of all reveal, whom it never saw."""
    X, c, K = children()
    rest, fresh = train_test_split(np.arange(len(c)), test_size=0.25, stratify=c, random_state=seed)
    if n < len(rest):
        rest = train_test_split(rest, train_size=n, stratify=c[rest], random_state=seed)[0]
    beside, d = (K if known else None), c[fresh]
    map = PrivacyMap(base="normal", random_state=seed)
    map.fit(X[rest], c[rest], known=beside if beside is None else beside[rest])
    Z = map.encode(X[fresh], d, known=beside if beside is None else beside[fresh])
    return (
        mutual_information(Z, d, permutations=0).bits,
        conditional_information(Z, d, K[fresh], permutations=0).bits,
        found_by(Z, d, seed),
        found_by(np.concatenate([Z, K[fresh]], axis=1), d, seed),
    )


def row(n: int, *, known: bool) -> tuple[str, ...]:
    runs = np.array([tried(n, seed, known=known) for seed in range(SPLITS)])
    error = runs.std(axis=0) / SPLITS**0.5
    figures = (f"{a:.3f} (se {b:.3f})" for a, b in zip(runs.mean(axis=0), error, strict=True))
    return (f"{n:,}", "transport" + ", given age and sex" * known, *figures)


def main() -> None:
    warnings.simplefilter("ignore", SignalsWarning)
    save(
        "signals_learning",
        "Weight and BMI of children of NHANES in four weight classes. The table shows the\n"
        "number of children in the fit, and the leak of one message of each of 839 others.\n"
        f"There are {SPLITS} random draws. Lower is better.",
        ("fitted to", "map", "bits", "bits, K known", "SVM, balanced", "SVM, K known"),
        [row(n, known=known) for known in (False, True) for n in SIZES],
        "K: age and sex. *Bits*: Ross's estimates of `I(Z; C)` and `I(Z; C | K)`. *SVM*:\n"
        "the balanced accuracy of a weighted SVM in 5 folds. Chance is .25.",
    )


if __name__ == "__main__":
    main()
