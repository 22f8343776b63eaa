"""Choose: pick one policy of a kit's frontier, without the committees."""

from __future__ import annotations

from voile.documents.verbs.policies import Policies, Policy
from voile.release.choice import Choice, Chosen
from voile.release.kit import Kit


def choose(kit: Kit, choice: Choice) -> Chosen:
    """Pick one policy of a kit's frontier, with what it leaves and removes.

    Raises
    ------
    InfeasibleError : no policy is within the limit.
    RequestError : there is no policy of that number or name.
    """
    policies = Policies.of(kit)
    chosen = Chosen.from_kit(kit, policies, choice)
    policies.warn()
    if "start" not in policies.found:  # else rules find what no pass does
        Policy.from_data(chosen.policy).warn()
    return chosen
