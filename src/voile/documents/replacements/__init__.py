"""What comes in the place of what was removed: marks, categories or surrogates."""

from voile.documents.replacements.kinds import KINDS, kind_of
from voile.documents.replacements.marks import CategoryMarks, LabelMarks
from voile.documents.replacements.names import NameLists
from voile.documents.replacements.published import PublishedEdit, PublishedText
from voile.documents.replacements.removal import RemovalReason, TextRemoval
from voile.documents.replacements.replacer import HOW, RemovalReplacer, make_replacer
from voile.documents.replacements.spans import complete_units, join_adjacent, settle_spans
from voile.documents.replacements.surrogates import Surrogates

__all__ = [
    "HOW",
    "KINDS",
    "CategoryMarks",
    "LabelMarks",
    "NameLists",
    "PublishedEdit",
    "PublishedText",
    "RemovalReason",
    "RemovalReplacer",
    "Surrogates",
    "TextRemoval",
    "complete_units",
    "join_adjacent",
    "kind_of",
    "make_replacer",
    "settle_spans",
]
