"""Measure the finished and the remaining reading."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from math import ceil

from voile.documents.reviewing.agreement import agreement
from voile.documents.reviewing.line import Purpose
from voile.documents.reviewing.store import ReviewStore
from voile.documents.reviewing.words import words_of

KNOWN = 10
"""The number of answers after which the pace is known."""
PAUSE = 60.0
"""The seconds on a line beyond which its reviewer probably took a break."""


@dataclass(frozen=True)
class ReviewStanding:
    """The finished and remaining work, in tokens and lines.

    Parameters
    ----------
    read, goal : tokens. The goal is the store's size if no goal is set, or if the store is larger.
    lines : the lines that wait for this reviewer.
    minutes : the minutes to the goal at the current pace; 0 if the pace is unknown.
    agreed, compared : the lines on which all reviewers agree, and the lines with several reviewers.
    """

    read: int
    goal: int
    lines: int
    minutes: int
    agreed: int
    compared: int


class LineCounts:
    """Cached counts of the lines of some purposes.

    They are updated only after lines are added, or an answer is given or undone.
    """

    def __init__(self, store: ReviewStore, purposes: Sequence[Purpose], goal: int) -> None:
        self._store, self._purposes, self._goal = store, tuple(purposes), goal
        self._sizes: dict[int, int] = {}  # the number of tokens of each line
        self._at: tuple[int, ...] = ()
        self._counted: dict[str, ReviewStanding] = {}

    def standing(self, reviewer: str) -> ReviewStanding:
        if self._at != (now := self._store.state):
            self._at, self._counted = now, {}
        if reviewer not in self._counted:
            self._counted[reviewer] = self._count(reviewer)
        return self._counted[reviewer]

    def to_hand_out(self, most: int) -> int:
        """Return the tokens that the goal needs beyond those in the store, at most `most`."""
        handed = sum(map(self._size, self._store.reviewers(self._purposes)))
        return min(most, max(0, self._goal - handed)) if self._goal else most

    def unread(self, batch: int) -> float:
        """Return the share of a batch, in tokens, without an answer."""
        by = self._store.reviewers(self._purposes, batch=batch)
        unread = sum(self._size(number) for number, reviewers in by.items() if not reviewers)
        return unread / max(1, sum(map(self._size, by)))

    def _count(self, reviewer: str) -> ReviewStanding:
        by = self._store.reviewers(self._purposes)
        read = sum(self._size(number) for number, reviewers in by.items() if reviewers)
        goal = max(self._goal, sum(map(self._size, by)))
        several = any(len(reviewers) > 1 for reviewers in by.values())
        agreed = agreement(self._store, self._purposes) if several else (0, 0)
        lines = self._store.waiting(reviewer, (*self._purposes, "adjudication"))
        return ReviewStanding(read, goal, lines, self._minutes(read, goal), *agreed)

    def _minutes(self, read: int, goal: int) -> int:
        answers, seconds = self._store.pace(self._purposes, longest=PAUSE)
        return 0 if answers < KNOWN else ceil(max(0, goal - read) * seconds / read / 60)

    def _size(self, number: int) -> int:
        if number not in self._sizes:
            self._sizes[number] = len(words_of(self._store.line(number).text))
        return self._sizes[number]
