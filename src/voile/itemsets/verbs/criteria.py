"""Which figures and findings of an itemset release answer what a determination judges."""

from __future__ import annotations

from voile.itemsets.verbs.lookup import ONE_LEFT
from voile.release.criteria import Attacked, Certified, Measure

CRITERIA: tuple[Measure, ...] = (
    Certified(
        "re-identification",
        "k",
        "largest risk of a row, 1 / k",
        is_group_size=True,
    ),
    Certified("singling-out", "unique_share", "rows that no other row equals"),
    Attacked("singling-out", lambda _, found: found.quantity == ONE_LEFT),
    Attacked("inference", lambda _, found: found.advantage, gain=True),
)
