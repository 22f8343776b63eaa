"""The tables wing as the faces see it: its verbs and their options, loaded when asked for."""

from __future__ import annotations

from voile.core.lazy import VERBS, lazily
from voile.tables.verbs.options import AXES, ApplyOptions, AssessOptions, AttackOptions, FitOptions

KIND = "tables"
SUMMARY = "records with quasi-identifiers: age, sex, race, ZIP code"
WAYS = ("max_risk", "max_relative_risk", "max_loss", "beats", "policy", "least_loss", "knee")

__all__ = [
    "AXES",
    "KIND",
    "SUMMARY",
    "WAYS",
    "ApplyOptions",
    "AssessOptions",
    "AttackOptions",
    "FitOptions",
]

__getattr__ = lazily(
    __name__,
    {**VERBS, "expand": "verbs.expand", "judge": "verbs.judging", "choose_after": "verbs.after"},
    package="voile.tables",
)
