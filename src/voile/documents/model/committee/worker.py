"""A policy at work: the committee, patterns, lists, repeats, and the replacements."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from traceback import extract_tb

import numpy as np
from numpy.typing import NDArray

from voile.core.errors import RequestError, VoileError
from voile.documents.model.committee.committee import TokenCommittee
from voile.documents.model.committee.publication import removals_by_text
from voile.documents.model.committee.repeats import NameWords, find_mentions, mentions_as_removals
from voile.documents.patterns.pattern import PatternFinder, find
from voile.documents.patterns.phrase_list import PhraseList
from voile.documents.replacements.published import PublishedDocument, RemovalReplacer
from voile.documents.replacements.published_document import publish
from voile.documents.replacements.removal import TextRemoval
from voile.documents.replacements.spans import (
    complete_units,
    join_adjacent,
    label_as_learnt,
    settle_spans,
)
from voile.documents.text.document import Document, in_parts
from voile.documents.words.decoder import unit_places

Proposing = Callable[[Sequence[Document]], list[list[TextRemoval]]]
"""Find the removals by the documents' subjects: one list a document, in its order and apart."""


@dataclass(frozen=True)
class JoinedProposals:
    """Proposes the finds of several; if they overlap, the first one's type counts."""

    several: Sequence[Proposing]

    def __call__(self, documents: Sequence[Document]) -> list[list[TextRemoval]]:
        """Find the removals of each document, in order and apart."""
        texts = [one.text for one in documents]
        found = (one(documents) for one in self.several)
        return [settle_spans(*own) for own in zip(texts, *found, strict=True)]


@dataclass(frozen=True, eq=False)
class RemovalRecipe:
    """The finders of a text's removals, and the replacements."""

    committee: TokenCommittee  # the policy
    finders: tuple[PatternFinder, ...]  # patterns and deny-lists
    allow: PhraseList | None  # phrases that stay whatever finds them; None for none
    # types of which every mention is removed where one was, in the same document
    names: frozenset[str]
    put: RemovalReplacer  # what comes instead
    known: Proposing | None = None  # finds what is known of each document's people
    rules: Proposing | None = None  # finds dates, numbers and the like by their form


@dataclass(frozen=True)
class DocumentFailure:
    """Why a document could not be worked on, in words that hold nothing of it."""

    why: str
    is_expected: bool  # of this document alone; else the program fails, or a model

    @classmethod
    def of(cls, error: Exception) -> DocumentFailure:
        """Name the error, and its place in the program."""
        if isinstance(error, VoileError):
            return cls(str(error), is_expected=False)
        frames = extract_tb(error.__traceback__)
        last = [frame for frame in frames if PACKAGE in Path(frame.filename).parents][-1]
        place = Path(last.filename).relative_to(PACKAGE.parent).as_posix()
        why = f"unexpected {type(error).__name__} in {place}, line {last.lineno}"
        return cls(why, is_expected=False)


PACKAGE = Path(__file__).parents[3]


Done = PublishedDocument | DocumentFailure


class DocumentWorker:
    """Puts documents through a recipe."""

    def __init__(self, recipe: RemovalRecipe) -> None:
        self.recipe = recipe
        self._remover = recipe.committee.remover()
        self._words = NameWords()
        self._lists = tuple(one for one in recipe.finders if isinstance(one, PhraseList))
        self._patterns = tuple(one for one in recipe.finders if not isinstance(one, PhraseList))
        self._checked = frozenset(one.by for one in self._patterns if one.checked)

    def __call__(self, documents: Sequence[Document]) -> list[PublishedDocument | None]:
        """Return each document as published, None where one fails by itself."""
        return [
            None if isinstance(one, DocumentFailure) else one for one in self.attempts(documents)
        ]

    def attempts(self, documents: Sequence[Document]) -> list[Done]:
        """Return each document as published, or why it is not."""
        return [one for part in in_parts(documents) for one in self._try_documents(part)]

    def _try_documents(self, documents: Sequence[Document]) -> list[Done]:
        try:
            return list(self._done(documents))
        except Exception as error:
            if len(documents) == 1:
                return [DocumentFailure.of(error)]
            return [one for document in documents for one in self._try_documents([document])]

    def _done(self, documents: Sequence[Document]) -> Iterator[Done]:
        recipe = self.recipe
        removed = self._remover(documents)
        again = np.zeros(len(removed.tokens), np.int16)
        if recipe.names:
            again = find_mentions(removed, self._names, self._words)
        each = zip(
            documents,
            _propose_removals(recipe.known, documents),
            _propose_removals(recipe.rules, documents),
            removals_by_text(self._remover, removed),
            unit_places(removed.tokens),
            strict=True,
        )
        for number, (document, known, rules, own, units) in enumerate(each):
            text = document.text
            further = mentions_as_removals(removed, again, number, self._remover.labels)
            spans = complete_units(
                text, self._settle_removals(text, known, rules, own, further), units
            )
            if recipe.allow is not None:
                spans = recipe.allow.subtract(text, spans)
            try:
                yield publish(document, join_adjacent(text, spans), recipe.put)
            except RequestError as error:
                yield DocumentFailure(str(error), is_expected=True)

    def _settle_removals(
        self,
        text: str,
        known: Sequence[TextRemoval],
        rules: Sequence[TextRemoval],
        own: Sequence[TextRemoval],
        again: Sequence[TextRemoval],
    ) -> list[TextRemoval]:
        """Settle spans. Lookup values come first, then checked patterns, patterns and rules, which
        find whole numbers and dates, then the committee's tokens, repeats and lists.
        """
        found = find(text, self._patterns) if self._patterns else []
        listed = find(text, self._lists) if self._lists else []
        sure = [one for one in found if not self._checked.isdisjoint(one.by)]
        rest = [one for one in found if self._checked.isdisjoint(one.by)]
        formed = label_as_learnt(settle_spans(text, rest, rules), own)
        return settle_spans(text, known, sure, formed, own, again, listed)

    @property
    def _names(self) -> NDArray[np.bool_]:
        return np.array([False, *(label in self.recipe.names for label in self._remover.labels)])


def _propose_removals(
    proposing: Proposing | None, documents: Sequence[Document]
) -> Sequence[Sequence[TextRemoval]]:
    return [()] * len(documents) if proposing is None else proposing(documents)
