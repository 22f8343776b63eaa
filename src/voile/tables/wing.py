"""The tables wing as the ground floor sees it: five functions, their options, and a check."""

from __future__ import annotations

from typing import TYPE_CHECKING

from voile.core.lazy import VERBS, lazily
from voile.tables.verbs.options import ApplyOptions, AttackOptions, FitOptions

if TYPE_CHECKING:
    from voile.tables.verbs.apply import apply, prepare
    from voile.tables.verbs.attack import attack
    from voile.tables.verbs.choose import choose
    from voile.tables.verbs.fit import fit
    from voile.tables.verbs.report import sections
    from voile.tables.verbs.verify import verify

KIND = "tables"
SUMMARY = "records with quasi-identifiers: age, sex, race, ZIP code"
WAYS = ("max_risk", "max_relative_risk", "max_loss", "beats", "policy", "least_loss", "knee")

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
    "fit",
    "prepare",
    "sections",
    "verify",
]

__getattr__ = lazily(__name__, VERBS, package="voile.tables")
