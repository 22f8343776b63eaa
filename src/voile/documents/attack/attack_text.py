"""All labelled tokens of an attack: those to learn from and those to attack."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from voile.documents.attack.remaining import edits_of
from voile.documents.learners.learner import LabelledExamples
from voile.documents.replacements.published import PublishedDocument
from voile.documents.text.document import Document, Span
from voile.documents.text.sequence import DocumentSequence
from voile.documents.words.attributes import is_mark
from voile.documents.words.features import FeatureExtractor, FeatureSpace
from voile.documents.words.subjects import split_into_folds
from voile.documents.words.token_classes import token_labels
from voile.documents.words.tokens import TextTokens, tokenise


@dataclass(frozen=True, eq=False)
class AttackText:
    """The documents to learn from, then those of the release, as one text."""

    examples: LabelledExamples  # of all tokens, identifier or not (T = 1); marks are not counted
    # (n,) the type of identifier, from 1 in the order of `labels`; 0 of none
    types: NDArray[np.int16]
    labels: tuple[str, ...]  # the types of both texts
    tokens: TextTokens
    subject: NDArray[np.intp]  # (d,) numbers of whose each document is; two texts share nobody
    attacked: NDArray[np.bool_]  # (d,) bool, the documents of the release

    @classmethod
    def of(
        cls,
        release: DocumentSequence,
        training: DocumentSequence | None,
        lists: Mapping[str, frozenset[str]],
    ) -> AttackText:
        """Read the release, whose spans are the identifiers left, and the text to learn from.

        Columns of two subjects or more are kept; others cannot help, as the two texts share no
        subject.
        """
        known = training if training is not None else DocumentSequence([])
        everything = DocumentSequence([*known, *release])
        tokens = tokenise(document.text for document in everything)
        whose = [(0, one) for one in known.subjects] + [(1, one) for one in release.subjects]
        numbers = {one: number for number, one in enumerate(dict.fromkeys(whose))}
        subject = np.array([numbers[one] for one in whose], dtype=np.intp)
        labels = everything.labels
        types = token_labels(tokens, everything, labels)
        marks = _marks(tokens, everything)
        examples = _examples(tokens, types, marks, subject.astype(np.int32), lists)
        attacked = np.arange(len(everything)) >= len(known)
        types = np.where(marks, 0, types).astype(np.int16)
        return cls(examples, types, labels, tokens, subject, attacked)

    def folds(
        self, number: int, of: NDArray[np.bool_], rng: np.random.Generator
    ) -> NDArray[np.intp]:
        """Return the fold of each of some documents, (d,) bool, by subject; at most `number`."""
        subjects, sizes = self.subject[of], np.diff(self.examples.first)[of]
        names = [str(one) for one in subjects.tolist()]
        return split_into_folds(names, sizes, min(number, len(np.unique(subjects))), rng)

    def tokens_of(self, documents: NDArray[np.bool_]) -> NDArray[np.bool_]:
        """Return which tokens are of some documents, (n,)."""
        return np.repeat(documents, np.diff(self.examples.first))


def _examples(
    tokens: TextTokens,
    types: NDArray[np.int16],
    marks: NDArray[np.bool_],
    subject: NDArray[np.int32],
    lists: Mapping[str, frozenset[str]],
) -> LabelledExamples:
    shown = [form for form in tokens.forms if is_mark(form)]
    whose = np.repeat(subject, np.diff(tokens.first))
    space = FeatureSpace.of(tokens, whose, marks=shown, lists=lists)
    return LabelledExamples(
        FeatureExtractor(space, tokens.known).features(tokens).matrix,
        ((types > 0) & ~marks).astype(np.int16),
        ~marks,
        tokens.first,
        np.ones(1),
        tokens.form,
        tuple(tokens.forms),
        subject,
        gap=tokens.gap,
    )


def _marks(tokens: TextTokens, corpus: DocumentSequence) -> NDArray[np.bool_]:
    """Return which tokens the adversary recognises as marks, (n,).

    In a document with edits only these count: a name in the source's own brackets is one that is
    left.
    """
    like = np.fromiter(map(is_mark, tokens.forms), np.bool_, len(tokens.forms))[tokens.form]
    replaced = DocumentSequence(_mark_edits(document) for document in corpus)
    published = np.array([isinstance(one, PublishedDocument) for one in corpus], dtype=np.bool_)
    edited = token_labels(tokens, replaced, ("edit",)) > 0
    return np.asarray(like & (edited | ~np.repeat(published, np.diff(tokens.first))))


def _mark_edits(document: Document) -> Document:
    """Return a document whose spans are its edits."""
    edits = (edit for edit in edits_of(document) if edit.start < edit.end)
    return Document(document.text, tuple(Span(edit.start, edit.end, "edit") for edit in edits))
