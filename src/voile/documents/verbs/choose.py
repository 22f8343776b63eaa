"""The verb choose, which selects a policy of a kit's frontier without the committees."""

from __future__ import annotations

from voile.documents.model.policies import DocumentsPolicies, DocumentsPolicy
from voile.release.choice import Choice, Chosen
from voile.release.kit import StoredKit


def choose(kit: StoredKit, choice: Choice) -> Chosen:
    """Select a policy of a kit's frontier, with its figures of missed and removed tokens.

    Raises
    ------
    InfeasibleError : no policy is within the limit.
    RequestError : there is no policy with this number or name.
    """
    policies = DocumentsPolicies.of(kit)
    chosen = Chosen.from_kit(kit, policies, choice)
    policies.warn()
    if "start" not in policies.found:  # otherwise rules find identifiers without a pass
        DocumentsPolicy.from_data(chosen.policy).warn()
    return chosen
