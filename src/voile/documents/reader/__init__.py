"""A small frozen encoder that turns tokens into vectors of their context: see `README.md`."""

from __future__ import annotations

from typing import TYPE_CHECKING

from voile.core.lazy import lazily

if TYPE_CHECKING:
    from voile.documents.reader.encoder import TextEncoder, encode_tokens
    from voile.documents.reader.installed import InstalledReader, find_reader

__all__ = ["InstalledReader", "TextEncoder", "encode_tokens", "find_reader"]

__getattr__ = lazily(
    __name__,
    {
        "InstalledReader": "installed",
        "TextEncoder": "encoder",
        "encode_tokens": "encoder",
        "find_reader": "installed",
    },
)
