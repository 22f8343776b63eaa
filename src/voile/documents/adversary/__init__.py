"""The adversary of the documents wing, who inspects what is left, links and guesses what is not.

The adversary has the release and the stated background knowledge, never the kit.
"""

from voile.documents.adversary.budgeted import BudgetedAttacker
from voile.documents.adversary.inspection_evidence import InspectionEvidence
from voile.documents.adversary.linkage import link_surrogates
from voile.documents.adversary.ordinary_names import guess_ordinary_names

__all__ = ["BudgetedAttacker", "InspectionEvidence", "guess_ordinary_names", "link_surrogates"]
