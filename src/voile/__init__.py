"""Share data about people, and know what an adversary could still do with it.

>>> import voile
>>> voile.Frontier.of([0.5, 1.0], [0.2, 0.0], ["a", "b"]).area()
0.6
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from voile.lazy import lazily

if TYPE_CHECKING:
    from voile.choice import Choice, Chosen
    from voile.evidence import Evidence
    from voile.frontier import Frontier
    from voile.io import open_source
    from voile.kit import Kit
    from voile.release import Release
    from voile.roles import Roles

__version__ = "0.1.0"

__all__ = [
    "Choice",
    "Chosen",
    "Evidence",
    "Frontier",
    "Kit",
    "Release",
    "Roles",
    "__version__",
    "open_source",
]

__getattr__ = lazily(
    __name__,
    {
        "Choice": "kit",
        "Chosen": "kit",
        "Evidence": "evidence",
        "Frontier": "frontier",
        "Kit": "kit",
        "Release": "release",
        "Roles": "roles",
        "open_source": "io",
    },
)
