"""What comes in the place of what was removed: marks, categories or surrogates."""

from voile.documents.replacements.kinds import KINDS, kind_of
from voile.documents.replacements.marks import Categories, Marks
from voile.documents.replacements.names import Names
from voile.documents.replacements.published import Edit, Published
from voile.documents.replacements.removal import Reason, Removal, joined, merged
from voile.documents.replacements.replacer import HOW, Replacer, replacer
from voile.documents.replacements.surrogates import Surrogates

__all__ = [
    "HOW",
    "KINDS",
    "Categories",
    "Edit",
    "Marks",
    "Names",
    "Published",
    "Reason",
    "Removal",
    "Replacer",
    "Surrogates",
    "joined",
    "kind_of",
    "merged",
    "replacer",
]
