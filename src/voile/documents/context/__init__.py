"""Words that stand beside identifiers and tell of them, before and after they are removed.

Source: Li, Vorobeychik, Li, Malin, *An Iterative Classification Scheme for Sanitizing Large-Scale
Datasets*, 2016, the section on context; the rules are those of Chow, Golle, Staddon, *Detecting
Privacy Leaks Using Corpus-Based Association Rules*, 2008, with one word on the left.
"""

from voile.documents.context.correlated import associations, correlated, of_context
from voile.documents.context.pointing import Pointing, Trial, pointing, trial
from voile.documents.context.rules import Least, Rule, Rules

__all__ = [
    "Least",
    "Pointing",
    "Rule",
    "Rules",
    "Trial",
    "associations",
    "correlated",
    "of_context",
    "pointing",
    "trial",
]
