"""What comes in the place of what was removed: marks, categories or surrogates."""

from voile.documents.replacing.choosing import HOW, Replacer, replacer
from voile.documents.replacing.kinds import KINDS, kind_of
from voile.documents.replacing.marks import Categories, Marks
from voile.documents.replacing.names import Names
from voile.documents.replacing.published import Edit, Published
from voile.documents.replacing.removal import Reason, Removal, joined, merged
from voile.documents.replacing.surrogates import Surrogates

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
