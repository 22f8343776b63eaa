"""The protocol of a learner of tokens, and its training examples."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from typing import Protocol

import numpy as np
import scipy.sparse as sp
from numpy.typing import NDArray

from voile.documents.model.classifiers.classifier import TokenClassifier


@dataclass(frozen=True, eq=False)
class LabelledExamples:
    """Labelled tokens for training."""

    # (n, columns) of 0 and 1; tokens that earlier passes removed appear as marks
    matrix: sp.csr_array
    # (n,) 0 for harmless tokens and marks, else 1 to T, the type of identifier
    labels: NDArray[np.int16]
    # (n,) bool, false for marks and unknown tokens, which are not used in training or counts
    counted: NDArray[np.bool_]
    first: NDArray[np.intp]  # (d + 1,) the first token of each document
    # (T,) the cost of a missed identifier of each type, in harmless tokens, above 0
    costs: NDArray[np.float64]
    # form, forms: (n,) the numbers of the tokens' forms, and the forms
    form: NDArray[np.int32] = field(default_factory=lambda: np.zeros(0, np.int32))
    forms: Sequence[str] = ()
    # (d,) the subject of each document; empty if each document has its own subject
    subject: NDArray[np.int32] = field(default_factory=lambda: np.zeros(0, np.int32))
    # (n,) bool, tokens for which nobody knows whether they identify a person; empty if all are
    # known
    unknown: NDArray[np.bool_] = field(default_factory=lambda: np.zeros(0, np.bool_))
    # (n,) the gap before each token, see `words.tokens.TokenLayout`; empty if unknown
    gap: NDArray[np.uint8] = field(default_factory=lambda: np.zeros(0, np.uint8))

    @property
    def unmarked_tokens(self) -> NDArray[np.bool_]:
        """Which tokens are not marks, as a mask (n,)."""
        return self.counted | self.unknown if len(self.unknown) else self.counted

    @property
    def types(self) -> int:
        """The number of types of identifiers, T."""
        return len(self.costs)

    @property
    def words(self) -> list[str]:
        """The forms of the tokens, (n,)."""
        return [self.forms[number] for number in self.form]

    def scores(self, weights: NDArray[np.float32]) -> NDArray[np.float32]:
        """Return ``matrix @ weights``, (n, outputs)."""
        return np.asarray(self.matrix @ weights, dtype=np.float32)

    def of(self, documents: NDArray[np.bool_]) -> LabelledExamples:
        sizes = np.diff(self.first)
        tokens = np.repeat(documents, sizes)
        return replace(
            self,
            matrix=self.matrix[np.flatnonzero(tokens)],
            labels=self.labels[tokens],
            counted=self.counted[tokens],
            first=np.cumsum([0, *sizes[documents]], dtype=np.intp),
            form=self.form[tokens] if len(self.form) else self.form,
            subject=self.subject[documents] if len(self.subject) else self.subject,
            unknown=self.unknown[tokens] if len(self.unknown) else self.unknown,
            gap=self.gap[tokens] if len(self.gap) else self.gap,
        )


class TokenLearner(Protocol):
    """A learner that fits classifiers and contains only settings."""

    @property
    def name(self) -> str:
        """The name of the learner in history, kits and reports."""

    def fit(self, examples: LabelledExamples, *, seed: int) -> TokenClassifier:
        """Learn from the counted tokens. The same seed gives the same classifier."""
