"""Choose: pick one policy of a kit's frontier, without the committees."""

from __future__ import annotations

from voile.documents.model.policies import DocumentsPolicies, DocumentsPolicy
from voile.release.choice import Choice, Chosen
from voile.release.kit import StoredKit


def choose(kit: StoredKit, choice: Choice) -> Chosen:
    """Pick one policy of a kit's frontier, with its figures of missed and removed tokens.

    Raises
    ------
    InfeasibleError : no policy is within the limit.
    RequestError : there is no policy of that number or name.
    """
    policies = DocumentsPolicies.of(kit)
    chosen = Chosen.from_kit(kit, policies, choice)
    policies.warn()
    if "start" not in policies.found:  # else rules find what no pass does
        DocumentsPolicy.from_data(chosen.policy).warn()
    return chosen
