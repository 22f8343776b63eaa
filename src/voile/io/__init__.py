"""Readers and writers, one file a format, and outputs that appear whole or not at all.

What is named here loads on first use, so that importing this package stays cheap.
"""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from voile.io.atomic import Staging
    from voile.io.frames import to_frame
    from voile.io.opening import open_source
    from voile.io.source import Source
    from voile.io.writers import open_writer, publishing

_PLACES = {
    "Source": "source",
    "Staging": "atomic",
    "open_source": "opening",
    "open_writer": "writers",
    "publishing": "writers",
    "to_frame": "frames",
}

__all__ = ["Source", "Staging", "open_source", "open_writer", "publishing", "to_frame"]


def __getattr__(name: str) -> Any:
    if name not in _PLACES:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    return getattr(import_module(f"{__name__}.{_PLACES[name]}"), name)
