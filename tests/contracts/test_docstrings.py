"""Test that every name that a user imports has a docstring."""

from __future__ import annotations

import importlib
import inspect
from collections.abc import Iterator

ROOMS = ("tables", "documents", "itemsets", "signals", "study")
MODULES = ("voile", *(f"voile.{room}" for room in ROOMS))


def _public() -> Iterator[tuple[str, object]]:
    """Yield each name that a user imports and, of classes, what they themselves define."""
    for module in map(importlib.import_module, MODULES):
        for name in module.__all__:
            thing = getattr(module, name)
            yield f"{module.__name__}.{name}", thing
            for own, member in vars(thing).items() if inspect.isclass(thing) else ():
                member = inspect.unwrap(getattr(member, "__func__", member))
                if own[0] != "_" and (inspect.isfunction(member) or isinstance(member, property)):
                    yield f"{module.__name__}.{name}.{own}", member


def test_every_public_name_has_a_docstring() -> None:
    assert [name for name, thing in _public() if not thing.__doc__] == []
