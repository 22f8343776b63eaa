"""Standard attacks that bypass a map, even if it hides single readings well."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import ArrayLike, NDArray

from voile.core.errors import RequestError
from voile.core.evidence import Evidence, Finding, Note, Rate
from voile.keys.random import ProtectiveRandom
from voile.signals.attack.attackers import IDENTIFIED
from voile.signals.attack.choice import infer_others
from voile.signals.attack.course_views import view_courses
from voile.signals.model.codec.codec import Codec
from voile.signals.model.codec.pieces import Codes, Floats
from voile.signals.model.codec.side import SideLevels
from voile.signals.model.sequences.messages import ReadingMessage
from voile.signals.model.sequences.sequence_codec import SequenceCodec
from voile.signals.model.sequences.session import Session
from voile.signals.model.sequences.state import Cell, KnownColumns

LENGTHS = (2, 5, 10, 30)  # numbers of messages per person in the repeat attack
FEWEST = 10  # subjects of a class in each half, for training and for testing
KNOWN_PLAINTEXT = "known plaintext"
DECODED = 20_000  # readings of sessions that are decoded under all classes
SHORTEST = 3  # minimum readings of a session that are decoded
BOUND = 20.0
KEY = b"of sessions that nobody receives"
OUTSIDE = Note("Outside the guarantee: the map does not protect against this attack.")


def is_enough(c: Codes, classes: int) -> bool:
    halves = c[: len(c) // 2], c[len(c) // 2 :]
    return all(np.bincount(half, minlength=classes).min() >= FEWEST for half in halves)


@dataclass(frozen=True)
class MapBreak:
    """The result of one attack that bypasses the map."""

    name: str  # name of the attack
    rate: Rate  # rate of correctly named classes
    baseline: Rate  # the same rate without any message
    promised: bool = True  # whether the guarantee covers this attack
    messages: int = 1  # overheard messages per person

    @property
    def title(self) -> str:
        """The name, with the number of messages if there are several."""
        return self.name if self.messages == 1 else f"{self.name}, {self.messages} messages"

    def evidence(self, story: Note) -> Evidence:
        """Return the result as evidence. `story` describes the adversary's actions."""
        found = Finding(IDENTIFIED, self.rate, baseline=self.baseline)
        notes = () if self.promised else (OUTSIDE,)
        return Evidence(self.title, "inference", story, findings=(found,), notes=notes)


def known_plaintext(
    codec: Codec, X: Floats, Z: Floats, c: Codes, known: ArrayLike | None = None
) -> MapBreak:
    """Attack with one known reading and its message: name the class with the map that fits both."""
    rows = equal(c)
    at = codec.levels(known, len(c)).take(rows)
    off = [
        np.abs(_decode_messages(codec, Z[rows], k, at) - X[rows]).sum(axis=1)
        for k in _classes(codec)
    ]
    guess = np.argmin(off, axis=0)
    return MapBreak(KNOWN_PLAINTEXT, _right(guess, c[rows]), _chance(codec, rows), promised=False)


def invariants(
    codec: Codec,
    Z: Floats,
    c: Codes,
    columns: Sequence[int],
    known: ArrayLike | None = None,
) -> MapBreak:
    """Attack invariant columns: decode under every class, and name the class with the least change.

    All messages of a subject are decoded with the map of each class. `known` has a row for each
    message. The messages of one subject are adjacent.
    """
    rows = equal(c)
    n, T, d = Z[rows].shape
    each = (rows[:, None] * T + np.arange(T)).ravel()
    at = codec.levels(known, len(c) * T).take(each)
    cells = np.array([codec.columns[j].resolution for j in columns])  # type: ignore[union-attr]
    moved = []
    for which in _classes(codec):
        flat = np.ascontiguousarray(Z[rows].reshape(n * T, d).T)
        V = codec.inverse(flat, which, at)[list(columns)]
        spread = V.T.reshape(n, T, len(columns)).std(axis=1) / cells
        # correct decoding leaves dither with a spread of 12^(-1/2) cells; more or less is wrong
        moved.append(np.abs(np.log(spread * np.sqrt(12) + 1e-12)).sum(axis=1))
    guess = np.argmin(moved, axis=0)
    rate = _right(guess, c[rows])
    return MapBreak("invariants", rate, _chance(codec, rows), promised=False, messages=T)


def repeats(Z: Floats, c: Codes, seed: int) -> tuple[Rate, Rate]:
    """Train on several messages of half the subjects, and name the classes of the others."""
    half = len(c) // 2
    found = infer_others(view_courses(Z), c, np.arange(len(c)) < half, seed)
    common = np.full(len(c) - half, np.bincount(c[:half]).argmax())
    return _right(found.chances.argmax(axis=1), c[half:]), _right(common, c[half:])


def send_readings(
    codec: SequenceCodec,
    X: Floats,
    c: Codes,
    times: NDArray[np.int64] | None = None,
    protective: ProtectiveRandom | None = None,
    known: Sequence[Sequence[Cell]] | None = None,
) -> tuple[Floats, Floats, list[list[ReadingMessage | None]]]:
    """Send each subject's readings through a session.

    `times` are in the map's units, if it has any. Missing values are NaN, in readings and in
    messages. `known` are the subjects' side columns, if the map uses any. Return the first
    messages, the varying columns, and all messages.
    """
    first, varying, everything = [], [], []
    moments = (
        times.tolist() if times is not None and codec.timed else [[None] * X.shape[1]] * len(X)
    )
    sides = [KnownColumns.of(codec, tuple(one), KEY) for one in known or [()] * len(X)]
    for whose, (readings, when, which, side) in enumerate(
        zip(X.tolist(), moments, c, sides, strict=True)
    ):
        label = codec.codec.classes[which]
        session = Session(codec, label, str(whose), known=side, protective=protective)
        everything.append([_send(session, *each) for each in zip(readings, when, strict=True)])
        messages = [_values(one, X.shape[2]) for one in everything[-1]]
        first.append(messages[0])
        varying.append([messages[0][codec.invariants :], *messages[1:]])
    return np.array(first), np.array(varying), everything


def _send(session: Session, reading: list[float], moment: int | None) -> ReadingMessage | None:
    """Return the message of a reading, or None if the map does not send its columns alone."""
    try:
        session.send(reading, moment)
    except RequestError:
        if not session.codec.partial:
            raise
        return None
    (message,) = session.pending()
    session.acknowledge(session.expect_receipt())
    return message


def _values(message: ReadingMessage | None, d: int) -> tuple[float, ...]:
    """Return the values of a message, with NaN for columns missing from its reading."""
    if message is None:
        return (np.nan,) * d
    if message.columns is None:
        return message.values
    held = dict(zip(message.columns, message.values, strict=True))
    return tuple([held.get(j, np.nan) for j in range(d)])


def decode_sessions(
    codec: SequenceCodec,
    messages: Sequence[Sequence[ReadingMessage | None]],
    known: Sequence[Sequence[Cell]] | None = None,
) -> Floats:
    """Decode sessions under every class: (k, n, T', d) readings, scaled and clipped to -1..1.

    A wrong class may give impossible readings. They are clipped at `BOUND` spreads of the others.
    """
    out = read_sessions(codec, messages, known)
    middle, spread = np.nanmean(out, axis=(0, 1, 2)), np.nanstd(out, axis=(0, 1, 2))
    near = np.nanmedian(np.abs(out - np.nanmedian(out, axis=(0, 1, 2))), axis=(0, 1, 2))
    wide = BOUND * np.where(near > 0, near, np.where(spread > 0, spread, 1.0))
    return np.asarray(np.clip((out - middle) / wide, -1, 1))


def read_sessions(
    codec: SequenceCodec,
    messages: Sequence[Sequence[ReadingMessage | None]],
    known: Sequence[Sequence[Cell]] | None = None,
) -> Floats:
    """Decode sessions with each class's map: (k, n, T', d) readings, NaN where there are none.

    T' limits the readings of each session, so that at most about `DECODED` are decoded. It is at
    least `SHORTEST`, if the sessions are that long.
    """
    k, n, length = len(codec.codec.classes), len(messages), len(messages[0])
    length = min(length, max(DECODED // (k * n), SHORTEST))
    out = np.full((k, n, length, len(codec.order)), np.nan)
    sides = [KnownColumns.of(codec, tuple(one), KEY) for one in known or [()] * n]
    for which, label in enumerate(codec.codec.classes):
        for whose, (own, side) in enumerate(zip(messages, sides, strict=True)):
            end = Session(codec, label, str(whose), known=side)
            for at, message in enumerate(own[:length]):
                read = message and end.receive(message)
                if read:
                    out[which, whose, at] = read.values
    return out


def equal(c: Codes) -> Codes:
    """Return rows that contain all classes equally often."""
    least = np.bincount(c).min()
    return np.concatenate([np.flatnonzero(c == k)[:least] for k in range(c.max() + 1)])


def _classes(codec: Codec) -> range:
    return range(len(codec.classes))


def _decode_messages(codec: Codec, Z: Floats, which: int, at: SideLevels) -> Floats:
    return np.asarray(codec.decode(Z, codec.classes[which], known=at), dtype=np.float64)


def _right(guess: Codes, c: Codes) -> Rate:
    """Return the rate of correct guesses, with one trial per subject (design effect 1)."""
    return Rate(int((guess == c).sum()), len(c))


def _chance(codec: Codec, rows: Codes) -> Rate:
    return Rate(len(rows) // len(codec.classes), len(rows))
