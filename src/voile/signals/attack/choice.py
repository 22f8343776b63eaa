"""Choose an attacker on people with known classes, and infer the classes of other people.

The adversary tries several views of the messages and several learners. The choice uses only people
with known classes. The success on other people is therefore that of the whole procedure.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Mapping
from contextlib import AbstractContextManager
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from voile.signals.model.codec.pieces import Codes, Floats

INNER_FOLDS = 2
OUTER_FOLDS = 4
TREES = ("extra trees",)


@dataclass(frozen=True, eq=False)
class InferredClasses:
    """The chosen attacker's probability of each class, and the attacker's name."""

    chances: Floats  # (n, k)
    by: str


def infer_others(
    views: Mapping[str, Floats],
    c: Codes,
    learned: NDArray[np.bool_],
    seed: int,
    learners: Collection[str] = (),
) -> InferredClasses:
    """Infer the classes of people outside `learned` with the attacker that is best inside it.

    Parameters
    ----------
    views : (n, features) of all people, by name. c : (n,) classes from 0, used only where
        `learned`.
    seed : for folds and learners. learners : names of the learners to try; empty: all.

    Cost: `INNER_FOLDS` fits for each view and learner, and one more.
    """
    own = np.flatnonzero(learned)
    tried = [(view, name) for view in views for name in learners or LEARNERS]
    inner = _folds(c[own], INNER_FOLDS, seed)

    def score(one: tuple[str, str]) -> float:
        return _score(views[one[0]][own], c[own], inner, one[1], seed)

    with limit_threads():
        view, name = max(tried, key=score) if len(tried) > 1 else tried[0]
        model = LEARNERS[name](seed).fit(views[view][own], c[own])
        chances = np.zeros((int((~learned).sum()), int(c.max()) + 1))
        chances[:, model.classes_] = model.predict_proba(views[view][~learned])
    return InferredClasses(chances, f"{name} on {view}")


def infer_each(
    views: Mapping[str, Floats], c: Codes, seed: int, learners: Collection[str] = ()
) -> InferredClasses:
    """Infer each person's class with an attacker chosen on the other folds.

    Parameters as for `infer_others`. The returned name is the most frequent choice.
    """
    chances, names = np.zeros((len(c), int(c.max()) + 1)), []
    fold = _folds(c, OUTER_FOLDS, seed)
    for out in range(OUTER_FOLDS):
        found = infer_others(views, c, fold != out, seed, learners)
        chances[fold == out] = found.chances
        names.append(found.by)
    return InferredClasses(chances, max(names, key=names.count))


def limit_threads() -> AbstractContextManager[Any]:
    """Limit learners to one thread, since threads slow each other down on small data."""
    import sklearn.ensemble  # type: ignore[import-untyped]  # noqa: F401 - loads its threads
    from threadpoolctl import threadpool_limits  # type: ignore[import-untyped]

    limits: AbstractContextManager[Any] = threadpool_limits(1)
    return limits


def measure_auc(scores: Floats, own: NDArray[np.bool_]) -> float:
    """Return the area under the ROC curve. Ties count half."""
    from scipy.stats import rankdata  # importing it takes a second

    ranks = rankdata(scores)
    n, m = int(own.sum()), int((~own).sum())
    return float((ranks[own].sum() - n * (n + 1) / 2) / (n * m))


def measure_aucs(chances: Floats, c: Codes) -> list[float]:
    """Return the AUC of each class against the other classes."""
    return [measure_auc(chances[:, one], c == one) for one in range(chances.shape[1])]


def _score(F: Floats, c: Codes, fold: Codes, name: str, seed: int) -> float:
    chances = np.zeros((len(c), int(c.max()) + 1))
    for out in range(INNER_FOLDS):
        model = LEARNERS[name](seed).fit(F[fold != out], c[fold != out])
        chances[np.ix_(fold == out, model.classes_)] = model.predict_proba(F[fold == out])
    return float(np.mean(measure_aucs(chances, c)))


def _folds(c: Codes, folds: int, seed: int) -> Codes:
    """Assign people to folds, stratified by class."""
    order = np.random.default_rng(seed).permutation(len(c))
    order = order[np.argsort(c[order], kind="stable")]
    fold = np.empty(len(c), dtype=np.intp)
    fold[order] = np.arange(len(c)) % folds
    return fold


def _boosting(seed: int) -> Any:
    from sklearn.ensemble import HistGradientBoostingClassifier

    return HistGradientBoostingClassifier(
        learning_rate=0.08, max_iter=40, max_leaf_nodes=8, random_state=seed
    )


def _trees(seed: int) -> Any:
    from sklearn.ensemble import ExtraTreesClassifier

    return ExtraTreesClassifier(60, min_samples_leaf=4, max_features=0.3, random_state=seed)


def _logistic(seed: int) -> Any:
    from sklearn.linear_model import LogisticRegression  # type: ignore[import-untyped]
    from sklearn.pipeline import make_pipeline  # type: ignore[import-untyped]
    from sklearn.preprocessing import StandardScaler  # type: ignore[import-untyped]

    return make_pipeline(StandardScaler(), LogisticRegression(C=0.1, max_iter=200))


LEARNERS: Mapping[str, Callable[[int], Any]] = {
    "logistic regression": _logistic,
    "extra trees": _trees,
    "gradient boosting": _boosting,
}
