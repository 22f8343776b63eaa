"""Compute the next batch from the answers so far in another process, while reading continues."""

from __future__ import annotations

import os
from collections.abc import Callable, Mapping, Sequence
from concurrent.futures import Future, ProcessPoolExecutor
from concurrent.futures.process import BrokenProcessPool
from dataclasses import dataclass
from multiprocessing import get_all_start_methods, get_context
from typing import TypeAlias

from voile.core.errors import VoileError
from voile.core.workers import begin_worker, starting_workers
from voile.documents.reviewing.line import ReviewAnswer, ReviewLine

LATER = 10  # niceness, so that keys are answered first


@dataclass(frozen=True)
class ReviewState:
    """The lines and answers of a review so far.

    Parameters
    ----------
    lines : all lines that were handed out, read or not; none of them is handed out again.
    answers : the valid answer for a line, by the line's number.
    never : words that reviewers marked as harmless everywhere.
    batch : the number of the requested batch, from 1.
    tokens : the approximate size of the batch; 0 if the call only learns from the answers.
    """

    lines: Sequence[ReviewLine]
    answers: Mapping[int, ReviewAnswer]
    never: frozenset[str]
    batch: int
    tokens: int


Refit: TypeAlias = Callable[[ReviewState], Sequence[ReviewLine]]
"""A function that learns from the answers, and returns the lines of the next batch in order.

It returns no lines if no line is worth reading. It runs in its own process, which it may slow down
and fill.
"""


class RefitProcess:
    """A process that runs one refit at a time. It starts now and ends with this process.

    Parameters
    ----------
    prepare : called once in the process. It loads the data that all refits need, and returns the
        `Refit`.
    """

    def __init__(self, prepare: Callable[[], Refit]) -> None:
        # With a fork, `prepare` is not pickled, and its data are not sent.
        context = get_context("fork" if "fork" in get_all_start_methods() else "spawn")
        self._pool = ProcessPoolExecutor(
            1, mp_context=context, initializer=_begin, initargs=(prepare,)
        )
        with starting_workers():
            self._pool.submit(_ready)
        self._running: Future[Sequence[ReviewLine]] | None = None

    @property
    def is_running(self) -> bool:
        return self._running is not None and not self._running.done()

    def begin(self, reading: ReviewState) -> None:
        """Begin a refit. Its lines are available when it has ended."""
        try:
            self._running = self._pool.submit(_do, reading)
        except BrokenProcessPool:
            raise _report_kill() from None

    def take(self) -> Sequence[ReviewLine] | None:
        """Return the lines of a finished refit once; None if there are none.

        Raises
        ------
        VoileError : the refit failed.
        """
        if self._running is None or not self._running.done():
            return None
        ended, self._running = self._running, None
        return _result(ended)

    def close(self) -> None:
        self._pool.shutdown(cancel_futures=True)


def _result(ended: Future[Sequence[ReviewLine]]) -> Sequence[ReviewLine]:
    try:
        return ended.result()
    except VoileError:
        raise
    except BrokenProcessPool:
        raise _report_kill() from None
    except Exception as error:
        raise VoileError(f"the refit failed ({type(error).__name__})") from error


def _report_kill() -> VoileError:
    return VoileError(
        "the refit was killed, perhaps for lack of memory",
        instead="every answer is saved; run the command again",
    )


_prepare: Callable[[], Refit]
_refit: Refit | None = None


def _begin(prepare: Callable[[], Refit]) -> None:
    global _prepare
    begin_worker()
    if hasattr(os, "nice"):
        os.nice(LATER)
    _prepare = prepare


def _ready() -> None:
    global _refit
    _refit = _prepare()


def _do(reading: ReviewState) -> Sequence[ReviewLine]:
    if _refit is None:
        _ready()  # the first attempt failed; this one may raise the reason
    assert _refit is not None
    return _refit(reading)
