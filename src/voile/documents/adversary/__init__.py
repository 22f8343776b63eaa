"""The adversary of the documents wing: she inspects what is left, and links what was replaced.

She is given the release and what she is said to know, never the kit; the truth scores her.
"""

from voile.documents.adversary.budgeted import BudgetedAttacker
from voile.documents.adversary.inspected import InspectionEvidence
from voile.documents.adversary.linking import link_surrogates

__all__ = ["BudgetedAttacker", "InspectionEvidence", "link_surrogates"]
