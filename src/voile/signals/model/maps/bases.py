"""The base distribution of messages and the strength of the map.

The map of each class leads to the barycentre, a fraction `strength` of the way. The step after it
is the same injective map for every class, and so leaves I(Z; C | S) unchanged (Section 6.2). The
base determines the appearance of messages and the distortion for third parties, never the risk.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import TypeAlias

import numpy as np

from voile.signals.model.codec.conditional import ConditionalFrame, MapStep
from voile.signals.model.codec.lift import RelationLift
from voile.signals.model.codec.pieces import Floats
from voile.signals.model.codec.steps import AffineMap, ColumnBend, PieceCurve, between, mix
from voile.signals.model.maps.fitted import SCORES, FittedLaws, SideFrames

Law: TypeAlias = Callable[[Floats], Floats]


def _find_share(score: Floats) -> Floats:
    from scipy.special import ndtr  # slow to import, and a device does not need it

    return np.asarray(ndtr(score))


# by base, the transformation of a normal score; the barycentre keeps the source's units
BASES: Mapping[str, Law | None] = {
    "normal": lambda score: score,
    "uniform": _find_share,
    "barycentre": None,
}


def show_lift(lift: RelationLift, base: str) -> RelationLift:
    """Return the lift with messages in the base's distribution, or unchanged for the barycentre."""
    if BASES[base] is None:
        return lift
    d = len(lift.lattices)
    mean, spread = (0.5, 12**-0.5) if base == "uniform" else (0.0, 1.0)
    return lift.standardise_messages(np.full(d, mean), np.full(d, spread))


def class_steps(
    fitted: FittedLaws, base: str, strength: float, personal: Sequence[AffineMap] | None = None
) -> tuple[tuple[MapStep, ...], ...]:
    """Return the steps of each class from readings to messages.

    With `personal`, the steps are those of one subject. At strength 0 the steps together are the
    identity. Each step lies between the full map and the identity, or a step that a later one
    inverts. Each is injective for every strength.

    >>> from voile.signals.model.maps.fitted import normal_law, plain
    >>> frame = AffineMap(np.array([[2.0]]), np.array([5.0]))
    >>> fitted = FittedLaws(np.ones(1), (frame,), ((),), normal_law(1), plain(1))
    >>> (steps,) = class_steps(fitted, "normal", 1.0)
    >>> V = np.array([[5.0, 7.0]])
    >>> for step in steps:
    ...     V = step.forward(V)
    >>> V.tolist()
    [[0.0, 1.0]]
    """
    enter = ColumnBend.of(fitted.coordinates)
    middle = fitted.barycentre()
    towards, leave = _encode_last_steps(fitted, middle, BASES[base], strength)
    nothing = _nothing(len(middle.shift))
    mine = [(mix(nothing, one, strength),) for one in personal or ()]
    side = fitted.side
    return tuple(
        (
            enter,
            *(side.into(which) if side else ()),
            frame.invert_map(),
            *(layer.at(strength) for layer in layers),
            *(mine[which] if mine else ()),
            *_compose_steps(
                mix(frame, middle, strength),
                *_leave_own_frame(side, which, nothing, strength),
                towards,
            ),
            leave,
        )
        for which, (frame, layers) in enumerate(zip(fitted.frames, fitted.layers, strict=True))
    )


def _encode_last_steps(
    fitted: FittedLaws, middle: AffineMap, law: Law | None, strength: float
) -> tuple[AffineMap | ConditionalFrame, ColumnBend]:
    """Return the last two steps, common to all classes: leave the barycentre, apply the base.

    A barycentre depends on side columns only if these are sent in the clear. Otherwise the messages
    would reveal the side columns, and the class through them.
    """
    side = fitted.side
    shared = side.shared if side else None
    back = tuple(curve.invert_curve() for curve in fitted.coordinates)
    if law is None:
        if side is None:
            return _nothing(len(middle.shift)), ColumnBend.of(back)
        follows = side.shared if side.in_clear else _leaving(shared, side.typical, strength)
        return follows, ColumnBend.of(back)
    looks = (PieceCurve(values, law(SCORES)) for values in fitted.law)
    curves = tuple(between(a, b, strength) for a, b in zip(back, looks, strict=True))
    return _leaving(shared, middle.invert_map(), strength), ColumnBend.of(curves)


def _leaving(
    frame: ConditionalFrame | None, other: AffineMap, strength: float
) -> AffineMap | ConditionalFrame:
    """Return the step from a conditional frame, `strength` of the way to an unconditional map.

    Without side columns the frame is the identity.
    """
    if frame is None:
        nothing = _nothing(len(other.shift))
        return mix(nothing, other, strength)
    return other if strength == 1 else frame.towards(other, strength)


def _leave_own_frame(
    side: SideFrames | None, which: int, nothing: AffineMap, strength: float
) -> tuple[AffineMap | ConditionalFrame, ...]:
    """Return the step that removes a class's own frame, or none if it has no own frame."""
    own = side.own[which] if side else None
    return () if own is None else (_leaving(own, nothing, strength),)


def _compose_steps(
    *steps: AffineMap | ConditionalFrame,
) -> tuple[AffineMap | ConditionalFrame, ...]:
    """Compose consecutive affine maps."""
    found: list[AffineMap | ConditionalFrame] = []
    for step in steps:
        last = found[-1] if found else None
        if isinstance(step, AffineMap) and isinstance(last, AffineMap):
            found[-1] = last.then(step)
        else:
            found.append(step)
    return tuple(found)


def _nothing(d: int) -> AffineMap:
    return AffineMap(np.eye(d), np.zeros(d))
