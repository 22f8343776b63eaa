"""Learners of tokens by name. Each is created when it is requested."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from functools import partial

from voile.core.errors import RequestError, name_kind, nearest
from voile.documents.learners.learner import TokenLearner


def _make_crf(cost_sensitive: bool = False) -> TokenLearner:
    from voile.documents.learners.crf import CRF

    return CRF(cost_sensitive=cost_sensitive)


def _make_svm(cost_sensitive: bool = False) -> TokenLearner:
    from voile.documents.learners.svm import SVM

    return SVM(cost_sensitive=cost_sensitive)


def _make_adaboost(cost_sensitive: bool = False) -> TokenLearner:
    from voile.documents.learners.adaboost import AdaBoost

    return AdaBoost(cost_sensitive=cost_sensitive)


def _make_ensemble(cost_sensitive: bool = False) -> TokenLearner:
    from voile.documents.learners.ensemble import EnsembleLearner

    return EnsembleLearner(cost_sensitive=cost_sensitive)


def _make_selection(cost_sensitive: bool = False) -> TokenLearner:
    from voile.documents.learners.selection import LearnerSelection

    return LearnerSelection(cost_sensitive=cost_sensitive)


def _make_consensus() -> TokenLearner:
    from voile.documents.learners.consensus import ConsensusLearner

    return ConsensusLearner()


def _make_reader() -> TokenLearner:
    from voile.documents.learners.reader_head import ReaderLearner

    return ReaderLearner.from_installed()


LEARNERS: Mapping[str, Callable[[], TokenLearner]] = {
    "crf": _make_crf,
    "svm": _make_svm,
    "adaboost": _make_adaboost,
    "ensemble": _make_ensemble,
    "selection": _make_selection,
    "consensus": _make_consensus,
    "reader": _make_reader,
    "crf-cost": partial(_make_crf, cost_sensitive=True),
    "svm-cost": partial(_make_svm, cost_sensitive=True),
    "adaboost-cost": partial(_make_adaboost, cost_sensitive=True),
    "ensemble-cost": partial(_make_ensemble, cost_sensitive=True),
    "selection-cost": partial(_make_selection, cost_sensitive=True),
}
"""The paper's five learners, their consensus, and the reader's head.

Each of the five also has a variant that takes costs into account in training.
"""
DEFAULT = "default"


def default_learner() -> str:
    """Return the name of the best learner that is available on this machine."""
    from voile.documents.reader.installed import find_reader

    return "consensus" if find_reader() is None else "reader"


def learners_of(given: str | Sequence[str | TokenLearner]) -> dict[str, TokenLearner]:
    """Return learners by name. A string is a name in `LEARNERS`, or the default.

    >>> from voile.documents.learners.svm import SVM
    >>> list(learners_of(["crf", SVM(C=1.0)]))
    ['crf', 'svm']
    """
    found: dict[str, TokenLearner] = {}
    for one in [given] if isinstance(given, str) else given:
        one = default_learner() if one == DEFAULT else one
        if isinstance(one, str) and one not in LEARNERS:
            raise RequestError(f"there is no learner {one}", instead=nearest(one, LEARNERS))
        learner = LEARNERS[one]() if isinstance(one, str) else one
        if not (hasattr(learner, "name") and hasattr(learner, "fit")):
            raise RequestError(
                f"{name_kind(learner)} is not a learner: it lacks a name or fit",
                instead="wrap a classifier of scikit-learn in "
                "voile.documents.adapters.scikit_learn.Sklearn",
            )
        if learner.name in found:
            raise RequestError(f"two learners are called {learner.name}", instead="rename one")
        found[learner.name] = learner
    if not found:
        raise RequestError("no learner", instead=f"use {', '.join(LEARNERS)}")
    return found
