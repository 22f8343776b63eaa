"""The verb `choose`: pick one policy of a kit's frontier, without the maps."""

from __future__ import annotations

from voile.release.choice import Choice, Chosen
from voile.release.kit import StoredKit
from voile.signals.model.policies import SignalsPolicies, SignalsPolicy


def choose(kit: StoredKit, choice: Choice) -> Chosen:
    """Return one policy of the frontier."""
    chosen = Chosen.from_kit(kit, SignalsPolicies.of(kit), choice)
    SignalsPolicy(**chosen.policy).warn()
    return chosen
