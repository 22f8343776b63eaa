"""The messages between client and server in a session, without NumPy."""

from __future__ import annotations

import hmac
import re
import struct
import sys
from collections.abc import Mapping, Sequence
from hashlib import sha256
from typing import Any, NamedTuple

from voile.core.errors import RequestError

LATEST = 1 << 53  # units of time; exact in float64
LARGEST = 2.0**52  # largest value sent: above any reading on its lattice, below overflow
CHECK = re.compile(r"[0-9a-f]{16}|")


class ReadingMessage(NamedTuple):
    """A message with one reading."""

    session: str  # the public name of the session
    number: int  # number of the reading, from 1; unchanged when a message is sent again
    after: int  # number of acknowledged readings it depends on, below `number`
    check: str  # digest of their messages; see `chain`
    values: tuple[float, ...]  # values of the reading; invariants come first while `after` is 0
    time: int | None = None  # time in the map's units; None: the map counts readings
    columns: tuple[int, ...] | None = None  # the map's columns with values; None: all

    def to_json(self) -> dict[str, Any]:
        """Return plain data with JSON text that preserves every float64 exactly."""
        return {k: v for k, v in self._asdict().items() if v is not None}

    @property
    def moment(self) -> int:
        """The time of the reading, or the number of earlier readings if the map counts them."""
        return self.number - 1 if self.time is None else self.time

    @classmethod
    def from_json(cls, data: Mapping[str, Any]) -> ReadingMessage:
        try:
            number, after = whole(data["number"]), whole(data["after"])
            check, values = _check(data["check"]), numbers(data["values"])
            time = moment(data["time"]) if "time" in data else None
            columns = _columns(data["columns"]) if "columns" in data else None
            return cls(_name(data["session"]), number, after, check, values, time, columns)
        except (LookupError, TypeError, ValueError) as wrong:
            raise RequestError("this is not a message of a session") from wrong


class MessageReceipt(NamedTuple):
    """A receipt that confirms all messages up to `number`; `check` is their digest."""

    session: str
    number: int
    check: str

    def to_json(self) -> dict[str, Any]:
        return self._asdict()

    @classmethod
    def from_json(cls, data: Mapping[str, Any]) -> MessageReceipt:
        try:
            return cls(_name(data["session"]), whole(data["number"]), _check(data["check"]))
        except (LookupError, TypeError, ValueError) as wrong:
            raise RequestError("this is not a receipt of a session") from wrong


def whole(value: object) -> int:
    """Return the value if it is a valid count of messages.

    Raises
    ------
    ValueError : the value is not a whole number from 0 to 2^63 - 1.
    """
    if type(value) is not int or not 0 <= value < 1 << 63:
        raise ValueError("a number of messages is not a whole number")
    return value


def moment(value: object) -> int:
    """Return the value if it is a valid time in units.

    Raises
    ------
    ValueError : the value is not a whole number, or its absolute value is larger than `LATEST`.
    """
    if type(value) is not int or not -LATEST <= value <= LATEST:
        raise ValueError("a time is not a whole number of units")
    return value


def numbers(values: object) -> tuple[float, ...]:
    """Return a list of finite numbers as floats.

    Raises
    ------
    ValueError : the value is not a list of finite numbers.
    """
    if not isinstance(values, list | tuple) or any(type(v) not in (int, float) for v in values):
        raise ValueError("this is not a list of numbers")
    if not is_sound(values, sys.float_info.max):
        raise ValueError("a number is not finite")
    return tuple(map(float, values))


def _columns(value: object) -> tuple[int, ...]:
    if not isinstance(value, list | tuple) or not value or list(value) != sorted(set(value)):
        raise ValueError("the columns of a message are out of order")
    return tuple(map(whole, value))


def _name(value: object) -> str:
    if not isinstance(value, str) or any("\ud800" <= one <= "\udfff" for one in value):
        raise ValueError("a session's name is not text")
    return value


def _check(value: object) -> str:
    if not isinstance(value, str) or not CHECK.fullmatch(value):
        raise ValueError("this is not a digest of messages")
    return value


def beginning(session: str, mark: str, proof: bytes = b"") -> str:
    """Return the digest before the first message, from the session's name and the map's mark.

    If the map uses side columns, the digest is a MAC under their proof. All later digests depend on
    it. So no message that was encoded with other side columns is accepted.
    """
    begun = f"{mark} {session}".encode()
    found = hmac.new(proof, begun, "sha256") if proof else sha256(begun)
    return found.hexdigest()[:16]


def chain(check: str, message: ReadingMessage) -> str:
    """Return the digest after one more message.

    The digest uses the sent message, never a reading, since others could test guessed readings.

    >>> one, other = (ReadingMessage("a", 1, 0, "", values) for values in ((1.0,), (1.0, 2.0)))
    >>> chain("", one) == chain("", other)
    False
    """
    _, _, _, _, values, time, columns = message
    whole = (*(() if time is None else (time,)), *(columns or ()))
    packed = struct.pack(f"<{len(values)}d{len(whole)}q", *values, *whole)
    return sha256(check.encode() + packed).hexdigest()[:16]


def is_sound(values: Sequence[float], largest: float = LARGEST) -> bool:
    """Return whether all values are finite numbers with absolute values up to `largest`."""
    for value in values:  # noqa: SIM110 - a generator takes twice as long
        if not -largest <= value <= largest:
            return False
    return True
