"""The itemsets wing as the ground floor sees it: five functions, their options, and a check.

A function's code loads when it is first asked for, so that `--help` is quick.
"""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING, Any

from voile.itemsets.options import ApplyOptions, AttackOptions, FitOptions

if TYPE_CHECKING:
    from voile.itemsets.applying import apply
    from voile.itemsets.attacking import attack
    from voile.itemsets.fitting import choose, fit
    from voile.itemsets.report import sections
    from voile.itemsets.verifying import verify

KIND = "itemsets"
SUMMARY = "sparse 0/1 rows with a class label: purchases, searches, diagnoses, words"

_PLACES = {
    "apply": "applying",
    "attack": "attacking",
    "choose": "fitting",
    "fit": "fitting",
    "sections": "report",
    "verify": "verifying",
}

__all__ = [
    "KIND",
    "SUMMARY",
    "ApplyOptions",
    "AttackOptions",
    "FitOptions",
    "apply",
    "attack",
    "choose",
    "fit",
    "sections",
    "verify",
]


def __getattr__(name: str) -> Any:
    if name not in _PLACES:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    return getattr(import_module(f"voile.itemsets.{_PLACES[name]}"), name)
