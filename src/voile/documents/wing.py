"""The documents wing as the ground floor sees it: five functions, their options, and a check.

A function's code loads when it is first asked for, so that `--help` is quick.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from voile.core.lazy import VERBS, lazily
from voile.documents.options import ApplyOptions, AttackOptions, FitOptions

if TYPE_CHECKING:
    from voile.documents.applying import apply
    from voile.documents.attacking import attack
    from voile.documents.fitting import choose, fit
    from voile.documents.report import sections
    from voile.documents.sources import open_source
    from voile.documents.verifying import verify

KIND = "documents"
SUMMARY = "free text: notes, e-mails, rulings"
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
    "fit",
    "open_source",
    "sections",
    "verify",
]

__getattr__ = lazily(__name__, {**VERBS, "open_source": "sources"}, package="voile.documents")
