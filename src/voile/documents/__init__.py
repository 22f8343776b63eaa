"""Text about people, sanitised until an attacker has nothing left to learn."""

from __future__ import annotations

from typing import TYPE_CHECKING

from voile.lazy import lazily

if TYPE_CHECKING:
    from voile.documents.attack import BudgetedAttacker
    from voile.documents.corpus import Corpus, Document, Span
    from voile.documents.sanitizer import GreedySanitizer

__all__ = ["BudgetedAttacker", "Corpus", "Document", "GreedySanitizer", "Span"]

__getattr__ = lazily(
    __name__,
    {
        "BudgetedAttacker": "attack",
        "Corpus": "corpus",
        "Document": "corpus",
        "GreedySanitizer": "sanitizer",
        "Span": "corpus",
    },
)
