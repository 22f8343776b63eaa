"""Encode the rows that float64 can represent, and collect data for warnings and certificates."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np
from numpy.typing import NDArray

from voile.core.brief import BriefRepr
from voile.core.errors import RequestError
from voile.core.warn import warn
from voile.keys.random import ProtectiveRandom
from voile.signals.model.codec.codec import Codec
from voile.signals.model.codec.lattice import RowDraws
from voile.signals.model.codec.side import SideColumn, SideLevels
from voile.signals.model.maps.checks import SignalsWarning
from voile.signals.model.readings.forms import KnownColumn
from voile.signals.verbs.certify import SignalsCertificate


def encode_carriable(
    codec: Codec,
    table: NDArray[Any],
    labels: NDArray[np.str_],
    at: SideLevels,
    draws: ProtectiveRandom | RowDraws,
) -> tuple[NDArray[Any], NDArray[np.bool_]]:
    """Encode the rows that float64 can represent. Return messages and the mask of other rows.

    The cost is O(n log n) if there are other rows.
    """
    try:
        sent = codec.encode(table, labels, known=at, protective=draws)
        return sent, np.zeros(len(table), np.bool_)
    except RequestError as error:
        if codec.places is not None:
            remedy = "give more --places"
            raise RequestError(error.what, where="--places", instead=remedy) from None
        if len(table) == 1:
            return table, np.ones(1, dtype=np.bool_)
    half = len(table) // 2
    parts = np.arange(half), np.arange(half, len(table))
    shares = [draws.take(part) if isinstance(draws, RowDraws) else draws for part in parts]
    halves = [
        encode_carriable(codec, table[part], labels[part], at.take(part), share)
        for part, share in zip(parts, shares, strict=True)
    ]
    Z, far = zip(*halves, strict=True)
    return np.concatenate(Z), np.concatenate(far)


MANY = 0.25  # share of messages above which a column seems to be coded differently from the fit


@dataclass
class SentRows(BriefRepr):
    """The notes of sent rows: their subjects, and the readings behind their messages.

    classes : for each pseudonym its first row, its class, and the known columns that are not sent.
    heard : the pseudonyms with a message.
    outside : by column, the number of readings beyond those of the fit.
    strangers : by known column, the number of messages with a value that was not in the fit.
    """

    classes: dict[str, tuple[int, str, tuple[object, ...]]] = field(default_factory=dict)
    heard: set[str] = field(default_factory=set)
    certificate: SignalsCertificate = field(default_factory=SignalsCertificate)
    outside: Counter[str] = field(default_factory=Counter)
    strangers: Counter[str] = field(default_factory=Counter)

    def warn(self, *, repeats: bool) -> None:
        """Warn if messages may reveal the class.

        `repeats` is whether a subject's second message reveals it.
        """
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
    """Count the rows of side columns, (n, q), with a value that was not in the fit."""
    each = zip(columns, grids, known.T, strict=True)
    return {one.column: int(grid.strangers(cells).sum()) for one, grid, cells in each}
