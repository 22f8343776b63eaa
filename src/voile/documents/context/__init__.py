"""Words that stand beside identifiers and tell of them, before and after they are removed.

Source: Li, Vorobeychik, Li, Malin, *An Iterative Classification Scheme for Sanitizing Large-Scale
Datasets*, 2016, the section on context; the rules are those of Chow, Golle, Staddon, *Detecting
Privacy Leaks Using Corpus-Based Association Rules*, 2008, with one word on the left.
"""

from voile.documents.context.correlated import find_associations, is_context, label_context
from voile.documents.context.pointing import (
    PointingWords,
    RuleTrial,
    find_pointing_words,
    try_rules,
)
from voile.documents.context.rules import Rule, Rules, RuleThresholds

__all__ = [
    "PointingWords",
    "Rule",
    "RuleThresholds",
    "RuleTrial",
    "Rules",
    "find_associations",
    "find_pointing_words",
    "is_context",
    "label_context",
    "try_rules",
]
