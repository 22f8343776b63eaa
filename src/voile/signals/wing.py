"""The signals wing as the ground floor sees it: five functions, their options, and a check.

A function's code loads when it is first asked for, so that `--help` is quick.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from voile.core.lazy import VERBS, lazily
from voile.signals.verbs.options import ApplyOptions, AttackOptions, FitOptions

if TYPE_CHECKING:
    from voile.signals.verbs.apply import apply
    from voile.signals.verbs.attack import attack
    from voile.signals.verbs.decode import decode
    from voile.signals.verbs.fit import choose, fit
    from voile.signals.verbs.report import sections
    from voile.signals.verbs.verify import verify

KIND = "signals"
SUMMARY = "readings sent again and again to a recipient who knows each person's class"
WAYS = ("max_relative_risk", "max_loss", "policy", "knee")

__all__ = [
    "KIND",
    "SUMMARY",
    "WAYS",
    "ApplyOptions",
    "AttackOptions",
    "FitOptions",
    "apply",
    "attack",
    "choose",
    "decode",
    "fit",
    "sections",
    "verify",
]

__getattr__ = lazily(__name__, {**VERBS, "decode": "verbs.decode"}, package="voile.signals")
