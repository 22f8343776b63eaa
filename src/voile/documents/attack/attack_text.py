"""All labelled tokens of an attack: the training tokens and the attacked tokens."""

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
    """The training documents followed by the documents of the release, as one text."""

    examples: LabelledExamples  # all tokens, identifier or not (T = 1); marks are not counted
    # (n,) the type of identifier, from 1 in the order of `labels`; 0 for none
    types: NDArray[np.int16]
    labels: tuple[str, ...]  # the types of both texts
    tokens: TextTokens
    subject: NDArray[np.intp]  # (d,) the subject of each document; the two texts share no subject
    attacked: NDArray[np.bool_]  # (d,) bool, the documents of the release

    @classmethod
    def of(
        cls,
        release: DocumentSequence,
        training: DocumentSequence | None,
        lists: Mapping[str, frozenset[str]],
    ) -> AttackText:
        """Combine the training text and the release, in which spans are the identifiers left.

        Only columns of two or more subjects are kept. Others cannot help, since the two texts share
        no subject.
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
        """Return the fold of each document in the mask `of`, by subject.

        `of` has the shape (d,). There are at most `number` folds.
        """
        subjects, sizes = self.subject[of], np.diff(self.examples.first)[of]
        names = [str(one) for one in subjects.tolist()]
        return split_into_folds(names, sizes, min(number, len(np.unique(subjects))), rng)

    def tokens_of(self, documents: NDArray[np.bool_]) -> NDArray[np.bool_]:
        """Return which tokens belong to the documents of a mask, as a mask (n,)."""
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

    In a document with edits, only edits can be marks. A name in the source's own brackets is an
    identifier left.
    """
    like = np.fromiter(map(is_mark, tokens.forms), np.bool_, len(tokens.forms))[tokens.form]
    replaced = DocumentSequence(_mark_edits(document) for document in corpus)
    published = np.array([isinstance(one, PublishedDocument) for one in corpus], dtype=np.bool_)
    edited = token_labels(tokens, replaced, ("edit",)) > 0
    return np.asarray(like & (edited | ~np.repeat(published, np.diff(tokens.first))))


def _mark_edits(document: Document) -> Document:
    """Return a document with its edits as spans."""
    edits = (edit for edit in edits_of(document) if edit.start < edit.end)
    return Document(document.text, tuple(Span(edit.start, edit.end, "edit") for edit in edits))
