"""De-identification policies for tables of people, as bit-strings over ordered domains."""

from __future__ import annotations

from typing import TYPE_CHECKING

from voile.core.lazy import lazily

if TYPE_CHECKING:
    from voile.tables.face import assess, edit, fit, show
    from voile.tables.fitting.bounds.bound import bound
    from voile.tables.fitting.search import search
    from voile.tables.fitting.space import PolicySpace
    from voile.tables.people.counts import Constraints
    from voile.tables.policies.policy import Policy
    from voile.tables.policies.safe_harbor import safe_harbor
    from voile.tables.recoding.generalise import generalise

__all__ = [
    "Constraints",
    "Policy",
    "PolicySpace",
    "assess",
    "bound",
    "edit",
    "fit",
    "generalise",
    "safe_harbor",
    "search",
    "show",
]

__getattr__ = lazily(
    __name__,
    {
        "assess": "face",
        "edit": "face",
        "fit": "face",
        "show": "face",
        "Constraints": "people.counts",
        "Policy": "policies.policy",
        "PolicySpace": "fitting.space",
        "bound": "fitting.bounds.bound",
        "generalise": "recoding.generalise",
        "safe_harbor": "policies.safe_harbor",
        "search": "fitting.search",
    },
)
