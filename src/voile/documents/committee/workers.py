"""A policy at work: the committee, patterns, lists, repeats, and what comes instead."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence
from concurrent.futures import Future, ProcessPoolExecutor
from concurrent.futures.process import BrokenProcessPool
from dataclasses import dataclass
from functools import partial
from itertools import pairwise
from multiprocessing import get_all_start_methods, get_context
from types import TracebackType
from typing import Protocol

import numpy as np
from numpy.typing import NDArray

from voile.core.errors import RequestError
from voile.core.workers import begin_worker, starting_workers
from voile.documents.committee.committee import Committee
from voile.documents.committee.publication import PublishedDocument, publish, removals_by_text
from voile.documents.committee.repeats import NameWords, find_mentions, mentions_as_removals
from voile.documents.patterns import Finder, PhraseList, find
from voile.documents.replacements import Removal, Replacer, join_removals, merge_neighbours
from voile.documents.text.document import Document

CHARACTERS = 1 << 19
"""Of documents that are looked at together: what a committee says of their tokens is in memory."""


@dataclass(frozen=True, eq=False)
class Recipe:
    """What is removed of a text, and what comes in its place."""

    committee: Committee  # the policy
    finders: tuple[Finder, ...]  # patterns and deny-lists
    allow: PhraseList | None  # phrases that stay whatever finds them; None for none
    # types of which every mention is removed where one was, in the same document
    names: frozenset[str]
    put: Replacer  # what comes instead


Done = PublishedDocument | None
"""A document as published; None where it could not be done."""
Pending = Callable[[], list[Done]]
"""Waits until documents are done."""


class Workbench(Protocol):
    """Works on documents, in order."""

    def begin(self, documents: Sequence[Document]) -> Pending:
        """Return what gives each document as published; several calls may be pending."""

    def end(self) -> None:
        """Release the processes; nothing is begun after it."""


class Worker:
    """Puts documents through a recipe in this process."""

    def __init__(self, recipe: Recipe) -> None:
        self._recipe = recipe
        self._remover = recipe.committee.remover()
        self._words = NameWords()
        self._lists = tuple(one for one in recipe.finders if isinstance(one, PhraseList))
        self._patterns = tuple(one for one in recipe.finders if not isinstance(one, PhraseList))
        self._checked = frozenset(one.by for one in self._patterns if one.checked)

    def __call__(self, documents: Sequence[Document]) -> list[Done]:
        return [one for part in _parts(documents) for one in self._tried(part)]

    def begin(self, documents: Sequence[Document]) -> Pending:
        """Defer the work until it is asked for."""
        return partial(self, documents)

    def end(self) -> None:
        """Do nothing: there are no processes."""

    def _tried(self, documents: Sequence[Document]) -> list[Done]:
        try:
            return list(self._done(documents))
        except Exception:
            if len(documents) == 1:
                return [None]
            return [one for document in documents for one in self._tried([document])]

    def _done(self, documents: Sequence[Document]) -> Iterator[Done]:
        recipe = self._recipe
        removed = self._remover(documents)
        again = find_mentions(removed, self._names, self._words) if recipe.names else None
        learnt = removals_by_text(self._remover, removed)
        for number, (document, own) in enumerate(zip(documents, learnt, strict=True)):
            text = document.text
            further = (
                []
                if again is None
                else mentions_as_removals(removed, again, number, self._remover.labels)
            )
            removals = self._joined(text, own, further)
            if recipe.allow is not None:
                removals = recipe.allow.subtract(text, removals)
            yield publish(document, merge_neighbours(text, removals), recipe.put)

    def _joined(self, text: str, own: Sequence[Removal], again: Sequence[Removal]) -> list[Removal]:
        """Join removals. Where some overlap, the label is a checked pattern's, else the
        committee's, which learnt the corpus's types, another pattern's, a repeat's, a list's.
        """
        found = find(text, self._patterns) if self._patterns else []
        listed = find(text, self._lists) if self._lists else []
        sure = [one for one in found if not self._checked.isdisjoint(one.by)]
        rest = [one for one in found if self._checked.isdisjoint(one.by)]
        return join_removals(sure, own, rest, again, listed)

    @property
    def _names(self) -> NDArray[np.bool_]:
        return np.array([False, *(label in self._recipe.names for label in self._remover.labels)])


def _parts(documents: Iterable[Document]) -> Iterator[list[Document]]:
    part: list[Document] = []
    size = 0
    for document in documents:
        if part and size + len(document.text) > CHARACTERS:
            yield part
            part, size = [], 0
        part.append(document)
        size += len(document.text)
    if part:
        yield part


class Workers:
    """Puts documents through a recipe in several processes, with the same results.

    The processes are forked, so that a secret is never written or sent.
    """

    def __init__(self, recipe: Recipe, jobs: int) -> None:
        if "fork" not in get_all_start_methods():
            raise RequestError("this system works in one process only", instead="use one job")
        self._jobs = jobs
        self._pool = ProcessPoolExecutor(
            jobs, mp_context=get_context("fork"), initializer=_begin, initargs=(recipe,)
        )

    def begin(self, documents: Sequence[Document]) -> Pending:
        """Deal the documents to the processes, in parts of about as many characters."""
        cuts = cut_evenly([len(one.text) for one in documents], self._jobs)
        parts = [documents[a:b] for a, b in pairwise(cuts) if b > a]
        with starting_workers():
            done = [self._pool.submit(_work, part) for part in parts]
        return partial(_all, done)

    def __enter__(self) -> Workers:
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        traceback: TracebackType | None,
    ) -> None:
        self.end()

    def end(self) -> None:
        self._pool.shutdown(cancel_futures=True)


def cut_evenly(sizes: Sequence[int], parts: int) -> list[int]:
    """Return the bounds of parts of whole documents, about equally long."""
    middles = np.cumsum(sizes) - np.array(sizes) / 2
    goals = np.linspace(0, sum(sizes), parts + 1)[1:-1]
    return [0, *np.searchsorted(middles, goals).tolist(), len(sizes)]


def _all(parts: Iterable[Future[list[Done]]]) -> list[Done]:
    try:
        return [one for part in parts for one in part.result()]
    except BrokenProcessPool:
        raise RequestError(
            "a worker process was killed, perhaps for lack of memory",
            instead="use one job, or shorter documents",
        ) from None


_worker: Worker


def _begin(recipe: Recipe) -> None:
    global _worker
    begin_worker()  # the parent's locks are held here as well
    _worker = Worker(recipe)


def _work(documents: Sequence[Document]) -> list[Done]:
    return _worker(documents)
