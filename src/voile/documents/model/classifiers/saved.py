"""The classifiers that a kit can store, by their names in kits."""

from __future__ import annotations

from collections.abc import Iterable

from voile.core.errors import DamagedError, RequestError
from voile.documents.model.classifiers.classifier import SaveableClassifier, TokenClassifier


def _find_type(name: str) -> type[SaveableClassifier] | None:
    """Return the type for a name in a kit; None for an unknown name."""
    match name:
        case "chain":
            from voile.documents.model.classifiers.crf import CrfClassifier

            return CrfClassifier
        case "linear":
            from voile.documents.model.classifiers.linear import LinearClassifier

            return LinearClassifier
        case "judged":
            from voile.documents.model.classifiers.ensemble import EnsembleClassifier

            return EnsembleClassifier
        case "agreed":
            from voile.documents.model.classifiers.consensus import ConsensusClassifier

            return ConsensusClassifier
        case "selected":
            from voile.documents.model.classifiers.selection import SaveableSelected

            return SaveableSelected
        case "read":
            from voile.documents.model.classifiers.reader_head import ReaderClassifier

            return ReaderClassifier
        case "model":
            from voile.documents.model.classifiers.external import ModelClassifier

            return ModelClassifier
    return None


def saved_name(classifier: TokenClassifier) -> str | None:
    """Return the name of a classifier's type in a kit; None if a kit cannot store it."""
    if not isinstance(classifier, SaveableClassifier):
        return None
    is_own = type(classifier) is _find_type(classifier.saved_as)
    return classifier.saved_as if is_own else None


def saved_type(name: str) -> type[SaveableClassifier]:
    """Return the classifier type for a name in a kit."""
    if (found := _find_type(name)) is None:
        raise DamagedError("a classifier of the kit is of no known kind")
    return found


def check_saveable(classifiers: Iterable[TokenClassifier]) -> None:
    """Refuse classifiers that a kit cannot store."""
    for classifier in classifiers:
        if saved_name(classifier) is None:
            raise RequestError(
                f"a kit cannot hold a classifier of kind {type(classifier).__name__}: loading one "
                "runs no code, so it holds voile's own kinds alone",
                instead="leave its learner out, or keep to GreedySanitizer",
            )
