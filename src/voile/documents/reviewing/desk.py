"""A reviewer's view, and the effect of each key. Every stroke is saved before the next one."""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime
from itertools import takewhile
from typing import Literal

from voile.core.errors import RequestError
from voile.core.wording import count
from voile.documents.reviewing.agreement import adjudicate
from voile.documents.reviewing.line import BLIND, Purpose, ReviewAnswer, ReviewLine, ShownSpan
from voile.documents.reviewing.store import ReviewStore
from voile.documents.reviewing.words import Place, clear, label_at, mark, occurrences, words_of
from voile.localpage.guard import StaleError

Act = Literal["mark", "clear", "confirm", "sheet", "unsure", "all", "never", "undo"]
SHEET = 12
"""The most lines on a sheet. Each of them is about a word or two."""


@dataclass(frozen=True)
class KeyStroke:
    """A key stroke on the page.

    Parameters
    ----------
    line, key : the line on the page when the key was pressed, and the number of the last stroke on
        it.
    words : the range of the line's words that the stroke is about, from the first to before the
        last.
    label : the type, for `mark`.
    until : the last line on the page, for `sheet`.
    """

    act: Act
    line: int
    key: int
    words: Place = (0, 0)
    label: str = ""
    until: int = 0


@dataclass(frozen=True)
class LineView:
    """The current view of a line for a reviewer."""

    line: ReviewLine
    spans: tuple[ShownSpan, ...]
    key: int  # the number of the last stroke on the line; 0 if there is none

    @property
    def words(self) -> list[Place]:
        return words_of(self.line.text, (*self.line.proposals, *self.spans))


class ReviewDesk:
    """A desk that gives each reviewer one line of a store at a time, and saves the answers.

    Parameters
    ----------
    more : called when no line is waiting. It adds lines to the store, and returns whether it did.
        It continues from the earlier answers. These can no longer be undone, they are not
        adjudicated, and all of them count.
    """

    def __init__(
        self,
        store: ReviewStore,
        purposes: Sequence[Purpose],
        more: Callable[[], bool] | None = None,
        clock: Callable[[], float] = time.monotonic,
    ) -> None:
        self.store = store
        self._more = more
        self.purposes = (*purposes, "adjudication")
        self._own = tuple(purposes)
        self._clock = clock
        # each reviewer's open line, and the time it was opened
        self._open: dict[str, tuple[int, float]] = {}
        self._sheets: dict[str, list[int]] = {}  # the other lines on each reviewer's sheet

    def look(self, reviewer: str) -> LineView | None:
        """Return the open line of a reviewer, or else the next line; None if no line is waiting."""
        if reviewer in self._open:
            mine = self.store.line(self._open[reviewer][0])
            if mine.batch >= self._since:
                return self._look(mine, reviewer)
            del self._open[reviewer]  # another reviewer answered it
        line = self._next(reviewer) or (self._next(reviewer) if self._adds() else None)
        if line is None:
            return None
        self._open[reviewer] = line.number, self._clock()
        return self._look(line, reviewer)

    def sheet(self, look: LineView, reviewer: str) -> list[LineView]:
        """Return the views of the lines that are read together with an open line.

        They are the next lines up to the first with a mark. There are none if each line is read as
        a whole.
        """
        following: list[ReviewLine] = []
        if look.line.purpose in BLIND:
            given = (SHEET - 1, self._of_others(reviewer))
            following = self.store.following(look.line, reviewer, *given)
        looks = [self._look(one, reviewer) for one in following]
        found = list(takewhile(lambda one: not one.spans, looks))
        self._sheets[reviewer] = [one.line.number for one in found]
        return found

    def _of_others(self, reviewer: str) -> list[int]:
        """Return the lines that other reviewers see now."""
        open_ = [line for name, (line, _) in self._open.items() if name != reviewer]
        return [*open_, *(n for name, own in self._sheets.items() if name != reviewer for n in own)]

    def _next(self, reviewer: str) -> ReviewLine | None:
        return self.store.next_for(reviewer, self.purposes, self._of_others(reviewer))

    def _adds(self) -> bool:
        return bool(adjudicate(self.store, self._own)) if self._more is None else self._more()

    @property
    def _since(self) -> int:
        """The first batch with answers that may still change."""
        return 0 if self._more is None else max(map(self.store.last_batch, self._own))

    def strike(self, reviewer: str, stroke: KeyStroke) -> str:
        """Perform the action of a key, save it, and return a message about it.

        Raises
        ------
        StaleError : the page showed another line than the one that is open to this reviewer.
        """
        if stroke.act == "undo":
            return self._undo(reviewer)
        look = self.look(reviewer)
        if look is None or (look.line.number, look.key) != (stroke.line, stroke.key):
            raise StaleError("this line changed in another window", instead="look at it again")
        if stroke.act in ("confirm", "unsure"):
            return self._confirm(reviewer, look, unsure=stroke.act == "unsure")
        if stroke.act == "sheet":
            return self._confirm_sheet(reviewer, look, stroke.until)
        place = _place(look, stroke.words)
        if stroke.act in ("all", "never"):
            return self._answer_everywhere(reviewer, look, place, never=stroke.act == "never")
        return self._edit(reviewer, look, place, stroke.label)

    def _look(self, line: ReviewLine, reviewer: str) -> LineView:
        key = self.store.last_key(line.number, reviewer)
        if last := self.store.shown_to(line.number, reviewer):
            return LineView(line, last.spans, key)
        spans = line.proposals
        for place in occurrences(line.text, self.store.never):
            spans = clear(line.text, spans, place)
        return LineView(line, spans, key)

    def _edit(self, reviewer: str, look: LineView, place: Place, label: str) -> str:
        text = look.line.text
        spans = mark(text, look.spans, place, label) if label else clear(text, look.spans, place)
        self.store.answer(look.line.number, reviewer, spans, final=False)
        return f"marked {label}" if label else "cleared"

    def _confirm(self, reviewer: str, look: LineView, *, unsure: bool) -> str:
        _, since = self._open[reviewer]
        seconds = round(self._clock() - since, 1)
        number = look.line.number
        self.store.answer(number, reviewer, look.spans, unsure=unsure, seconds=seconds)
        del self._open[reviewer]
        return "left undecided" if unsure else "confirmed"

    def _confirm_sheet(self, reviewer: str, look: LineView, until: int) -> str:
        """Confirm all visible lines with one stroke."""
        looks = [look, *self.sheet(look, reviewer)]
        if looks[-1].line.number != until:
            raise StaleError("these lines changed in another window", instead="look at them again")
        seconds = (self._clock() - self._open[reviewer][1]) / len(looks)
        answers = [_answer(one, reviewer, one.spans, round(seconds, 1)) for one in looks]
        self.store.answer_all([(one, True) for one in answers])
        del self._open[reviewer]
        return f"{count(len(looks), 'line')} confirmed"

    def _answer_everywhere(
        self, reviewer: str, look: LineView, place: Place, *, never: bool
    ) -> str:
        """Give a word the same answer in every waiting line.

        With `never` it is harmless everywhere.
        """
        label = None if never else label_at(look.spans, place)
        word = look.line.text[slice(*place)]
        own = _answer(look, reviewer, _with(look, [place], label))
        others = [
            (_answer(one, reviewer, changed), one.line.text.strip() == word)
            for one in self._waiting_with(word, reviewer, apart_from=look.line.number)
            if (changed := _change_spans(one, word, label)) is not None
        ]
        self.store.answer_all([(own, False), *others], never=word if never else "")
        said = "never an identifier" if never else f"{label or 'harmless'} everywhere"
        return f"{said}: {count(len(others), 'other line')} changed"

    def _waiting_with(self, word: str, reviewer: str, *, apart_from: int) -> Iterator[LineView]:
        for purpose in self.purposes:
            lines = self.store.lines(purpose=purpose, waiting_for=reviewer, containing=word)
            yield from (self._look(one, reviewer) for one in lines if one.number != apart_from)

    def _undo(self, reviewer: str) -> str:
        line = self.store.undo(reviewer, since=self._since)
        if line is None:
            return "nothing to undo"
        if self._open.get(reviewer, (0, 0))[0] != line.number:
            self._open[reviewer] = line.number, self._clock()
        return "undone"


def _place(look: LineView, words: Place) -> Place:
    first, last = words
    known = look.words
    if not 0 <= first < last <= len(known):
        raise RequestError("there are no such words in this line", instead="load the page again")
    return known[first][0], known[last - 1][1]


def _with(look: LineView, places: Sequence[Place], label: str | None) -> tuple[ShownSpan, ...]:
    text, spans = look.line.text, look.spans
    for place in places:
        spans = clear(text, spans, place) if label is None else mark(text, spans, place, label)
    return spans


def _change_spans(look: LineView, word: str, label: str | None) -> tuple[ShownSpan, ...] | None:
    """Return the spans after the word gets this type; None if nothing changes."""
    places = [*occurrences(look.line.text, [word])]
    spans = _with(look, places, label)
    is_answered = look.line.text.strip() == word  # the line asks only about this word
    return spans if spans != look.spans or is_answered else None


def _answer(
    look: LineView, reviewer: str, spans: tuple[ShownSpan, ...], seconds: float = 0.0
) -> ReviewAnswer:
    at = datetime.now(UTC).isoformat(timespec="seconds")
    return ReviewAnswer(look.line.number, reviewer, at, spans, False, seconds)
