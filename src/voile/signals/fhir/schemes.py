"""Convert readings to messages, each reading by itself or given earlier readings."""

from __future__ import annotations

import hmac
import secrets
from collections import Counter
from collections.abc import Callable, Sequence
from math import nan
from typing import NamedTuple, Protocol, TypeAlias

import numpy as np
from numpy.typing import NDArray

from voile.core.errors import RequestError
from voile.keys.secret import Secret
from voile.signals.model.codec.codec import Codec
from voile.signals.model.codec.known_mac import KnownMac
from voile.signals.model.codec.lattice import RowDraws, ValueLattice
from voile.signals.model.codec.limits import RANGE
from voile.signals.model.codec.pieces import Floats
from voile.signals.model.sequences.messages import ReadingMessage
from voile.signals.model.sequences.sequence_codec import SequenceCodec
from voile.signals.model.sequences.session import Session
from voile.signals.model.sequences.state import Cell, KnownColumns

ClassOf = Callable[[str], str | int]
KnownOf = Callable[[str], tuple[Cell, ...]]
Moments: TypeAlias = Sequence[float | None]


def other_known() -> RequestError:
    return RequestError(
        "values were encoded with other known columns of a subject, or under another secret",
        instead="correct the table of classes, or give the secret that they were encoded with",
    )


def nothing_known(_: str) -> tuple[Cell, ...]:
    return ()


def side_rows(rows: Sequence[tuple[Cell, ...]]) -> NDArray[np.object_]:
    """Return the known columns of rows as an array (n, q)."""
    table = np.empty((len(rows), len(rows[0]) if rows else 0), dtype=object)
    for at, row in enumerate(rows):
        table[at] = row
    return table


def proof_key(secret: Secret | None, subject: str) -> bytes:
    """Return the key for proofs of a subject's known columns. Client and server need the secret."""
    if secret is None:
        raise RequestError(
            "the kit's map takes known columns, whose MACs need the secret at both ends",
            where="--key-file",
            instead="give its file, or set VOILE_SECRET",
        )
    return secret.derive("protective", "known", subject)


class SentReading(NamedTuple):
    """The message of one reading."""

    number: int
    values: tuple[float, ...]
    session: str = ""
    check: str = ""
    time: int | None = None  # time of the reading in the map's units, if it has one


class ShownReading(NamedTuple):
    readings: Floats
    outside: NDArray[np.bool_]


class HidingScheme(Protocol):
    """A protocol that encodes the readings of subjects and decodes them.

    `class_of` returns a subject's class, or refuses the subject. `hide` takes (n, d) readings, each
    subject's in order of time. It also takes their times in seconds, None if unknown. `show` takes
    the results of `hide` in any order. Columns in `once` never change within a subject, and are
    sent with its first reading only.

    With a secret, encoding a file again gives the same values again. Without a secret, it gives
    different values each time. Two values of one reading then begin to reveal the class.

    `known_of` returns a subject's known columns, if the map uses any. `show` refuses values that
    were encoded with other known columns or under another secret. Such a map needs the secret at
    client and server.
    """

    mark: str
    lattices: tuple[ValueLattice, ...]
    once: frozenset[int]
    class_of: ClassOf

    def hide(self, whose: Sequence[str], X: Floats, moments: Moments) -> list[SentReading]:
        """Return the message of each reading."""

    def show(self, whose: Sequence[str], sent: Sequence[SentReading]) -> ShownReading:
        """Return the reading of each message."""


class SingleScheme:
    def __init__(
        self,
        codec: Codec,
        scores: Codec,
        mark: str,
        class_of: ClassOf,
        *,
        secret: Secret | None = None,
        known_of: KnownOf = nothing_known,
    ) -> None:
        lattices = tuple(column for column in codec.columns if isinstance(column, ValueLattice))
        if len(lattices) < len(codec.columns):
            raise RequestError("a column is nominal, which no Quantity of FHIR is", where="map")
        self.lattices = lattices
        self.mark = mark
        self.once: frozenset[int] = frozenset()
        self.class_of = class_of
        self._codec, self._scores, self._secret = codec, scores, secret
        self._known_of = known_of

    def hide(self, whose: Sequence[str], X: Floats, moments: Moments) -> list[SentReading]:
        labels = np.array([self.class_of(one) for one in whose])
        count: Counter[str] = Counter()
        numbers = []
        for one in whose:
            count[one] += 1
            numbers.append(count[one])
        draws = None
        if self._secret is not None:
            key = self._secret.derive("protective", f"dither {self.mark}")
            cells = map(self._known_of, whose)
            parts = zip(whose, numbers, labels.tolist(), X.tolist(), cells, strict=True)
            draws = RowDraws.from_key(key, ((*row, *beside) for *row, beside in parts))
        known = self._look_up_known(whose)
        Z = self._codec.encode(X, labels, known=known, protective=draws)
        rows = zip(numbers, Z.tolist(), self._tags(whose, known, Z), strict=True)
        return [SentReading(n, tuple(z), check=tag) for n, z, tag in rows]

    def _look_up_known(self, whose: Sequence[str]) -> NDArray[np.object_] | None:
        return side_rows(list(map(self._known_of, whose))) if self._codec.side else None

    def _tags(
        self, whose: Sequence[str], known: NDArray[np.object_] | None, Z: Floats
    ) -> list[str]:
        """Return a MAC of each message and its known columns, or "" if the map uses none."""
        if known is None:
            return [""] * len(whose)
        keys = {one: proof_key(self._secret, one) for one in whose}
        mac = KnownMac(self._codec.side)
        return mac.tags([keys[one] for one in whose], whose, known, Z)

    def show(self, whose: Sequence[str], sent: Sequence[SentReading]) -> ShownReading:
        labels = np.array([self.class_of(one) for one in whose])
        known, Z = self._look_up_known(whose), np.array([one.values for one in sent])
        tags = self._tags(whose, known, Z)
        if not all(map(hmac.compare_digest, tags, [one.check for one in sent])):
            raise other_known()
        at = self._codec.levels(known, len(Z))
        with np.errstate(over="ignore", invalid="ignore"):  # forged messages may overflow
            X = np.asarray(self._codec.decode(Z, labels, known=at))
        outside = ~np.isfinite(X).all(axis=1)
        rest = np.flatnonzero(~outside)
        found = self._scores.outside(X[rest], labels[rest], RANGE, known=at.take(rest))
        outside[rest] = found.any(axis=1)
        return ShownReading(X, outside)


class SequenceScheme:
    """A scheme that encodes each reading given earlier ones, with one session per subject and file.

    `unit` is the unit of the map's times, in seconds. With None, readings are counted instead.
    """

    def __init__(
        self,
        codec: SequenceCodec,
        class_of: ClassOf,
        unit: int | None = None,
        *,
        secret: Secret | None = None,
        known_of: KnownOf = nothing_known,
    ) -> None:
        self.mark = codec.mark
        pairs = sorted(zip(codec.order, codec.lattices, strict=True), key=lambda pair: pair[0])
        self.lattices = tuple(lattice for _, lattice in pairs)
        self.once = frozenset(codec.order[: codec.invariants])
        self.class_of = class_of
        self._codec = codec
        self._unit = unit
        self._secret, self._known_of = secret, known_of

    def hide(self, whose: Sequence[str], X: Floats, moments: Moments) -> list[SentReading]:
        """Return the messages of readings. Invariants go with a subject's first reading only."""
        token, ends = secrets.token_hex(8), dict[str, Session]()
        sent = []
        for one, x, seconds in zip(whose, X.tolist(), moments, strict=True):
            if one not in ends:
                name = f"{token}.{len(ends) + 1}"
                label, own = self.class_of(one), self._own(one)
                ends[one] = Session(
                    self._codec, label, name, secret=own, known=self._look_up_known(one)
                )
            ends[one].send(x, self._time(seconds))
            (message,) = ends[one].pending()
            ends[one].acknowledge(ends[one].expect_receipt())
            z = self._place_values([nan] * (len(x) - len(message.values)) + list(message.values))
            sent.append(
                SentReading(message.number, z, message.session, message.check, message.time)
            )
        return sent

    def _look_up_known(self, subject: str) -> KnownColumns:
        if not self._codec.codec.side:
            return KnownColumns()
        return KnownColumns.of(
            self._codec, self._known_of(subject), proof_key(self._secret, subject)
        )

    def _own(self, subject: str) -> Secret | None:
        """Return the secret that seeds a subject's dither."""
        return self._secret and Secret(self._secret.derive("protective", "dither", subject))

    def _time(self, seconds: float | None) -> int | None:
        if seconds is None or self._unit is None:
            return None
        return int(seconds // self._unit)

    def show(self, whose: Sequence[str], sent: Sequence[SentReading]) -> ShownReading:
        """Return the readings of messages. A session must be complete from its first message on."""
        ends: dict[str, Session] = {}
        X = np.empty((len(sent), len(self.lattices)))
        outside = np.zeros(len(sent), dtype=np.bool_)
        for at in sorted(range(len(sent)), key=lambda at: sent[at].number):
            one = sent[at]
            if one.session not in ends:
                label, known = self.class_of(whose[at]), self._look_up_known(whose[at])
                ends[one.session] = Session(self._codec, label, one.session, known=known)
            k = self._codec.invariants if one.number > 1 else 0
            values = tuple(one.values[j] for j in self._codec.order[k:])
            message = ReadingMessage(
                one.session, one.number, one.number - 1, one.check, values, one.time
            )
            if ends[one.session].differs(message):
                raise other_known()
            try:
                reading = ends[one.session].receive(message)
            except RequestError:
                raise RequestError(
                    "values that a session stands on are missing or changed",
                    where=f"reading {one.number:,} of a session",
                    instead="decode the whole file as it was encoded",
                ) from None
            if reading is None:
                raise RequestError("two readings of a session have one number")
            X[at], outside[at] = reading.values, reading.outside
        return ShownReading(X, outside)

    def _place_values(self, values: Sequence[float]) -> tuple[float, ...]:
        """Return values in the order of the source's columns."""
        pairs = sorted(zip(self._codec.order, values, strict=True))
        return tuple(z for _, z in pairs)
