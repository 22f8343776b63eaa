"""How far long work has come: a callable that the faces supply and the wings call."""

from __future__ import annotations

from typing import Protocol


class Progress(Protocol):
    """Hear that `done` of `total` units of `task` are through; `total` is None when unknown."""

    def __call__(self, task: str, done: float, total: float | None = None) -> None:
        """Show it; must be cheap, and may be called often."""


def silent(task: str, done: float, total: float | None = None) -> None:
    """Show nothing."""
