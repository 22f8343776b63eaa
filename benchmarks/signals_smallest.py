"""Underweight children of NHANES, the smallest class: what one message of a child reveals."""

from __future__ import annotations

import warnings

import numpy as np
from benchmarks.signals_known import HALVES, attackers, children
from benchmarks.tables import save
from joblib import Parallel, delayed
from sklearn.metrics import roc_auc_score
from sklearn.model_selection import StratifiedKFold, cross_val_predict, train_test_split

from voile.signals import PrivacyMap

SMALLEST, TOP = 1, 0.05  # the class, and the share of messages that look most like it
MAPS = ("none", "transport", "transport, given age and sex")
BY = ("SVM, weighted", "forest, weighted", "boosting, weighted")


def tried(name: str, seed: int) -> tuple[float, float]:
    """Return the AUC of the best attacker, and how many of its top messages are of the class."""
    warnings.simplefilter("ignore")
    X, c, K = children()
    known, fresh = train_test_split(np.arange(len(c)), test_size=0.5, stratify=c, random_state=seed)
    Z = X[fresh]
    if name != "none":
        beside = {True: K, False: None}["given" in name]
        map = PrivacyMap(random_state=seed)
        map.fit(X[known], c[known], known=None if beside is None else beside[known])
        Z = map.encode(Z, c[fresh], known=None if beside is None else beside[fresh])
    F, own = np.concatenate([Z, K[fresh]], axis=1), c[fresh] == SMALLEST
    folds = StratifiedKFold(5, shuffle=True, random_state=seed)
    found = []
    for by in BY:
        how = "decision_function" if "SVM" in by else "predict_proba"
        scores = cross_val_predict(attackers(seed)[by], F, own, cv=folds, method=how)
        scores = scores if scores.ndim == 1 else scores[:, 1]
        top = np.argsort(-scores)[: round(TOP * len(own))]
        found.append((roc_auc_score(own, scores), own[top].mean()))
    return max(found)


def shown(values: np.ndarray, digits: int) -> str:
    return f"{values.mean():.{digits}f} (sd {values.std(ddof=1):.{digits}f})"


def main() -> None:
    jobs = [(name, seed) for name in MAPS for seed in range(HALVES)]
    found = dict(zip(jobs, Parallel(-1)(delayed(tried)(*job) for job in jobs), strict=True))
    share = (children()[1] == SMALLEST).mean()
    rows = []
    for name in MAPS:
        runs = np.array([found[name, seed] for seed in range(HALVES)])
        rows.append((name, shown(runs[:, 0], 2), shown(100 * runs[:, 1], 1) + "%"))
    save(
        "signals_smallest",
        f"One message of each child, {HALVES} random halves. Maps are fitted to one half.\n"
        "Attackers with age and sex learn from the other half and are tried on it in 5\n"
        f"folds. They distinguish the smallest class ({share:.1%}, 63 children a half) from\n"
        "all others. The best of SVM, forest and boosting, with equal class weights, means\n"
        "over the halves.",
        ("map", "AUC", f"of the class among the {TOP:.0%} of messages most like it"),
        rows,
    )


if __name__ == "__main__":
    main()
