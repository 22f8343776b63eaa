"""How far long work has come: a callable that the faces supply and the wings call."""

from __future__ import annotations

from typing import Protocol


class ProgressHook(Protocol):
    """Hear that `done` of `total` units of `task` are through; `total` is None when unknown."""

    def __call__(self, task: str, done: float, total: float | None = None) -> None:
        """Show it; must be cheap, and may be called often."""


class ProgressSteps:
    """Name one step of several after the other, each with its place among them.

    >>> step = ProgressSteps(lambda task, done, total=None: print(task), 2)
    >>> step("linking"), step("singling out")
    linking (1 of 2)
    singling out (2 of 2)
    (None, None)
    """

    def __init__(self, progress: ProgressHook, total: int) -> None:
        self._progress, self._total, self._begun = progress, total, 0

    def __call__(self, task: str) -> None:
        """Begin the next."""
        self._begun += 1
        self._progress(f"{task} ({self._begun} of {self._total})", 0)


def silent(task: str, done: float, total: float | None = None) -> None:
    """Show nothing."""
