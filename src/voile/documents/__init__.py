"""Sanitise text about people until an attacker can learn no more from it."""

from __future__ import annotations

from typing import TYPE_CHECKING

from voile.core.lazy import lazily

if TYPE_CHECKING:
    from voile.documents.attack.budgeted import BudgetedAttacker
    from voile.documents.face import accept, assess, fit, forecast, init, review
    from voile.documents.sanitizer import GreedySanitizer
    from voile.documents.text.corpus import Corpus
    from voile.documents.text.document import Document, Span
    from voile.documents.text.source import open_source

__all__ = [
    "BudgetedAttacker",
    "Corpus",
    "Document",
    "GreedySanitizer",
    "Span",
    "accept",
    "assess",
    "fit",
    "forecast",
    "init",
    "open_source",
    "review",
]

__getattr__ = lazily(
    __name__,
    {
        "BudgetedAttacker": "attack.budgeted",
        "Corpus": "text.corpus",
        "Document": "text.document",
        "GreedySanitizer": "sanitizer",
        "Span": "text.document",
        "open_source": "text.source",
        **dict.fromkeys(("accept", "assess", "fit", "forecast", "init", "review"), "face"),
    },
)
