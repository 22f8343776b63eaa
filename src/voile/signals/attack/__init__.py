"""The adversary of the signals wing: she overhears, learns the class, and tries ways round the map.

She is given messages and what she is said to know; the truth scores her.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from voile.core.lazy import lazily

if TYPE_CHECKING:
    from voile.signals.attack.attackers import Attacker
    from voile.signals.attack.auditing import Audit, audit
    from voile.signals.attack.breaks import Break
    from voile.signals.attack.scene import People, Scene

__all__ = [
    "Attacker",
    "Audit",
    "Break",
    "People",
    "Scene",
    "audit",
]

__getattr__ = lazily(
    __name__,
    {
        "Attacker": "attackers",
        "Audit": "auditing",
        "Break": "breaks",
        "People": "scene",
        "Scene": "scene",
        "audit": "auditing",
    },
)
