"""The registry of modules: one module for each kind of data."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING

from voile.core.errors import RequestError
from voile.documents.module import DOCUMENTS
from voile.itemsets.module import ITEMSETS
from voile.signals.module import SIGNALS
from voile.tables.module import TABLES

if TYPE_CHECKING:
    from voile.release.module import AnyModule
    from voile.release.verb_types import OpenSource

MODULES: Mapping[str, AnyModule] = {one.kind: one for one in (DOCUMENTS, ITEMSETS, SIGNALS, TABLES)}


def find_module(kind: str) -> AnyModule:
    """Return the module for a kind of data.

    Raises
    ------
    RequestError : there is no such kind of data.
    """
    if kind not in MODULES:
        raise RequestError(f"there is no kind of data {kind}", instead=f"use {', '.join(MODULES)}")
    return MODULES[kind]


def find_opener(kind: str | None) -> OpenSource:
    """Return the function that opens sources of a kind of data.

    If `kind` is None, return that of tables.
    """
    return find_module("tables" if kind is None else kind).open
