"""The tables wing as the ground floor sees it: five functions, and their options."""

from __future__ import annotations

from voile.tables.applying import apply
from voile.tables.attacking import attack
from voile.tables.content import KIND
from voile.tables.fitting import choose, fit
from voile.tables.options import ApplyOptions, AttackOptions, FitOptions
from voile.tables.report import sections
from voile.tables.verifying import verify

SUMMARY = "records with quasi-identifiers: age, sex, race, ZIP code"

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
