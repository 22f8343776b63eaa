"""The documents wing as the ground floor sees it: five functions, their options, and a check.

A function's code loads when it is first asked for, so that `--help` is quick.
"""

from __future__ import annotations

from voile.core.lazy import VERBS, lazily
from voile.documents.verbs.options import AXES, ApplyOptions, AttackOptions, FitOptions

KIND = "documents"
SUMMARY = "free text: notes, e-mails, rulings"
WAYS = ("max_relative_risk", "max_loss", "policy", "least_loss", "knee")

__all__ = ["AXES", "KIND", "SUMMARY", "WAYS", "ApplyOptions", "AttackOptions", "FitOptions"]

__getattr__ = lazily(__name__, {**VERBS, "open_source": "text.source"}, package="voile.documents")
