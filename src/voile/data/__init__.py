"""Readers and writers, one file for each format, with outputs that appear complete or not at all.

Names are loaded on first use, so that importing this package is cheap.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from voile.core.lazy import lazily

if TYPE_CHECKING:
    from voile.data.files.atomic import Staging
    from voile.data.frames import to_frame
    from voile.data.opening import open_source
    from voile.data.source import Source
    from voile.data.writing.writers import open_writer, publishing

__all__ = [
    "Source",
    "Staging",
    "open_source",
    "open_writer",
    "publishing",
    "to_frame",
]

__getattr__ = lazily(
    __name__,
    {
        "Source": "source",
        "Staging": "files.atomic",
        "open_source": "opening",
        "open_writer": "writing.writers",
        "publishing": "writing.writers",
        "to_frame": "frames",
    },
)
