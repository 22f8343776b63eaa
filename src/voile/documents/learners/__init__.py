"""Learners of tokens, by their names."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from functools import partial
from importlib import import_module
from typing import Any

from voile.core.errors import DamagedError, RequestError, named, nearest
from voile.documents.learners.learner import Classifier, Learner, Saveable

_LEARNERS = {
    "crf": "learners.crf:CRF",
    "svm": "learners.svm:SVM",
    "adaboost": "learners.adaboost:AdaBoost",
    "ensemble": "paper.ensemble:Ensemble",
    "selection": "paper.selection:Selection",
    "consensus": "learners.consensus:Consensus",
}
_CLASSIFIERS = {
    "chain": "learners.crf:Chain",
    "linear": "learners.linear:Linear",
    "judged": "paper.ensemble:EnsembleClassifier",
    "agreed": "learners.consensus:ConsensusClassifier",
    "selected": "paper.selection:SaveableSelected",
    "model": "adapters.model:ModelClassifier",
}
"""What a kit can hold, by the names that it uses."""


def _load(place: str) -> Any:
    module, name = place.split(":")
    return getattr(import_module(f"voile.documents.{module}"), name)


def _make(place: str, **settings: Any) -> Learner:
    learner: Learner = _load(place)(**settings)
    return learner


LEARNERS: Mapping[str, Callable[[], Learner]] = {
    **{name: partial(_make, place) for name, place in _LEARNERS.items()},
    **{
        f"{name}-cost": partial(_make, place, cost_sensitive=True)
        for name, place in _LEARNERS.items()
        if name != "consensus"
    },
}
"""The paper's five, each in a variant that weighs costs while it learns; and their consensus."""

__all__ = ["LEARNERS", "check_saveable", "learners_of", "saved_name", "saved_type"]


def learners_of(given: str | Sequence[str | Learner]) -> dict[str, Learner]:
    """Return learners by their names; a name stands for the learner of `LEARNERS`.

    >>> from voile.documents.learners.svm import SVM
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
                f"{named(learner)} is not a learner: it lacks a name or fit",
                instead="wrap a classifier of scikit-learn in "
                "voile.documents.adapters.scikit_learn.Sklearn",
            )
        if learner.name in found:
            raise RequestError(f"two learners are called {learner.name}", instead="rename one")
        found[learner.name] = learner
    if not found:
        raise RequestError("no learner", instead=f"use {', '.join(LEARNERS)}")
    return found


def saved_name(classifier: Classifier) -> str | None:
    """Return the name under which a kit holds a classifier of this type; None: it cannot."""
    place = f"{type(classifier).__module__}:{type(classifier).__qualname__}"
    names = {f"voile.documents.{place}": name for name, place in _CLASSIFIERS.items()}
    return names.get(place)


def saved_type(name: str) -> type[Saveable]:
    """Return the type that a kit calls so."""
    if name not in _CLASSIFIERS:
        raise DamagedError("a classifier of the kit is of no known kind")
    kind: type[Saveable] = _load(_CLASSIFIERS[name])
    return kind


def check_saveable(classifiers: Iterable[Classifier]) -> None:
    """Refuse classifiers that a kit cannot hold."""
    for classifier in classifiers:
        if saved_name(classifier) is None:
            raise RequestError(
                f"a kit cannot hold a classifier of kind {type(classifier).__name__}: loading one "
                "runs no code, so it holds voile's own kinds alone",
                instead="leave its learner out, or keep to GreedySanitizer",
            )
