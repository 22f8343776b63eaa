"""The rounding of messages to a common grain."""

from __future__ import annotations

import numpy as np

from voile.signals.model.codec.pieces import Floats

GRAIN = 2.0**-44  # sent values are multiples of it: see `round_sent`


def round_sent(Z: Floats, places: int | None = None) -> Floats:
    """Round messages, so that their last bits do not reveal the class.

    The map of a class reaches only some of the float64 values near a message: the images of float64
    readings. An adversary can decode and encode a message with the map of every class, and find the
    map that preserves its last bits. Near a multiple of `GRAIN`, or near a decimal, all maps reach
    many points.
    """
    if places is None:
        return np.asarray(np.rint(Z / GRAIN) * GRAIN + 0.0)  # removes -0.0
    return np.asarray(np.rint(Z * 10.0**places) / 10.0**places + 0.0)
