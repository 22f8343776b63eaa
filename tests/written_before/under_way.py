"""Sessions under way, of maps that no fit made: the same numbers on every machine."""

from __future__ import annotations

import json
from typing import Any

import numpy as np

from voile.keys.secret import Secret
from voile.signals import SequenceCodec, Session
from voile.signals.model.codec.codec import Codec
from voile.signals.model.codec.lattice import ValueLattice
from voile.signals.model.codec.steps import AffineMap, ColumnBend, KnotheRosenblatt
from voile.signals.model.sequences.basis import TimeBasis
from voile.signals.model.sequences.sequence_codec import ClassDynamics, SequencePart

CLASSES = np.array(["calm", "wild"])
SECRET = Secret(b"a secret known to the tests alone")
DAYS = (1, 2, 5, 6, 7, 9, 10, 12, 17)
SCALE = (71.3, 71.1, 70.6, 70.9, 70.2, 79.2, 79.4, 79.1, 78.6)  # a level that changes
PULSE = (64.0, 66.5, 69.0, 98.5, 67.0, 66.0, 64.5, 65.5, 68.0)  # a spike
BOTH = tuple(zip(SCALE, PULSE, strict=True))
SCALE_ALONE, PULSE_ALONE = (1, 4, 6), (2, 7)  # numbers of readings
READ = {
    "whole": BOTH,
    "in part": tuple(
        (None if k in PULSE_ALONE else x, None if k in SCALE_ALONE else y)
        for k, (x, y) in enumerate(BOTH)
    ),
}
BEFORE = 3  # readings that came before the ends were saved
LINE = np.array([[-3.0, 0.0, 3.0], [-2.0, 0.0, 2.0]])


def codec(kind: str) -> SequenceCodec:
    """Return a map of two columns, with a level, a slope and a weekly season."""
    steps = tuple(
        (
            ColumnBend(np.array([[50.0, 65.0, 80.0], [60.0, 72.0, 85.0]]), waves(2, 3) + LINE),
            AffineMap(np.diag([0.5, 2.0]), waves(2)),
            triangular(2, which, kind == "whole"),
        )
        for which in (0, 1)
    )
    basis = TimeBasis(32.0, np.round(TimeBasis.of(32.0, 7, 2).season, 6))
    turn = np.array([[0.6, -0.8], [0.8, 0.6]]) if kind == "whole" else np.eye(2)
    held = [(0, 1)] if kind == "whole" else [(0, 1), (0,), (1,)]
    return SequenceCodec(
        Codec(CLASSES, (ValueLattice(1, 2), ValueLattice(1, 10)), steps),
        (1, 0),
        0,
        tuple(dynamics(basis.size, turn, which) for which in (0, 1)),
        tuple(
            SequencePart(columns, tuple(triangular(4 + len(columns), which) for which in (0, 1)))
            for columns in held
        ),
        basis,
        timed=True,
    )


def waves(*shape: int, high: float = 0.25) -> np.ndarray:
    """Return numbers of four decimals that rise and fall."""
    return np.round(high * np.sin(1 + np.arange(np.prod(shape))), 4).reshape(shape)


def triangular(d: int, which: int, joined: bool = True) -> KnotheRosenblatt:
    grid = np.arange(-4.0, 5.0)
    between = waves(d, d, 9, high=(0.1 + 0.05 * which) * joined)
    return KnotheRosenblatt(np.arange(d), grid, between, 1 - between, grid + waves(d, 9))


def dynamics(size: int, turn: np.ndarray, which: int) -> ClassDynamics:
    roots = np.eye(size) + waves(2, size, size)
    covariance = np.array([[[x @ y for x in root] for y in root] for root in roots]).round(4)
    swing, kept = np.array([0.125, 0.25]), np.array([0.7, 0.3 + 0.25 * which])
    return ClassDynamics(turn, waves(2, size), covariance, swing, kept, np.array([0.0, 0.01]))


def go_on(device: Session, clinic: Session, kind: str, which: slice) -> list[Any]:
    """Send some readings, and return their messages as they are saved."""
    messages = []
    for day, reading in list(zip(DAYS, READ[kind], strict=True))[which]:
        device.send(reading, day)
        (message,) = device.pending()
        read = clinic.receive(message)
        assert read is not None
        assert [None if v != v else v for v in read.values] == list(reading)
        device.acknowledge(clinic.receipt())
        messages.append(message.to_json())
    return messages


def written() -> dict[str, Any]:
    """Return both ends of a session of each kind as saved, and how they went on."""
    out = {}
    for kind in READ:
        device = Session(codec(kind), "wild", "a", secret=SECRET)
        clinic = Session(codec(kind), "wild", "a")
        go_on(device, clinic, kind, slice(BEFORE))
        ends = plain(device, clinic)
        messages = go_on(device, clinic, kind, slice(BEFORE, None))
        out[kind] = {"ends": ends, "messages": messages, "after": plain(device, clinic)}
    return out


def plain(*ends: Session) -> list[Any]:
    """Return ends of sessions as their text holds them."""
    return [json.loads(json.dumps(end.to_json())) for end in ends]
