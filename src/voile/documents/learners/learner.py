"""The protocol of a learner of tokens, and the examples that it learns from."""

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
    """Labelled tokens to learn from."""

    # (n, columns) of 0 and 1; tokens removed before are marks, and seen as such
    matrix: sp.csr_array
    # (n,) 0 of harmless tokens and of marks, else 1 to T, the type of identifier
    labels: NDArray[np.int16]
    # (n,) bool, false of marks and unknown tokens: nothing is learnt from them or counted on them
    counted: NDArray[np.bool_]
    first: NDArray[np.intp]  # (d + 1,) where each document's tokens begin
    # (T,) how many harmless tokens a missed one of each type is worth, above 0
    costs: NDArray[np.float64]
    # form, forms: (n,) numbers of the tokens' forms, and the forms
    form: NDArray[np.int32] = field(default_factory=lambda: np.zeros(0, np.int32))
    forms: Sequence[str] = ()
    # (d,) whose each document is; empty where each is its own subject's
    subject: NDArray[np.int32] = field(default_factory=lambda: np.zeros(0, np.int32))
    # (n,) bool, tokens of which nobody knows whether they identify; empty where all is known
    unknown: NDArray[np.bool_] = field(default_factory=lambda: np.zeros(0, np.bool_))
    # (n,) what stands before each token, see `words.tokens.Layout`; empty where nobody says
    gap: NDArray[np.uint8] = field(default_factory=lambda: np.zeros(0, np.uint8))

    @property
    def unmarked_tokens(self) -> NDArray[np.bool_]:
        """Which tokens are not marks, (n,)."""
        return self.counted | self.unknown if len(self.unknown) else self.counted

    @property
    def types(self) -> int:
        """T, how many types of identifiers there are."""
        return len(self.costs)

    @property
    def words(self) -> list[str]:
        """The tokens' forms, (n,)."""
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
    """Fits classifiers; holds settings only."""

    @property
    def name(self) -> str:
        """Its name in history, kits and reports."""

    def fit(self, examples: LabelledExamples, *, seed: int) -> TokenClassifier:
        """Learn from the counted tokens; the same seed gives the same classifier."""
