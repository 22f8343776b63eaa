"""The grain of what is sent."""

from __future__ import annotations

import numpy as np

from voile.signals.model.codec.pieces import Floats

GRAIN = 2.0**-44  # what is sent is a multiple of it: see `round_sent`


def round_sent(Z: Floats, places: int | None = None) -> Floats:
    """Round what is sent, so that float64's own lattice does not reveal the class.

    A class's map reaches only some of the float64 values near a message, those that stand for a
    float64 reading; an adversary who takes a message back and forth by every class's map finds
    the one that leaves its last bits alone. Of a multiple of `GRAIN`, or a decimal, all maps
    reach many.
    """
    if places is None:
        return np.asarray(np.rint(Z / GRAIN) * GRAIN + 0.0)  # no -0.0
    return np.asarray(np.rint(Z * 10.0**places) / 10.0**places + 0.0)
