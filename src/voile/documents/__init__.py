"""Text about people, sanitised until an attacker has nothing left to learn."""

from __future__ import annotations

from typing import TYPE_CHECKING

from voile.core.lazy import lazily

if TYPE_CHECKING:
    from voile.documents.attack import BudgetedAttacker
    from voile.documents.corpus import Corpus, Document, Span
    from voile.documents.sanitizer import GreedySanitizer
    from voile.documents.sources import open_source

__all__ = ["BudgetedAttacker", "Corpus", "Document", "GreedySanitizer", "Span", "open_source"]

__getattr__ = lazily(
    __name__,
    {
        "BudgetedAttacker": "attack",
        "Corpus": "corpus",
        "Document": "corpus",
        "GreedySanitizer": "sanitizer",
        "Span": "corpus",
        "open_source": "sources",
    },
)
