"""The one list of the kinds of data, and how the code of one is loaded without naming it."""

from __future__ import annotations

from collections.abc import Mapping
from importlib import import_module
from typing import Any

from voile.core.errors import RequestError

KINDS: Mapping[str, str] = {
    "documents": "voile.documents.wing",
    "itemsets": "voile.itemsets.wing",
    "signals": "voile.signals.wing",
    "tables": "voile.tables.wing",
}
"""Where each kind's wing is; adding one is one line here."""


def load(kind: str) -> Any:
    """Load the wing of this kind, a `voile.wings.Wing`; only now is its code imported.

    Raises
    ------
    RequestError : this voile has no such wing.
    """
    if kind not in KINDS:
        raise RequestError(f"there is no kind of data {kind}", instead=f"use {', '.join(KINDS)}")
    return import_module(KINDS[kind])
