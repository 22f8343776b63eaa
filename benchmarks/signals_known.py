"""Children of NHANES, to an adversary who knows age and sex: maps given them, and not."""

from __future__ import annotations

import time
import warnings
from dataclasses import dataclass

import numpy as np
import pandas as pd
from benchmarks.data import folder
from benchmarks.tables import save
from joblib import Parallel, delayed
from sklearn.ensemble import HistGradientBoostingClassifier, RandomForestClassifier
from sklearn.metrics import balanced_accuracy_score
from sklearn.model_selection import StratifiedKFold, cross_val_predict, train_test_split
from sklearn.neighbors import KNeighborsClassifier
from sklearn.neural_network import MLPClassifier
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler
from sklearn.svm import SVC

from voile.signals import PrivacyMap, SignalsWarning, mutual_information
from voile.signals.information.conditional import conditional_information

HALVES, FOLDS = 10, 5
MAPS = ("transport", "transport, given age and sex")
COLUMNS = (
    "map",
    "age and sex known",
    "strongest, balanced",
    "same, classes permuted",
    "difference",
    "largest of the halves",
    "bits",
    "decoded wrong",
)


@dataclass(frozen=True)
class Tried:
    best: float  # balanced accuracy of the strongest attacker
    by: str
    permuted: float  # the same where classes are permuted
    bits: float
    wrong: int
    seconds: float


def children() -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Return weight and BMI, weight classes 1 to 4, and age in years with sex."""
    table = pd.read_csv(folder("nhanes-2011-2012") / "nhanes_2011_2012_bmx_demo.csv.gz")
    table = table[table["BMDBMIC"].notna()]
    X, K = table[["BMXWT", "BMXBMI"]].to_numpy(), table[["RIDAGEYR", "RIAGENDR"]].to_numpy()
    return X, table["BMDBMIC"].to_numpy().astype(int), K


def attackers(seed: int) -> dict[str, object]:
    found: dict[str, object] = {
        "neighbours": make_pipeline(StandardScaler(), KNeighborsClassifier(10)),
        "perceptron": make_pipeline(
            StandardScaler(),
            MLPClassifier((32,), max_iter=300, early_stopping=True, random_state=seed),
        ),
    }
    for word, weighing in (("", None), (", weighted", "balanced")):
        found[f"SVM{word}"] = make_pipeline(StandardScaler(), SVC(class_weight=weighing))
        found[f"forest{word}"] = RandomForestClassifier(
            100, min_samples_leaf=10, class_weight=weighing, random_state=seed
        )
        found[f"boosting{word}"] = HistGradientBoostingClassifier(
            learning_rate=0.05,
            max_iter=40,
            max_leaf_nodes=8,
            class_weight=weighing,
            random_state=seed,
        )
    return found


def strongest(F: np.ndarray, c: np.ndarray, seed: int) -> tuple[float, str]:
    folds = StratifiedKFold(FOLDS, shuffle=True, random_state=seed)
    return max(
        (balanced_accuracy_score(c, cross_val_predict(one, F, c, cv=folds)), name)
        for name, one in attackers(seed).items()
    )


def tried(name: str, seed: int) -> dict[bool, Tried]:
    """Fit to one half; let attackers learn and be tried on the other, in folds."""
    warnings.simplefilter("ignore")
    X, c, K = children()
    known, fresh = train_test_split(np.arange(len(c)), test_size=0.5, stratify=c, random_state=seed)
    beside = K if "given" in name else None
    began = time.perf_counter()
    map = PrivacyMap(random_state=seed)
    map.fit(X[known], c[known], known=None if beside is None else beside[known])
    seconds = time.perf_counter() - began
    with_them = None if beside is None else beside[fresh]
    Z = map.encode(X[fresh], c[fresh], known=with_them)
    wrong = int((map.decode(Z, c[fresh], known=with_them) != X[fresh]).sum())
    permuted = np.random.default_rng(seed).permutation(c[fresh])
    found = {}
    for knows in (True, False):
        F = np.concatenate([Z, K[fresh]], axis=1) if knows else Z
        best, by = strongest(F, c[fresh], seed)
        bits = (
            conditional_information(Z, c[fresh], K[fresh], permutations=0).bits
            if knows
            else mutual_information(Z, c[fresh], permutations=0).bits
        )
        nothing = strongest(F, permuted, seed)[0]
        found[knows] = Tried(best, by, nothing, bits, wrong, seconds)
    return found


def alone(seed: int) -> Tried:
    """Let attackers look at age and sex alone: what they find no map can hide."""
    _, c, K = children()
    _, fresh = train_test_split(np.arange(len(c)), test_size=0.5, stratify=c, random_state=seed)
    permuted = np.random.default_rng(seed).permutation(c[fresh])
    best, by = strongest(K[fresh], c[fresh], seed)
    return Tried(best, by, strongest(K[fresh], permuted, seed)[0], 0.0, 0, 0.0)


def row(name: str, knows: bool, runs: list[Tried]) -> tuple[str, ...]:
    best, permuted = (np.array([getattr(one, x) for one in runs]) for x in ("best", "permuted"))
    bits = np.mean([one.bits for one in runs])
    return (
        name,
        "yes" if knows else "no",
        f"{best.mean():.3f} (sd {best.std(ddof=1):.3f})",
        f"{permuted.mean():.3f}",
        f"{(best - permuted).mean():.3f} (se {(best - permuted).std(ddof=1) / HALVES**0.5:.3f})",
        f"{best.max():.3f}, {runs[int(best.argmax())].by}",
        f"{bits:.3f}",
        f"{sum(one.wrong for one in runs):,}",
    )


def main() -> None:
    warnings.simplefilter("ignore", SignalsWarning)
    jobs = [(name, seed) for name in MAPS for seed in range(HALVES)]
    found = Parallel(-1)(delayed(tried)(*job) for job in jobs)
    nothing = Parallel(-1)(delayed(alone)(seed) for seed in range(HALVES))
    rows = [row("nothing is sent", True, nothing)]
    for name in MAPS:
        runs = [one for (map, _), one in zip(jobs, found, strict=True) if map == name]
        rows += [row(name, knows, [one[knows] for one in runs]) for knows in (True, False)]
    seconds = [
        one[True].seconds for (name, _), one in zip(jobs, found, strict=True) if "giv" in name
    ]
    save(
        "signals_known",
        f"Weight and BMI of 3,355 children in four weight classes, {HALVES} random halves,\n"
        "stratified by class. Maps are fitted to one half, and attackers learn from and are\n"
        f"tried on the other in {FOLDS} folds. Lower is better. Chance is .25.",
        COLUMNS,
        rows,
        "*Strongest, balanced*: the raw maximum of the balanced accuracies of several\n"
        "attackers, means over the halves. They are SVM, gradient boosting and forest, with\n"
        "equal and unequal class weights, 10 nearest neighbours and a perceptron of one\n"
        "layer. The same attackers on permuted classes show the size of that maximum\n"
        "without information. *Bits*: Ross's estimate of `I(Z; C)`, and of `I(Z; C | K)`\n"
        "with age and sex known. Without messages, the attackers have only age and sex: no\n"
        "map can hide that difference.\n\n"
        f"Fitting the map given age and sex took {np.median(seconds):.1f} s, the median.",
    )


if __name__ == "__main__":
    main()
