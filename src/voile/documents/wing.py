"""The documents wing as the ground floor sees it: five functions, their options, and a check.

A function's code loads when it is first asked for, so that `--help` is quick.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from voile.core.lazy import VERBS, lazily
from voile.documents.verbs.options import ApplyOptions, AttackOptions, FitOptions

if TYPE_CHECKING:
    from voile.documents.text.source import open_source
    from voile.documents.verbs.apply import apply, prepare
    from voile.documents.verbs.attack import attack
    from voile.documents.verbs.choose import choose
    from voile.documents.verbs.fit import fit
    from voile.documents.verbs.report import sections
    from voile.documents.verbs.verify import verify

KIND = "documents"
SUMMARY = "free text: notes, e-mails, rulings"
WAYS = ("max_relative_risk", "max_loss", "policy", "least_loss", "knee")

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
    "prepare",
    "sections",
    "verify",
]

__getattr__ = lazily(__name__, {**VERBS, "open_source": "text.source"}, package="voile.documents")
