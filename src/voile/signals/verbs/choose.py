"""Choose: pick one policy of a kit's frontier, without the maps."""

from __future__ import annotations

from voile.release.choice import Choice, Chosen
from voile.release.kit import Kit
from voile.signals.model.policies import Policies, Policy


def choose(kit: Kit, choice: Choice) -> Chosen:
    """Pick one policy of the frontier."""
    chosen = Chosen.from_kit(kit, Policies.of(kit), choice)
    Policy(**chosen.policy).warn()
    return chosen
