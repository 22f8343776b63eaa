"""What comes in the place of what was removed: marks, categories or surrogates."""

from voile.documents.replacements.kinds import KINDS, kind_of
from voile.documents.replacements.marks import Categories, Marks
from voile.documents.replacements.names import Names
from voile.documents.replacements.published import Edit, PublishedText
from voile.documents.replacements.removal import Reason, Removal
from voile.documents.replacements.replacer import HOW, Replacer, make_replacer
from voile.documents.replacements.spans import complete_units, join_adjacent, settle_spans
from voile.documents.replacements.surrogates import Surrogates

__all__ = [
    "HOW",
    "KINDS",
    "Categories",
    "Edit",
    "Marks",
    "Names",
    "PublishedText",
    "Reason",
    "Removal",
    "Replacer",
    "Surrogates",
    "complete_units",
    "join_adjacent",
    "kind_of",
    "make_replacer",
    "settle_spans",
]
