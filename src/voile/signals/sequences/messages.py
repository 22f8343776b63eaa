"""What travels between the two ends of a session: NumPy not needed."""

from __future__ import annotations

import math
import struct
from collections.abc import Mapping
from dataclasses import asdict, dataclass
from hashlib import sha256
from typing import Any

from voile.errors import RequestError


@dataclass(frozen=True)
class Message:
    """One reading under way.

    Parameters
    ----------
    session : the session's name, public.
    number : from 1 up, one a reading; the same again where a message is sent again.
    after : how many acknowledged readings it stands on, below `number`.
    check : the digest of the messages that carried these; see `chain`.
    values : what is sent of the reading; with the invariants in front while `after` is 0.
    """

    session: str
    number: int
    after: int
    check: str
    values: tuple[float, ...]

    def to_json(self) -> dict[str, Any]:
        """Return plain data, whose JSON text keeps every float64 as it is."""
        return asdict(self)

    @classmethod
    def from_json(cls, data: Mapping[str, Any]) -> Message:
        """Rebuild a message, or raise a RequestError if it is none."""
        try:
            values = tuple(float(value) for value in data["values"])
            number, after = _whole(data["number"]), _whole(data["after"])
            return cls(str(data["session"]), number, after, str(data["check"]), values)
        except (LookupError, TypeError, ValueError) as wrong:
            raise RequestError("this is no message of a session") from wrong


@dataclass(frozen=True)
class Receipt:
    """Say that all messages up to `number` have come; `check` is the digest of these."""

    session: str
    number: int
    check: str

    def to_json(self) -> dict[str, Any]:
        """Return plain data."""
        return asdict(self)

    @classmethod
    def from_json(cls, data: Mapping[str, Any]) -> Receipt:
        """Rebuild a receipt, or raise a RequestError if it is none."""
        try:
            return cls(str(data["session"]), _whole(data["number"]), str(data["check"]))
        except (LookupError, TypeError, ValueError) as wrong:
            raise RequestError("this is no receipt of a session") from wrong


def _whole(value: object) -> int:
    if not isinstance(value, int) or isinstance(value, bool) or value < 0:
        raise ValueError("a number of messages is no whole number")
    return value


def beginning(session: str, mark: str) -> str:
    """Return the digest before the first message: of the session's name and the map's mark."""
    return sha256(f"{mark} {session}".encode()).hexdigest()[:16]


def chain(check: str, values: tuple[float, ...]) -> str:
    """Return the digest with one more message.

    Of what anyone can overhear, never of a reading: a digest of readings could be tried out.

    >>> chain(chain("", (1.0,)), (2.0,)) == chain("", (1.0, 2.0))
    False
    """
    packed = struct.pack(f"<{len(values)}d", *values)
    return sha256(check.encode() + packed).hexdigest()[:16]


def finite(values: tuple[float, ...]) -> bool:
    """Say whether all values are numbers, none infinite."""
    return all(map(math.isfinite, values))
