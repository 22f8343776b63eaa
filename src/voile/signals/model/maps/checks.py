"""Checks of readings before a map is fitted or used, with errors and warnings."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from voile.core.errors import RequestError, nearest
from voile.core.warn import warn
from voile.core.wording import count
from voile.signals.model.codec.place import CLASSES

LEAST = 20
FEW = 100


class SignalsWarning(UserWarning):
    """A warning that a map protects less than its figures suggest. The message gives the reason."""


def check_looks(base: str, strength: float) -> None:
    from voile.signals.model.maps.bases import BASES

    if base not in BASES:
        raise RequestError(f"no base {base!r}", instead=nearest(base, BASES))
    if not 0 <= strength <= 1:
        raise RequestError("the strength must lie between 0 and 1")


def check_sizes(classes: NDArray[Any], codes: NDArray[np.intp], whose: NDArray[np.intp]) -> None:
    """Refuse classes with too few subjects to hide in, and warn about small classes."""
    if not len(codes):
        raise RequestError("there are no readings")
    if len(classes) == len(codes) > 1:
        raise RequestError("every reading has a class of its own", where=CLASSES)
    pairs = np.unique(np.stack([codes, whose]), axis=1)[0]
    sizes = np.bincount(pairs)
    if sizes.min() < LEAST:
        raise RequestError(
            f"a class has {count(int(sizes.min()), 'subject')}, fewer than {LEAST}",
            where=CLASSES,
            instead="merge it with another",
        )
    if sizes.min() < FEW:
        note = f"a class has only {count(int(sizes.min()), 'subject')}: the map hides it less well"
        warn(note, SignalsWarning)
