"""Recognise names with spaCy (the extra `spacy`), trained here or given as a Python object.

A pipeline in a folder is an `ExternalModel`, which loads only data, and which a kit can contain.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from itertools import pairwise
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from voile.core.lazy import library
from voile.documents.adapters.scikit_learn import check_types
from voile.documents.learners.learner import LabelledExamples
from voile.documents.model.classifiers.classifier import Margins, TokenSight

if TYPE_CHECKING:
    from spacy.language import Language
    from spacy.tokens import Doc

BATCH = 4
DROP = 0.2


@dataclass(frozen=True)
class SpacyLearner:
    """A spaCy pipeline that finds entities.

    pipeline : a trained pipeline; None trains one here, with this `language` and `epochs`.
    types : label of the pipeline -> type, 1 to T; other labels are harmless.

    The tokens are voile's own, so that offsets agree. The blanks between tokens are lost.
    """

    pipeline: Language | None = None
    types: Mapping[str, int] = field(default_factory=dict)
    language: str = "xx"
    epochs: int = 10
    name: str = "spacy"

    def fit(self, examples: LabelledExamples, *, seed: int = 0) -> SpacyRecogniser:
        """Train a recogniser, or use the given pipeline unchanged."""
        spacy = library("spacy", "spacy")
        if self.pipeline is not None:
            return SpacyRecogniser(
                self.pipeline, check_types(self.types, examples.types), examples.types
            )
        kinds = {str(kind): kind for kind in range(1, examples.types + 1)}
        return SpacyRecogniser(self._train_model(spacy, examples, seed), kinds, examples.types)

    def _train_model(self, spacy: Any, examples: LabelledExamples, seed: int) -> Language:
        from spacy.training import Example

        spacy.util.fix_random_seed(seed)
        nlp: Language = spacy.blank(self.language)
        recogniser = nlp.add_pipe("ner")
        for kind in range(1, examples.types + 1):
            recogniser.add_label(str(kind))  # type: ignore[attr-defined]
        plain = docs_of(nlp, examples.words, examples.first)
        pairs = zip(plain, documents_with_entities(nlp, examples), strict=True)
        shown = [Example(doc, truth) for doc, truth in pairs if len(doc)]
        if not shown:
            return nlp
        optimizer = nlp.initialize(lambda: shown)
        rng = np.random.default_rng(seed)
        for _ in range(self.epochs):
            order = [shown[number] for number in rng.permutation(len(shown))]
            for batch in spacy.util.minibatch(order, BATCH):
                nlp.update(batch, sgd=optimizer, drop=DROP)
        return nlp


@dataclass(frozen=True, eq=False)
class SpacyRecogniser:
    """A trained pipeline. The margin of a token is 1 for the type of its entity, else -1."""

    nlp: Language  # the pipeline
    kinds: Mapping[str, int]  # label -> type, 1 to T
    types: int  # T

    def margins(self, sight: TokenSight) -> Margins:
        found = np.full((len(sight.words), self.types), -1.0)
        filled = np.diff(sight.first) > 0
        docs = [doc for doc in docs_of(self.nlp, sight.words, sight.first) if len(doc)]
        starts = sight.first[:-1][filled]
        for start, doc in zip(starts, self.nlp.pipe(docs), strict=True):
            for entity in doc.ents:
                kind = self.kinds.get(entity.label_)
                if kind is not None:
                    found[start + entity.start : start + entity.end, kind - 1] = 1.0
        return found


def docs_of(nlp: Language, words: Sequence[str], first: NDArray[np.intp]) -> Iterator[Doc]:
    from spacy.tokens import Doc

    for start, end in pairwise(first):
        yield Doc(nlp.vocab, words=list(words[start:end]))


def documents_with_entities(nlp: Language, examples: LabelledExamples) -> Iterator[Doc]:
    """Yield the documents with their identifiers as entities, which are runs of one type."""
    from spacy.tokens import Span

    for start, doc in zip(
        examples.first, docs_of(nlp, examples.words, examples.first), strict=False
    ):
        labels = examples.labels[start : start + len(doc)]
        cuts = np.flatnonzero(np.diff(labels, prepend=-1, append=-1))
        doc.ents = [
            Span(doc, int(a), int(b), label=str(labels[a])) for a, b in pairwise(cuts) if labels[a]
        ]
        yield doc
