"""What lies in an envelope on its way, as JSON: a message and what goes beside it, or a reply.

All of it can be overheard, and anything may arrive: what is not understood is refused.
"""

from __future__ import annotations

import json
import re
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any, NamedTuple, TypeAlias, TypeGuard

from voile.errors import RequestError
from voile.signals.sequences import Message, Receipt

FORMAT = 1
LONGEST = 1 << 16  # bytes of an envelope
FARTHEST = 1000  # messages of a session that may be under way at a time
NOBODY = ""  # the session of a reply to what could not be read
NAME = re.compile(r"[A-Za-z0-9_-]{1,64}")

Plain: TypeAlias = str | int | float | bool | None


class Post(NamedTuple):
    """An envelope: whose, and what is in it."""

    pseudonym: str
    payload: bytes


@dataclass(frozen=True)
class Letter:
    """A message on its way.

    Parameters
    ----------
    map : the name of the map it is made with.
    ahead : how many messages of its session may be under way at a time.
    message : of the session.
    beside : what is sent with it as it is, such as the time.
    """

    map: str
    ahead: int
    message: Message
    beside: Mapping[str, Plain] = field(default_factory=dict)

    def packed(self) -> bytes:
        """Return the envelope's content."""
        message = vars(self.message)  # its JSON, without a copy of each part
        return _packed(map=self.map, ahead=self.ahead, message=message, beside=self.beside)

    @classmethod
    def unpacked(cls, payload: bytes) -> Letter:
        """Read an envelope, or raise a RequestError: of another version, or no message."""
        data = _unpacked(payload)
        ahead, beside, message = (data.get(name) for name in ("ahead", "beside", "message"))
        if not (is_beside(beside) and isinstance(ahead, int) and 1 <= ahead <= FARTHEST):
            raise RequestError("this is no message of a session")
        return cls(str(data.get("map")), ahead, Message.from_json(message or {}), beside)


@dataclass(frozen=True)
class Reply:
    """What the recipient answers.

    Parameters
    ----------
    receipt : up to where all has come.
    again : something is missing after that: whatever is under way is asked for again.
    refused : why the sender's messages are refused; empty if they are not.
    """

    receipt: Receipt
    again: bool = False
    refused: str = ""

    def packed(self) -> bytes:
        """Return the envelope's content."""
        return _packed(receipt=vars(self.receipt), again=self.again, refused=self.refused)

    @classmethod
    def unpacked(cls, payload: bytes) -> Reply:
        """Read an envelope, or raise a RequestError: of another version, or no reply."""
        data = _unpacked(payload)
        receipt, refused = Receipt.from_json(data.get("receipt", {})), str(data.get("refused"))
        # said to a person: one of the known words, or none of the other end's choosing
        return cls(receipt, data.get("again") is True, refused and REFUSALS.get(refused, "unknown"))


REFUSALS = {reason: reason for reason in ("pseudonym", "map", "version", "step")}
SAID = {
    "pseudonym": "the recipient does not know the pseudonym",
    "map": "the recipient has another map",
    "version": "the recipient has another version of voile",
    "step": "the two ends are out of step",
    "unknown": "the recipient refuses the messages",
}


HEARD = {
    "pseudonym": "messages of an unknown pseudonym are refused",
    "map": "messages of another map are refused",
    "version": "messages of another version of voile, or of none, are refused",
    "step": "messages out of step are refused; begin a new session",
}


def is_name(pseudonym: str) -> bool:
    """Say whether a pseudonym can be part of a topic.

    >>> is_name("A7-K2"), is_name("a/b"), is_name("+")
    (True, False, False)
    """
    return NAME.fullmatch(pseudonym) is not None


def is_beside(beside: object) -> TypeGuard[dict[str, Plain]]:
    """Say whether this can go beside a message: names with plain values."""
    plain = (str, int, float, bool, type(None))
    return isinstance(beside, dict) and all(isinstance(value, plain) for value in beside.values())


def _packed(**content: Any) -> bytes:
    return json.dumps({"format": FORMAT, **content}, separators=(",", ":")).encode()


def _unpacked(payload: bytes) -> dict[str, Any]:
    if len(payload) > LONGEST:
        raise RequestError("an envelope is too large")
    try:
        data = json.loads(payload)
    except (ValueError, RecursionError):
        data = None
    if not isinstance(data, dict):
        raise RequestError("an envelope holds no JSON object")
    if data.get("format") != FORMAT:
        raise RequestError("an envelope is of another version of voile")
    return data
