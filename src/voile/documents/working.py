"""A policy at work: the committee, patterns, lists, repeats, and what comes instead."""

from __future__ import annotations

import os
import re
import signal
from collections import defaultdict
from collections.abc import Callable, Iterable, Iterator, Sequence
from concurrent.futures import Future, ProcessPoolExecutor
from concurrent.futures.process import BrokenProcessPool
from dataclasses import dataclass
from functools import lru_cache, partial
from itertools import pairwise
from multiprocessing import get_all_start_methods, get_context, parent_process
from multiprocessing.connection import wait
from threading import Thread
from types import TracebackType
from typing import Protocol
from unicodedata import east_asian_width

import numpy as np
from numpy.typing import NDArray

from voile.documents.committee import Committee, Removed
from voile.documents.corpus import Document
from voile.documents.patterns import Finder, Listed, find
from voile.documents.publishing import PublishedDocument, publish, removals_of
from voile.documents.replacing import Removal, Replacer, joined, merged
from voile.documents.replacing.names import folded
from voile.documents.words.attributes import is_mark
from voile.documents.words.tokens import SIGNS, Tokens
from voile.errors import RequestError

REPEAT = "repeat"
SHORT = 2
"""Letters of a short name."""
PARTS = 3
"""For each process, of what it is given at once: the last to end leaves less waiting."""
CHARACTERS = 1 << 19
"""Of documents that are looked at together: what a committee says of their tokens is in memory."""
_PARTS = re.compile(rf"(?:[\d_]|[^\w{SIGNS}])+")


@dataclass(frozen=True, eq=False)
class Recipe:
    """What is removed of a text, and what comes in its place.

    Parameters
    ----------
    committee : the policy. finders : patterns and deny-lists.
    allow : phrases that stay whatever finds them; None for none.
    names : types of which every mention is removed where one was, in the same document.
    put : what comes instead.
    """

    committee: Committee
    finders: tuple[Finder, ...]
    allow: Listed | None
    names: frozenset[str]
    put: Replacer


@dataclass(frozen=True)
class Done:
    """A document as published, and who removed what of it; None where it could not be done."""

    document: PublishedDocument | None
    removals: tuple[Removal, ...] = ()


Pending = Callable[[], list[Done]]
"""Waits until documents are done."""


class Workbench(Protocol):
    """Works on documents, in order."""

    def begin(self, documents: Sequence[Document]) -> Pending:
        """Return what gives each document as published; there may be several at work."""


class Worker:
    """Put documents through a recipe, in this process."""

    def __init__(self, recipe: Recipe) -> None:
        self._recipe = recipe
        self._remover = recipe.committee.remover()
        self._lists = tuple(one for one in recipe.finders if isinstance(one, Listed))
        self._patterns = tuple(one for one in recipe.finders if not isinstance(one, Listed))
        self._checked = frozenset(one.by for one in self._patterns if one.checked)

    def __call__(self, documents: Sequence[Document]) -> list[Done]:
        """Return each document as published; of those that fail, alone, nothing."""
        return [one for part in _parts(documents) for one in self._tried(part)]

    def begin(self, documents: Sequence[Document]) -> Pending:
        """Begin once asked for."""
        return partial(self, documents)

    def _tried(self, documents: Sequence[Document]) -> list[Done]:
        try:
            return list(self._done(documents))
        except Exception:
            if len(documents) == 1:
                return [Done(None)]
            return [one for document in documents for one in self._tried([document])]

    def _done(self, documents: Sequence[Document]) -> Iterator[Done]:
        recipe = self._recipe
        removed = self._remover(documents)
        again = mentions(removed, self._names) if recipe.names else None
        learnt = removals_of(self._remover, removed)
        for number, (document, own) in enumerate(zip(documents, learnt, strict=True)):
            text = document.text
            repeated = (
                [] if again is None else _repeated(removed, again, number, self._remover.labels)
            )
            removals = self._joined(text, own, repeated)
            if recipe.allow is not None:
                removals = recipe.allow.subtract(text, removals)
            whole = tuple(merged(text, removals))
            yield Done(publish(document, whole, recipe.put), whole)

    def _joined(
        self, text: str, own: Sequence[Removal], repeated: Sequence[Removal]
    ) -> list[Removal]:
        """Join what is removed; where some overlap, who knows best what it is gives the label.

        A checksum knows, then the committee, which learnt the corpus's own types; then other
        patterns. A list says nothing of a type.
        """
        found = find(text, self._patterns) if self._patterns else []
        listed = find(text, self._lists) if self._lists else []
        sure = [one for one in found if one.by in self._checked]
        rest = [one for one in found if one.by not in self._checked]
        return joined(sure, own, rest, repeated, listed)

    @property
    def _names(self) -> NDArray[np.bool_]:
        """Which types are names, (T + 1,)."""
        return np.array([False, *(label in self._recipe.names for label in self._remover.labels)])


def _parts(documents: Iterable[Document]) -> Iterator[list[Document]]:
    """Cut documents into parts of at most so many characters, or of one document."""
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


def mentions(removed: Removed, names: NDArray[np.bool_]) -> NDArray[np.int16]:
    """Find what is left of the names removed in the same document.

    A mention is a token with a word that was removed as a name elsewhere in its document, both
    written as names (see `_names_in`); capitals and accents aside.

    Parameters
    ----------
    names : (T + 1,) which types are names.

    Returns
    -------
    (n,) the type of name, 0 of all other tokens.
    """
    tokens = removed.tokens
    forms, of = tokens.forms, tokens.document
    gone: defaultdict[int, dict[str, int]] = defaultdict(dict)
    for x in np.flatnonzero(names[removed.type]).tolist():
        for word in _names_in(forms[tokens.form[x]])[0]:
            gone[int(of[x])].setdefault(word, int(removed.type[x]))
    wanted = {word for words in gone.values() for word in words}
    found = np.zeros(len(tokens), dtype=np.int16)
    if not wanted:
        return found
    may = np.zeros(len(forms), dtype=np.bool_)
    for number in np.unique(tokens.form).tolist():
        may[number] = not wanted.isdisjoint(_names_in(forms[number])[1])
    for x in np.flatnonzero(may[tokens.form] & (removed.type == 0)).tolist():
        known = gone[int(of[x])]
        found[x] = next(
            (
                known[word]
                for word in _names_in(forms[tokens.form[x]])[1]
                if word in known and not (len(word) == SHORT and _is_word(tokens, forms, x, word))
            ),
            0,
        )
    return found


@lru_cache(maxsize=1 << 16)
def _names_in(form: str) -> tuple[tuple[str, ...], tuple[str, ...]]:
    """Return the words of a token that are names where it was removed, and where it was left.

    A word is a run of letters: Ruiz in Ruiz_2020. Written as a name is one with a capital in three
    letters or more, compared without capitals and accents; one of a capital and a small letter,
    compared as it is; one of a script without capitals in three letters, or two ideographs, or
    more. In what was left, words that are joined to something may be in small letters.

    >>> _names_in("Núñez"), _names_in("nunez"), _names_in("ruiz_Wu")
    ((('nunez',), ('nunez',)), ((), ()), (('Wu',), ('ruiz', 'Wu')))
    """
    words = [] if is_mark(form) else [word for word in _PARTS.split(form) if word]
    named = [name for word in words if (name := _name_of(word))]
    if words in ([], [form]):
        return tuple(named), tuple(named)
    small = [_name_of(word) or (folded(word) if len(word) > SHORT else "") for word in words]
    return tuple(named), tuple(word for word in small if word)


def _name_of(word: str) -> str:
    """Return a word that is written as a name as it is compared; of another, nothing."""
    small = word.lower()
    if small == word.upper():
        wide = east_asian_width(word[0]) == "W"
        return folded(word) if len(word) > SHORT or (wide and len(word) == SHORT) else ""
    if len(word) == SHORT:
        return word if word == word.capitalize() else ""
    return folded(word) if len(word) > SHORT and small != word else ""


def _is_word(tokens: Tokens, forms: Sequence[str], at: int, short: str) -> bool:
    """Say whether the document of a token has a short name in small letters: Do, An."""
    small, number = short.lower(), int(tokens.document[at])
    here = tokens.form[slice(*tokens.first[number : number + 2])]
    return small != short and any(forms[n] == small for n in here.tolist())


def _repeated(
    removed: Removed, again: NDArray[np.int16], document: int, labels: Sequence[str]
) -> list[Removal]:
    start, end = removed.tokens.first[document : document + 2]
    return [
        Removal(
            int(removed.tokens.starts[x]), int(removed.tokens.ends[x]), labels[again[x] - 1], REPEAT
        )
        for x in (np.flatnonzero(again[start:end]) + start).tolist()
    ]


class Workers:
    """Put documents through a recipe in several processes; what comes out is the same.

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
        ends = np.cumsum([len(one.text) for one in documents])
        goals = np.linspace(0, ends[-1] if len(ends) else 0, PARTS * self._jobs + 1)
        cuts = [0, *np.searchsorted(ends, goals[1:-1]).tolist(), len(documents)]
        parts = [documents[a:b] for a, b in pairwise(cuts) if b > a]
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
        self._pool.shutdown(cancel_futures=True)


def _all(parts: Iterable[Future[list[Done]]]) -> list[Done]:
    try:
        return [one for part in parts for one in part.result()]
    except BrokenProcessPool:
        raise RequestError(
            "a process that worked on documents was ended from outside, perhaps for want of memory",
            instead="use one job, or shorter documents",
        ) from None


_worker: Worker


def _begin(recipe: Recipe) -> None:
    global _worker
    signal.signal(signal.SIGINT, signal.SIG_IGN)  # Ctrl-C is for who waits for the work
    Thread(target=_end_with_parent, daemon=True).start()
    _worker = Worker(recipe)


def _end_with_parent() -> None:
    """End when the parent does: it may be killed, and its locks are held here as well."""
    if (parent := parent_process()) is not None:
        wait([parent.sentinel])
        os._exit(1)


def _work(documents: Sequence[Document]) -> list[Done]:
    return _worker(documents)
