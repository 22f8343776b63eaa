"""What overheard values look like, and how far the map goes: one injective map for all classes.

The class's own map leads to the barycentre, `strength` of the way. What is put after it is the
same for every class, and so leaves I(Z; C | S) as it is (Section 6.2): the base decides on looks
and on the distortion for third parties, never on the risk.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import TypeAlias

import numpy as np
from scipy.special import ndtr

from voile.signals.codec.pieces import Floats
from voile.signals.codec.steps import Affine, Bend, Curve, Step, between, mix
from voile.signals.methods.fitted import SCORES, Fitted

Law: TypeAlias = Callable[[Floats], Floats]

# per base, what a normal score is sent as; the barycentre stays in the source's units
BASES: Mapping[str, Law | None] = {
    "normal": lambda score: score,
    "uniform": ndtr,
    "barycentre": None,
}


def class_steps(
    fitted: Fitted, base: str, strength: float, personal: Sequence[Affine] | None = None
) -> tuple[tuple[Step, ...], ...]:
    """Return each class's steps, from readings to what is sent; of one subject, `personal` too.

    At strength 0 all of them together are the identity. Each step lies between the identity, or
    a step that a later one undoes, and the full map; each is injective for every strength.

    >>> from voile.signals.methods.fitted import normal_law, plain
    >>> frame = Affine(np.array([[2.0]]), np.array([5.0]))
    >>> fitted = Fitted(np.ones(1), (frame,), ((),), normal_law(1), plain(1))
    >>> (steps,) = class_steps(fitted, "normal", 1.0)
    >>> V = np.array([[5.0, 7.0]])
    >>> for step in steps:
    ...     V = step.forward(V)
    >>> V.tolist()
    [[0.0, 1.0]]
    """
    enter = Bend.of(fitted.coordinates)
    middle = fitted.barycentre()
    towards, leave = _shown(fitted, middle, BASES[base], strength)
    nothing = _nothing(len(middle.shift))
    own = [(mix(nothing, one, strength),) for one in personal or ()]
    return tuple(
        (
            enter,
            frame.turned(),
            *(layer.at(strength) for layer in layers),
            *(own[which] if own else ()),
            mix(frame, middle, strength).then(towards),
            leave,
        )
        for which, (frame, layers) in enumerate(zip(fitted.frames, fitted.layers, strict=True))
    )


def _shown(fitted: Fitted, middle: Affine, law: Law | None, strength: float) -> tuple[Affine, Bend]:
    """Return the last two steps, common to all classes: leave the barycentre, take on looks."""
    nothing = _nothing(len(middle.shift))
    back = tuple(curve.turned() for curve in fitted.coordinates)
    if law is None:
        return nothing, Bend.of(back)
    looks = (Curve(values, law(SCORES)) for values in fitted.law)
    curves = tuple(between(a, b, strength) for a, b in zip(back, looks, strict=True))
    return mix(nothing, middle.turned(), strength), Bend.of(curves)


def _nothing(d: int) -> Affine:
    return Affine(np.eye(d), np.zeros(d))
