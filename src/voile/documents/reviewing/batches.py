"""Keep lines available until the goal is reached. A refit begins before the last line is read."""

from __future__ import annotations

from collections.abc import Callable

from voile.core.errors import VoileError
from voile.documents.reviewing.agreement import settle_answers
from voile.documents.reviewing.line import Purpose
from voile.documents.reviewing.progress import LineCounts
from voile.documents.reviewing.refitting import Refit, RefitProcess, ReviewState
from voile.documents.reviewing.store import ReviewStore

FIRST = 1000
"""The tokens of the first batch; each later batch has twice as many tokens as the previous one."""
EARLY = 0.25
"""The unread share of a batch at which the next batch is requested."""
LEARNT = "learnt"
"""The fact in a store that records the answers on which a kit was trained."""


class ReviewBatches:
    """A controller that requests the next batch in time, and adds its lines when they are ready.

    Parameters
    ----------
    notify : a function that receives a sentence about each failure.
    """

    def __init__(
        self,
        store: ReviewStore,
        purpose: Purpose,
        counts: LineCounts,
        refitting: RefitProcess,
        notify: Callable[[str], None],
    ) -> None:
        self._store, self._purpose, self._counts = store, purpose, counts
        self._refitting, self._notify = refitting, notify
        self._is_over = False

    @property
    def is_learning(self) -> bool:
        return self._refitting.is_running

    def refill(self) -> None:
        """Add the lines of a finished refit, and begin a refit when it is due."""
        try:
            lines = self._refitting.take()
            if lines is not None:
                self._is_over = not self._store.add(lines, batch=self._batch + 1)
            if not self.is_learning and not self._is_over and self._is_time():
                self._refitting.begin(self._reading(self._next_tokens))
        except VoileError as error:
            self._is_over = True
            self._notify(f"{error}; the lines at hand are read in their order")

    def finish(self, refit: Refit) -> None:
        """Learn, in this process, from the answers on which no kit was trained."""
        answers, *_ = now = self._store.state
        learnt, state = self._store.meta.get(LEARNT), str(now)
        if learnt != state and (answers or learnt):
            refit(self._reading(0))
            self._store.note(LEARNT, state)

    def _is_time(self) -> bool:
        return self._next_tokens > 0 and self._counts.unread(self._batch) <= EARLY

    @property
    def _next_tokens(self) -> int:
        return self._counts.to_hand_out(FIRST << self._batch)

    def _reading(self, tokens: int) -> ReviewState:
        store = self._store
        answers = settle_answers(store, self._purpose)
        return ReviewState(store.lines(), answers, store.never, self._batch + 1, tokens)

    @property
    def _batch(self) -> int:
        return self._store.last_batch(self._purpose)
