"""The selected classifier of several, with margins as log-odds."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, ClassVar

import numpy as np
from numpy.typing import NDArray

from voile.documents.model.classifiers.arrays import misfit, take
from voile.documents.model.classifiers.classifier import (
    Arrays,
    Margins,
    SaveableClassifier,
    TokenClassifier,
    TokenSight,
)
from voile.documents.model.classifiers.crf import CrfClassifier
from voile.documents.model.classifiers.ensemble import EnsembleClassifier
from voile.documents.model.classifiers.linear import LinearClassifier

KINDS: tuple[type[SaveableClassifier], ...] = (
    CrfClassifier,
    LinearClassifier,
    EnsembleClassifier,
)
"""The selectable learners that a kit can store, by their numbers in kits."""


@dataclass(frozen=True, eq=False)
class SelectedClassifier:
    """The selected classifier, with margins as log-odds."""

    classifier: TokenClassifier  # the selected classifier
    # slope, bias: (T,) convert its margins to log-odds
    slope: NDArray[np.float64]
    bias: NDArray[np.float64]

    def margins(self, sight: TokenSight) -> Margins:
        """Return the margin of each type for each token, (n, T), as log-odds."""
        return np.asarray(self.classifier.margins(sight) * self.slope + self.bias)


class SaveableSelected(SelectedClassifier):
    saved_as: ClassVar[str] = "selected"

    def to_arrays(self) -> dict[str, NDArray[Any]]:
        assert isinstance(self.classifier, SaveableClassifier)
        inner = {f"of {name}": one for name, one in self.classifier.to_arrays().items()}
        chosen = np.array(KINDS.index(type(self.classifier)))
        return {**inner, "chosen": chosen, "slope": self.slope, "odds": self.bias}

    @classmethod
    def from_arrays(cls, arrays: Arrays) -> SaveableSelected:
        chosen = int(take(arrays, "chosen", "i", ()))
        if not 0 <= chosen < len(KINDS):
            raise misfit("chosen")
        inner = {name.removeprefix("of "): arrays[name] for name in arrays if name[:3] == "of "}
        slope = take(arrays, "slope", "f", (None,))
        bias = take(arrays, "odds", "f", (len(slope),))
        return cls(KINDS[chosen].from_arrays(inner), slope, bias)
