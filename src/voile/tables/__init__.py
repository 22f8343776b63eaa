"""De-identification policies for tables of people, as bit-strings over ordered domains."""

from __future__ import annotations

from typing import TYPE_CHECKING

from voile.core.lazy import lazily

if TYPE_CHECKING:
    from voile.tables.bounds import bound
    from voile.tables.counts import Constraints
    from voile.tables.generalising import generalise
    from voile.tables.hipaa import safe_harbor
    from voile.tables.policy import Policy
    from voile.tables.searches import search
    from voile.tables.space import PolicySpace

__all__ = ["Constraints", "Policy", "PolicySpace", "bound", "generalise", "safe_harbor", "search"]

__getattr__ = lazily(
    __name__,
    {
        "Constraints": "counts",
        "Policy": "policy",
        "generalise": "generalising",
        "PolicySpace": "space",
        "bound": "bounds",
        "safe_harbor": "hipaa",
        "search": "searches",
    },
)
