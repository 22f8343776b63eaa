"""The training corpus as tokens with labels, and as examples after each pass."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from functools import cached_property

import numpy as np
from numpy.typing import NDArray

from voile.core.errors import RequestError, nearest
from voile.documents.learners.learner import LabelledExamples
from voile.documents.model.committee.committee import number_marks, put_marks
from voile.documents.model.committee.removals import Types
from voile.documents.patterns.gazetteers import gazetteer_words
from voile.documents.replacements.marks import mark
from voile.documents.text.sequence import DocumentSequence
from voile.documents.words import tokens as words
from voile.documents.words.features import FeatureExtractor, FeatureSpace
from voile.documents.words.subjects import number_subjects, split_into_folds
from voile.documents.words.token_classes import token_labels, unknown_tokens


@dataclass(frozen=True, eq=False)
class TrainingText:
    """The annotated text in the form in which a sanitizer learns from it."""

    tokens: words.TextTokens  # the tokens of the corpus
    truth: Types  # (n,) int16, the type of identifier of each token, 0 for none
    labels: tuple[str, ...]  # (T,) the types
    subject: tuple[str, ...]  # (d,) the subject of each document
    space: FeatureSpace  # the features' columns
    # (n,) bool, unknown tokens, which are not used in training or counts
    unknown: NDArray[np.bool_]
    tokeniser: words.Tokeniser | None = None  # the tokeniser that replaced voile's rule
    hinter: words.TokenHinter | None = None  # the source of levels that was trained on other text

    @classmethod
    def of(
        cls,
        corpus: DocumentSequence,
        *,
        lists: Mapping[str, Iterable[str]] | None = None,
        public: words.Lists | None = None,
        tokeniser: words.Tokeniser | None = None,
        hinter: words.TokenHinter | None = None,
    ) -> TrainingText:
        labels, subjects = corpus.labels, corpus.subjects
        tokens = words.tokenise((document.text for document in corpus), None, tokeniser)
        truth = token_labels(tokens, corpus, labels)
        if not truth.any():
            raise RequestError(
                "no identifier is marked in the training corpus",
                instead="give text with spans, or begin without them: voile documents init",
            )
        tokens = words.add_hints(words.add_tags(tokens, corpus), hinter)
        whose = np.repeat(number_subjects(subjects), np.diff(tokens.first))
        marks = [mark(label) for label in labels]
        listed = {**(public or {}), **gazetteer_words(lists or {}, tokeniser)}
        space = FeatureSpace.of(tokens, whose, marks=marks, lists=listed)
        unknown = unknown_tokens(tokens, corpus) & (truth == 0)
        return cls(tokens, truth, labels, subjects, space, unknown, tokeniser, hinter)

    def examples(self, removed: Types, costs: NDArray[np.float64]) -> LabelledExamples:
        """Return the examples after `removed`, (n,), with marks in the place of the removed tokens.

        costs : (T,), the cost of a missed identifier of each type, in harmless tokens.
        """
        tokens = put_marks(self.tokens, removed, number_marks(self.tokens.known, self.labels))
        left = removed == 0
        return LabelledExamples(
            self._extractor.features(tokens).matrix,
            np.where(left, self.truth, 0).astype(np.int16),
            left & ~self.unknown,
            tokens.first,
            costs,
            tokens.form,
            tuple(tokens.forms),
            self.people,
            left & self.unknown,
            tokens.gap,
        )

    @cached_property
    def people(self) -> NDArray[np.int32]:
        """The number of each document's subject, (d,)."""
        return number_subjects(self.subject)

    @cached_property
    def _extractor(self) -> FeatureExtractor:
        return FeatureExtractor(self.space, self.tokens.known)

    @property
    def classes(self) -> NDArray[np.int32]:
        """The class of each form, in the order of the forms; see `words.attributes.CLASSES`."""
        self._extractor.learn()
        return self._extractor.classes

    def folds(self, number: int, rng: np.random.Generator) -> NDArray[np.intp]:
        """Return the fold of each document, (d,), by subject."""
        known = np.bincount(self.tokens.document[~self.unknown], minlength=len(self.subject))
        return split_into_folds(self.subject, known, number, rng)

    @property
    def harmless(self) -> NDArray[np.bool_]:
        """Which tokens are known to be harmless, as a mask (n,)."""
        return np.asarray((self.truth == 0) & ~self.unknown)


def costs_by_type(
    miss_cost: float | Mapping[str, float], labels: tuple[str, ...]
) -> NDArray[np.float64]:
    """Return the cost of a missed identifier of each type, (T,), in harmless tokens."""
    if not isinstance(miss_cost, Mapping):
        miss_cost = {"": miss_cost}
    for label in miss_cost:
        if label and label not in labels:
            raise RequestError(
                f"a cost for type {label}, which the corpus lacks", instead=nearest(label, labels)
            )
    rest = miss_cost.get("", 10.0)
    try:
        costs = np.array([float(miss_cost.get(label, rest)) for label in labels])
    except (TypeError, ValueError):
        costs = np.zeros(1)
    if not (np.isfinite(costs) & (costs > 0)).all():
        raise RequestError("the cost of a missed identifier is a number above 0")
    return costs
