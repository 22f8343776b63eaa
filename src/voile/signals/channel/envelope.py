"""The envelope of a message: a MAC, a header and content that can be encrypted.

    MAC | format | sealed | generation | map | session | number | content
     32 |   1    |   1    |     2      |  8  |   16    |   8    | the rest

The MAC is checked before any other byte is read. It is HMAC-SHA-256 under the device's key. It
covers the topic's length in four bytes, the topic, and every byte after the MAC. The last part of
the topic is the direction. The MAC covers only the sent bytes, never a plain reading or class,
since others could guess and test those.

With encryption, AES-256-SIV (RFC 5297) encrypts the content before the MAC is computed. Its key
depends on the device, the direction and the session. The topic and the header, with the number, are
its associated data. A repeated message is identical bit for bit. A device restored from a backup
may send another message with a used number. SIV then reveals only that the two messages differ,
while a nonce-based mode would be broken.
"""

from __future__ import annotations

import hmac
import struct
from collections.abc import Callable
from dataclasses import dataclass
from typing import TYPE_CHECKING, Literal, NamedTuple, TypeAlias

from voile.core.errors import RequestError, install
from voile.signals.channel.keys import MAC, DeviceKey
from voile.signals.channel.posts import EnvelopePost

if TYPE_CHECKING:
    from cryptography.hazmat.primitives.ciphers.aead import AESSIV

FORMAT = 2
HEADER = struct.Struct(">B?H8s16sQ")
LEAST = MAC + HEADER.size
LONGEST = 1 << 16  # bytes of an envelope

Box: TypeAlias = Literal["readings", "receipts"]
KeyOf: TypeAlias = Callable[[str, int], DeviceKey | None]


class EnvelopeHeader(NamedTuple):
    """The header of an envelope, which everyone can read."""

    generation: int
    map: str
    session: str
    number: int
    sealed: bool = False
    format: int = FORMAT

    def pack_bytes(self) -> bytes:
        names = bytes.fromhex(self.map), bytes.fromhex(self.session)
        return HEADER.pack(self.format, self.sealed, self.generation, *names, self.number)

    @classmethod
    def unpack_bytes(cls, data: bytes) -> EnvelopeHeader:
        """Read a header. Every byte string of the right length is a header."""
        format, sealed, generation, map, session, number = HEADER.unpack(data)
        return cls(generation, map.hex(), session.hex(), number, sealed, format)


@dataclass(frozen=True)
class SealedEnvelope:
    """An envelope with a valid MAC, which proves that its writer has the device's key."""

    header: EnvelopeHeader
    content: bytes
    key: DeviceKey
    place: bytes

    def open(self) -> bytes:
        """Return the content, decrypted if it is sealed.

        Raises
        ------
        RequestError : the sealed content cannot be decrypted.
        """
        if not self.header.sealed:
            return self.content
        from cryptography.exceptions import InvalidTag

        known = [self.place, self.header.pack_bytes()]
        try:
            return _cipher(self.key, self.place, self.header.session).decrypt(self.content, known)
        except (InvalidTag, ValueError):
            raise RequestError("the sealed content cannot be opened") from None


@dataclass(frozen=True)
class EnvelopeSealer:
    """The sealing of a sender's or recipient's posts, and the authentication of received posts."""

    hears: Box  # the box that the sender or recipient reads
    posts: Box  # the box that it writes to
    key_of: KeyOf  # returns the key of a pseudonym and generation, or None if it is unknown
    topic: str  # the first part of all topics
    encrypt: bool  # whether contents are sealed

    def __post_init__(self) -> None:
        if not self.topic or any(sign in self.topic for sign in "+#\0"):
            raise RequestError("a topic holds + or #, or is empty", where="topic")
        if self.encrypt:
            _library()

    def place(self, pseudonym: str, box: Box) -> str:
        """Return a complete topic: prefix, pseudonym and direction."""
        return f"{self.topic}/{pseudonym}/{box}"

    def seal(
        self, pseudonym: str, key: DeviceKey, header: EnvelopeHeader, content: bytes
    ) -> EnvelopePost:
        place = self.place(pseudonym, self.posts).encode()
        header = header._replace(generation=key.generation, sealed=self.encrypt)
        on = header.pack_bytes()
        if self.encrypt:
            content = _cipher(key, place, header.session).encrypt(content, [place, on])
        return EnvelopePost(pseudonym, key.mac(place, on + content) + on + content)

    def authenticate(self, post: EnvelopePost) -> SealedEnvelope | None:
        """Return the envelope if its MAC is valid, else None."""
        if not LEAST <= len(post.payload) <= LONGEST:
            return None
        mac, rest = post.payload[:MAC], post.payload[MAC:]
        header = EnvelopeHeader.unpack_bytes(rest[: HEADER.size])
        key = self.key_of(post.pseudonym, header.generation)
        place = self.place(post.pseudonym, self.hears).encode()
        if key is None or not hmac.compare_digest(key.mac(place, rest), mac):
            return None
        return SealedEnvelope(header, rest[HEADER.size :], key, place)


def _cipher(key: DeviceKey, place: bytes, session: str) -> AESSIV:
    return _library()(key.encryption(place, session))


def _library() -> type[AESSIV]:
    try:
        from cryptography.hazmat.primitives.ciphers.aead import AESSIV
    except ImportError:
        raise RequestError(
            "cryptography is not installed",
            where="--encrypt",
            instead=install("send"),
        ) from None
    return AESSIV
