"""The content of an envelope as JSON: a message with its kept columns, or a reply.

A stolen device may have written any part of it. The code therefore refuses content that differs in
any way from the form that voile writes.
"""

from __future__ import annotations

import json
import math
import re
from collections.abc import Mapping, Set
from dataclasses import dataclass, field
from typing import Any, NamedTuple, NoReturn, TypeAlias, TypeGuard

from voile.core.errors import RequestError
from voile.signals.model.sequences.messages import MessageReceipt, ReadingMessage

FARTHEST = 1000  # maximum number of pending messages in a session
REPLY = 96  # bytes of every reply; the constant length reveals nothing
WIDEST = 1 << 64  # exclusive bound of whole numbers in kept columns
NAME = re.compile(r"[A-Za-z0-9_-]{1,64}")

Plain: TypeAlias = str | int | float | bool | None


class EnvelopePost(NamedTuple):
    """An envelope to send: its pseudonym and its bytes."""

    pseudonym: str
    payload: bytes


@dataclass(frozen=True)
class ReadingLetter:
    ahead: int
    message: ReadingMessage
    beside: Mapping[str, Plain] = field(default_factory=dict)

    def pack_content(self) -> bytes:
        """Return the envelope's content. Session and number are in the envelope's header."""
        message = self.message
        inside = {"after": message.after, "check": message.check, "values": message.values}
        more = {"time": message.time, "columns": message.columns}
        there = {name: value for name, value in more.items() if value is not None}
        return _pack_content(ahead=self.ahead, **inside, **there, beside=self.beside)

    @classmethod
    def unpack_content(cls, session: str, number: int, content: bytes) -> ReadingLetter:
        names = "ahead", "after", "check", "values", "beside"
        data = _unpack_content(content, *names, beyond={"time", "columns"})
        ahead, beside = data["ahead"], data["beside"]
        counts = type(ahead) is int and 1 <= ahead <= FARTHEST and number > 0
        if not (counts and is_beside(beside)):
            raise RequestError("this is not a message of a session")
        message = ReadingMessage.from_json({**data, "session": session, "number": number})
        return cls(ahead, message, beside)


@dataclass(frozen=True)
class ReceiptReply:
    receipt: MessageReceipt
    again: bool = False
    refused: str = ""

    def pack_content(self) -> bytes:
        check = self.receipt.check
        return _pack_content(check=check, again=self.again, refused=self.refused).ljust(REPLY)

    @classmethod
    def unpack_content(cls, session: str, number: int, content: bytes) -> ReceiptReply:
        data = _unpack_content(content, "check", "again", "refused")
        again, refused = data["again"], data["refused"]
        if len(content) != REPLY or type(again) is not bool or type(refused) is not str:
            raise RequestError("this is not a reply")
        receipt = MessageReceipt.from_json(
            {"session": session, "number": number, "check": data["check"]}
        )
        # shown to a person, so it must be one of the known reasons, never free text of the other
        # side
        return cls(receipt, again, refused and (refused if refused in SAID else "unknown"))


SAID = {
    "pseudonym": "the recipient does not know the pseudonym",
    "key": "the recipient no longer takes this key: enrol the device again",
    "map": "the recipient has another map",
    "version": "the recipient has another version of voile",
    "encryption": "one end encrypts and the other does not: say --encrypt at both or at neither",
    "content": "the recipient cannot read the messages' content",
    "kept": "the readings come with a column that the recipient's kit does not keep",
    "known": "the recipient has other known columns: correct them there and run this again, or "
    "here, and send from a new spool",
    "sessions": "the recipient takes no more sessions under this key: enrol the device again",
    "step": "the two ends are out of step",
    "enrolment": "the enrolment file does not name it any more",
    "unknown": "the recipient refuses the messages",
}
"""The message for the sender's operator, by reason."""

HEARD = {
    "pseudonym": "messages of an unknown pseudonym are refused",
    "key": "messages under a key of another generation are refused; enrol the device again",
    "map": "messages of another map are refused",
    "version": "messages of another version of voile are refused",
    "encryption": "messages are refused: one end encrypts and the other does not",
    "content": "messages whose content is malformed are refused",
    "kept": "messages with columns that the kit does not keep are refused",
    "known": "messages encoded with other known columns are refused; correct them at one end",
    "sessions": "its device begins session after session, and no more are taken under its key",
    "step": "messages out of step are refused; begin a new session",
}
"""The message for the recipient's operator, by reason."""


def is_name(pseudonym: str) -> bool:
    """Return whether a pseudonym can be part of a topic.

    >>> is_name("A7-K2"), is_name("a/b"), is_name("+")
    (True, False, False)
    """
    return NAME.fullmatch(pseudonym) is not None


def is_beside(beside: object) -> TypeGuard[dict[str, Plain]]:
    """Return whether these columns can go with a message: text names and finite plain values."""
    return isinstance(beside, dict) and all(
        _is_text(name) and _is_plain(value) for name, value in beside.items()
    )


def _is_plain(value: object) -> bool:
    match value:
        case None | bool():
            return True
        case int():
            return abs(value) < WIDEST
        case float():
            return math.isfinite(value)
    return _is_text(value)


def _is_text(value: object) -> bool:
    """Return whether the value is text without surrogates, which any file or database can store."""
    return isinstance(value, str) and not any("\ud800" <= one <= "\udfff" for one in value)


def parse_object(data: bytes) -> dict[str, Any]:
    """Parse a JSON object.

    Raises
    ------
    RequestError : the data is not a JSON object, or contains repeated names, NaN, infinities or
        nesting beyond Python's limit.
    """
    try:
        content = json.loads(data, object_pairs_hook=_distinct, parse_constant=_no_number)
    except (ValueError, RecursionError):
        content = None
    if not isinstance(content, dict):
        raise RequestError("this holds no JSON object")
    return content


def _distinct(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    found = dict(pairs)
    if len(found) < len(pairs):
        raise ValueError("a name comes twice")
    return found


def _no_number(_: str) -> NoReturn:
    raise ValueError("this is not a number")


def _pack_content(**content: Any) -> bytes:
    return json.dumps(content, separators=(",", ":")).encode()


def _unpack_content(content: bytes, *names: str, beyond: Set[str] = frozenset()) -> dict[str, Any]:
    """Parse an object that has all `names` and possibly names in `beyond`, but no others."""
    data = parse_object(content)
    if data.keys() - beyond != set(names):
        raise RequestError("an envelope holds something else")
    return data
