"""Share data about people, and measure how much an adversary could still learn from it.

>>> import voile
>>> voile.Frontier.of([0.5, 1.0], [0.2, 0.0], ["a", "b"]).area()
0.6
"""

from __future__ import annotations

from voile.core import drawn
from voile.core.lazy import lazily
from voile.core.version import __version__

TYPE_CHECKING = False  # importing typing takes longer than importing this module
if TYPE_CHECKING:
    from voile import determination as determination
    from voile import documents as documents
    from voile import itemsets as itemsets
    from voile import signals as signals
    from voile import study as study
    from voile import tables as tables
    from voile.core.evidence import Evidence
    from voile.core.frontier import Frontier
    from voile.data import open_source
    from voile.data.roles import Roles
    from voile.face.kit import Kit
    from voile.face.release import Release
    from voile.first_release import protect
    from voile.opening import open_kit, open_release
    from voile.proposals.propose import inspect
    from voile.release.choice import Choice, Chosen


__all__ = [
    "Choice",
    "Chosen",
    "Evidence",
    "Frontier",
    "Kit",
    "Release",
    "Roles",
    "__version__",
    "inspect",
    "open_kit",
    "open_release",
    "open_source",
    "protect",
]

__getattr__ = lazily(
    __name__,
    {
        "Choice": "release.choice",
        "Chosen": "release.choice",
        "Evidence": "core.evidence",
        "Frontier": "core.frontier",
        "Kit": "face.kit",
        "Release": "face.release",
        "Roles": "data.roles",
        "determination": "",
        "documents": "",
        "itemsets": "",
        "signals": "",
        "study": "",
        "tables": "",
        "inspect": "proposals.propose",
        "open_kit": "opening",
        "open_release": "opening",
        "open_source": "data",
        "protect": "first_release",
    },
)


def _html_of(thing: object) -> str:
    from voile.report.notebook import html_of

    return html_of(thing)


drawn.html_of = _html_of
