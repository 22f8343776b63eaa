"""Apply a policy: the committee, patterns, lists, repeats, and the replacements."""

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
"""A function that finds removals by the documents' subjects.

It returns one list for each document, ordered and disjoint.
"""


@dataclass(frozen=True)
class JoinedProposals:
    """A combination of several finders. If finds overlap, the type of the first finder is used."""

    several: Sequence[Proposing]

    def __call__(self, documents: Sequence[Document]) -> list[list[TextRemoval]]:
        """Find the removals of each document, ordered and disjoint."""
        texts = [one.text for one in documents]
        found = (one(documents) for one in self.several)
        return [settle_spans(*own) for own in zip(texts, *found, strict=True)]


@dataclass(frozen=True, eq=False)
class RemovalRecipe:
    """The finders of a text's removals, and the replacements."""

    committee: TokenCommittee  # the policy
    finders: tuple[PatternFinder, ...]  # patterns and deny-lists
    allow: PhraseList | None  # phrases that are never removed; None for none
    # the types for which all mentions in a document are removed if one is
    names: frozenset[str]
    put: RemovalReplacer  # the replacer
    known: Proposing | None = None  # finds the known values of each document's people
    rules: Proposing | None = None  # finds dates, numbers and similar identifiers by their form


@dataclass(frozen=True)
class DocumentFailure:
    """The reason why a document failed, without any text of the document."""

    why: str
    is_expected: bool  # whether the cause is this document; if not, the program or a model fails

    @classmethod
    def of(cls, error: Exception) -> DocumentFailure:
        """Describe the error, and its place in the program."""
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
    """A worker that applies a recipe to documents."""

    def __init__(self, recipe: RemovalRecipe) -> None:
        self.recipe = recipe
        self._remover = recipe.committee.remover()
        self._words = NameWords()
        self._lists = tuple(one for one in recipe.finders if isinstance(one, PhraseList))
        self._patterns = tuple(one for one in recipe.finders if not isinstance(one, PhraseList))
        self._checked = frozenset(one.by for one in self._patterns if one.checked)

    def __call__(self, documents: Sequence[Document]) -> list[PublishedDocument | None]:
        """Return each published document, or None if the document fails."""
        return [
            None if isinstance(one, DocumentFailure) else one for one in self.attempts(documents)
        ]

    def attempts(self, documents: Sequence[Document]) -> list[Done]:
        """Return each published document, or the reason why it failed."""
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
        """Combine the spans of all finders by their priority.

        Known values come first, and then checked patterns. Patterns and rules follow, since they
        find whole numbers and dates. The committee's tokens, repeats and lists are last.
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
