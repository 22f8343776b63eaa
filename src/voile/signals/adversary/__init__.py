"""The adversary of the signals wing: she overhears, learns the class, and tries ways round the map.

She is given messages and what she is said to know; the truth scores her.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from voile.core.lazy import lazily

if TYPE_CHECKING:
    from voile.signals.adversary.attackers import Attacker
    from voile.signals.adversary.breaks import Break
    from voile.signals.adversary.map_audit import Audit, audit

__all__ = [
    "Attacker",
    "Audit",
    "Break",
    "audit",
]

__getattr__ = lazily(
    __name__,
    {
        "Attacker": "attackers",
        "Audit": "map_audit",
        "Break": "breaks",
        "audit": "map_audit",
    },
)
