"""Report the progress of long work through a callable that each interface supplies."""

from __future__ import annotations

from typing import Protocol


class ProgressHook(Protocol):
    """A callable that receives the progress of a task: `done` of `total` units.

    `total` is None if it is unknown.
    """

    def __call__(self, task: str, done: float, total: float | None = None) -> None:
        """Show the progress. The call must be cheap, because it may be frequent."""


class ProgressSteps:
    """A counter that reports the steps of a task one after the other, each with its number.

    >>> step = ProgressSteps(lambda task, done, total=None: print(task), 2)
    >>> step("linking"), step("singling out")
    linking (1 of 2)
    singling out (2 of 2)
    (None, None)
    """

    def __init__(self, progress: ProgressHook, total: int) -> None:
        self._progress, self._total, self._begun = progress, total, 0

    def __call__(self, task: str) -> None:
        """Begin the next step."""
        self._begun += 1
        self._progress(f"{task} ({self._begun} of {self._total})", 0)


def silent(task: str, done: float, total: float | None = None) -> None:
    """Ignore the progress."""
