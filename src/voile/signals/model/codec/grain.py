"""The grain of messages."""

from __future__ import annotations

import numpy as np

from voile.signals.model.codec.pieces import Floats

GRAIN = 2.0**-44  # what is sent is a multiple of it: see `round_sent`


def round_sent(Z: Floats, places: int | None = None) -> Floats:
    """Round messages, so that float64's own lattice does not reveal the class.

    A class's map reaches only some of the float64 values near a message, those of
    float64 readings. An adversary can decode and encode a message with every class's map, and
    find the map that keeps its last bits. All maps reach many points around a multiple of
    `GRAIN`, or around a decimal.
    """
    if places is None:
        return np.asarray(np.rint(Z / GRAIN) * GRAIN + 0.0)  # no -0.0
    return np.asarray(np.rint(Z * 10.0**places) / 10.0**places + 0.0)
