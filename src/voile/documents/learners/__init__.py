"""Learners of tokens, by their names."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from functools import partial

from voile.core.errors import RequestError, nearest
from voile.documents.learners.adaboost import AdaBoost
from voile.documents.learners.consensus import Agreed, Consensus
from voile.documents.learners.crf import CRF, Chain
from voile.documents.learners.ensemble import Ensemble, Judged
from voile.documents.learners.learner import Classifier, Learner, Saveable
from voile.documents.learners.linear import Linear
from voile.documents.learners.selection import KeptSelected, Selection
from voile.documents.learners.svm import SVM

LEARNERS: Mapping[str, Callable[[], Learner]] = {
    "crf": CRF,
    "svm": SVM,
    "adaboost": AdaBoost,
    "ensemble": Ensemble,
    "selection": Selection,
    "consensus": Consensus,
    "crf-cost": partial(CRF, cost_sensitive=True),
    "svm-cost": partial(SVM, cost_sensitive=True),
    "adaboost-cost": partial(AdaBoost, cost_sensitive=True),
    "ensemble-cost": partial(Ensemble, cost_sensitive=True),
    "selection-cost": partial(Selection, cost_sensitive=True),
}
"""The paper's five, each in a variant that weighs costs while it learns; and their consensus."""

CLASSIFIERS: Mapping[str, type[Saveable]] = {
    "chain": Chain,
    "linear": Linear,
    "judged": Judged,
    "agreed": Agreed,
    "selected": KeptSelected,
}
"""What a kit can hold, by the names that it uses."""

__all__ = ["CLASSIFIERS", "LEARNERS", "check_saveable", "learners_of"]


def learners_of(given: str | Sequence[str | Learner]) -> dict[str, Learner]:
    """Return learners by their names; a name stands for the learner of `LEARNERS`.

    Raises
    ------
    RequestError : no learner, an unknown name, two learners of one name, or what is no learner.

    Examples
    --------
    >>> list(learners_of(["crf", SVM(C=1.0)]))
    ['crf', 'svm']
    """
    found: dict[str, Learner] = {}
    for one in [given] if isinstance(given, str) else given:
        if isinstance(one, str) and one not in LEARNERS:
            raise RequestError(f"there is no learner {one}", instead=nearest(one, LEARNERS))
        learner = LEARNERS[one]() if isinstance(one, str) else one
        if not (hasattr(learner, "name") and hasattr(learner, "fit")):
            raise RequestError(
                f"a {type(learner).__name__} is no learner: it lacks a name or fit",
                instead="wrap a classifier of scikit-learn in voile.documents.learners.own.Sklearn",
            )
        if learner.name in found:
            raise RequestError(f"two learners are called {learner.name}", instead="rename one")
        found[learner.name] = learner
    if not found:
        raise RequestError("no learner", instead=f"use {', '.join(LEARNERS)}")
    return found


def check_saveable(classifiers: Iterable[Classifier]) -> None:
    """Refuse classifiers that a kit cannot hold.

    Raises
    ------
    RequestError : one of them is not of voile's own kinds.
    """
    for classifier in classifiers:
        if type(classifier) not in CLASSIFIERS.values():
            raise RequestError(
                f"a kit cannot hold a classifier of kind {type(classifier).__name__}: loading one "
                "runs no code, so it holds voile's own kinds alone",
                instead="leave its learner out, or keep to GreedySanitizer",
            )
