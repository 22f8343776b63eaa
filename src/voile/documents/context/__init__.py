"""Words beside identifiers that reveal them, before and after these are removed.

Source: Li et al. 2016, the section on context; rules after Chow, Golle, Staddon, *Detecting Privacy
Leaks Using Corpus-Based Association Rules*, 2008, with one word on the left.
"""

from voile.documents.context.associations import find_associations, is_context, label_context
from voile.documents.context.pointing_words import PointingWords, find_pointing_words
from voile.documents.context.rules import ContextRule, ContextRules, RuleThresholds

__all__ = [
    "ContextRule",
    "ContextRules",
    "PointingWords",
    "RuleThresholds",
    "find_associations",
    "find_pointing_words",
    "is_context",
    "label_context",
]
