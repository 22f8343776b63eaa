"""De-identification policies for tables of people, as bit-strings over ordered domains."""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from voile.tables.bounds import bound
    from voile.tables.counts import Constraints
    from voile.tables.generalising import generalise
    from voile.tables.hipaa import safe_harbor
    from voile.tables.policy import Policy
    from voile.tables.searches import search
    from voile.tables.space import PolicySpace

_PLACES = {
    "Constraints": "counts",
    "Policy": "policy",
    "generalise": "generalising",
    "PolicySpace": "space",
    "bound": "bounds",
    "safe_harbor": "hipaa",
    "search": "searches",
}

__all__ = ["Constraints", "Policy", "PolicySpace", "bound", "generalise", "safe_harbor", "search"]


def __getattr__(name: str) -> Any:
    if name not in _PLACES:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    return getattr(import_module(f"{__name__}.{_PLACES[name]}"), name)
