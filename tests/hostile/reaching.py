"""Find all objects that can be reached from a value that voile returns."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

import numpy as np


def reachable(thing: Any, seen: dict[int, Any]) -> Iterator[Any]:
    """Yield every object of a class of ours that can be reached from one."""
    if id(thing) in seen or isinstance(thing, str | bytes | int | float | np.ndarray | None):
        return
    seen[id(thing)] = thing
    ours = type(thing).__module__.startswith("voile")
    if ours:
        yield thing
    if isinstance(thing, Mapping):
        parts = [*thing.keys(), *thing.values()]
    elif isinstance(thing, list | tuple | set | frozenset):
        parts = list(thing)
    elif ours and not isinstance(thing, type):
        slots = [s for kind in type(thing).__mro__ for s in getattr(kind, "__slots__", ())]
        parts = [getattr(thing, slot) for slot in slots if hasattr(thing, slot)]
        parts += list(getattr(thing, "__dict__", {}).values())
    else:
        parts = []
    for part in parts:
        yield from reachable(part, seen)
