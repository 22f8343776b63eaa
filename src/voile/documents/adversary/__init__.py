"""The adversary of the documents wing, who inspects what is left and links what was replaced.

The adversary has the release and the stated background knowledge, never the kit.
"""

from voile.documents.adversary.budgeted import BudgetedAttacker
from voile.documents.adversary.inspection_evidence import InspectionEvidence
from voile.documents.adversary.linkage import link_surrogates

__all__ = ["BudgetedAttacker", "InspectionEvidence", "link_surrogates"]
