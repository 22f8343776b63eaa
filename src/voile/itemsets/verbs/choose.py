"""Choose one policy of a kit's frontier."""

from __future__ import annotations

from voile.core.errors import InfeasibleError
from voile.itemsets.verbs.policies import ItemsetsPolicies, ItemsetsPolicy
from voile.release.choice import Choice, Chosen
from voile.release.kit import StoredKit


def choose(kit: StoredKit, choice: Choice) -> Chosen:
    """Choose one policy of a kit's frontier, with its figures."""
    policies = ItemsetsPolicies.of(kit)
    chosen = Chosen.from_kit(kit, policies, choice)
    if choice.knee and not chosen.figures["features"]:
        raise InfeasibleError(
            "the frontier bends most where no feature is left, and only labels would be released",
            instead="choose by --max-risk, --max-loss or --policy",
        )
    ItemsetsPolicy.from_data(chosen.policy, policies.names).warn()
    return chosen
