"""Issue warnings that name the user's own line, however deep in voile they arise."""

from __future__ import annotations

import sys
import warnings

from voile.core.errors import as_called


class RecoveryWarning(UserWarning):
    """A killed run left a step half-done. This run finished or undid it. Do nothing."""


_HOME = {__name__.partition(".")[0], "contextlib"}  # its decorators are frames too


def warn(message: str, category: type[Warning]) -> None:
    """Issue a warning for the first line outside voile in the call stack."""
    level, frame = 2, sys._getframe(1)
    while frame.f_back is not None and _is_within(frame.f_globals.get("__name__", "")):
        level, frame = level + 1, frame.f_back
    warnings.warn(as_called(message), category, stacklevel=level)


def _is_within(module: str) -> bool:
    return module.partition(".")[0] in _HOME
