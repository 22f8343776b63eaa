"""The classifiers that a kit can hold, by the names that it uses for them."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping

from voile.core.errors import DamagedError, RequestError
from voile.documents.learners.learner import Classifier, Saveable


def _load_chain() -> type[Saveable]:
    from voile.documents.learners.crf import Chain

    return Chain


def _load_linear() -> type[Saveable]:
    from voile.documents.learners.linear import Linear

    return Linear


def _load_judged() -> type[Saveable]:
    from voile.documents.paper.ensemble import EnsembleClassifier

    return EnsembleClassifier


def _load_agreed() -> type[Saveable]:
    from voile.documents.learners.consensus import ConsensusClassifier

    return ConsensusClassifier


def _load_selected() -> type[Saveable]:
    from voile.documents.paper.selection import SaveableSelected

    return SaveableSelected


def _load_model() -> type[Saveable]:
    from voile.documents.adapters.model import ModelClassifier

    return ModelClassifier


_CLASSIFIERS: Mapping[str, Callable[[], type[Saveable]]] = {
    "chain": _load_chain,
    "linear": _load_linear,
    "judged": _load_judged,
    "agreed": _load_agreed,
    "selected": _load_selected,
    "model": _load_model,
}


def saved_name(classifier: Classifier) -> str | None:
    """Return the name under which a kit holds a classifier of this type; None: it cannot."""
    if not isinstance(classifier, Saveable) or classifier.saved_as not in _CLASSIFIERS:
        return None
    is_own = type(classifier) is saved_type(classifier.saved_as)
    return classifier.saved_as if is_own else None


def saved_type(name: str) -> type[Saveable]:
    """Return the type of the classifiers that a kit holds under this name."""
    if name not in _CLASSIFIERS:
        raise DamagedError("a classifier of the kit is of no known kind")
    return _CLASSIFIERS[name]()


def check_saveable(classifiers: Iterable[Classifier]) -> None:
    """Refuse classifiers that a kit cannot hold."""
    for classifier in classifiers:
        if saved_name(classifier) is None:
            raise RequestError(
                f"a kit cannot hold a classifier of kind {type(classifier).__name__}: loading one "
                "runs no code, so it holds voile's own kinds alone",
                instead="leave its learner out, or keep to GreedySanitizer",
            )
