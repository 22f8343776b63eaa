"""What is noted of rows as they are encoded."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass, field

import numpy as np
from numpy.typing import NDArray

from voile.core.brief import Brief
from voile.core.warn import warn
from voile.signals.model.codec.side import SideColumn
from voile.signals.model.maps.checks import SignalsWarning
from voile.signals.model.readings.forms import KnownColumn
from voile.signals.verbs.certify import Certificate

MANY = 0.25  # of messages: a column's values are written otherwise than they were for the fit


@dataclass
class Sent(Brief):
    """What is noted of rows: whose they are, and what their messages stand for.

    classes : of each pseudonym the first row, the class, and the known columns that are not sent.
    heard : the pseudonyms that a message bears.
    outside : by column, the readings beyond those that the map was fitted to.
    strangers : by known column, the messages of a value that the map was not fitted to.
    """

    classes: dict[str, tuple[int, str, tuple[object, ...]]] = field(default_factory=dict)
    heard: set[str] = field(default_factory=set)
    certificate: Certificate = field(default_factory=Certificate)
    outside: Counter[str] = field(default_factory=Counter)
    strangers: Counter[str] = field(default_factory=Counter)

    def warn(self, *, repeats: bool) -> None:
        """Warn of what many messages may reveal; `repeats`: a subject's second message does."""
        rows = self.certificate.rows
        again = rows - len(self.heard)
        if again and repeats:
            note = f"{again:,} messages are not their subject's first, and many reveal the class"
            warn(f"{note}: send them in sessions", SignalsWarning)
        for column, strange in self.strangers.items():
            if strange > MANY * rows:
                note = f"{strange:,} of {rows:,} messages are of values that the map was not fitted"
                remedy = "write them as in the source of the fit"
                warn(
                    f"column {column}: {note} to, and may reveal the class: {remedy}",
                    SignalsWarning,
                )


def strangers(
    columns: Sequence[KnownColumn], grids: Sequence[SideColumn], known: NDArray[np.object_]
) -> dict[str, int]:
    """Count the rows of side columns, (n, q), with a value that the map was not fitted to."""
    each = zip(columns, grids, known.T, strict=True)
    return {one.column: int(grid.strangers(cells).sum()) for one, grid, cells in each}
