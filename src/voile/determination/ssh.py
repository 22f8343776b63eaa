"""Read and write OpenSSH signatures, as `ssh-keygen -Y sign` and `-Y verify` do.

The format is OpenSSH's PROTOCOL.sshsig. Keys are Ed25519, from the library `cryptography`.
"""

from __future__ import annotations

import base64
import binascii
import hashlib
import re
import struct
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from types import ModuleType
from typing import TYPE_CHECKING

from voile.core.errors import DamagedError, RequestError, VoileError, install
from voile.data.files.own_files import read_bytes

if TYPE_CHECKING:
    from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PrivateKey

NAMESPACE = "voile"
KEY_TYPE, MAGIC, VERSION, HASHES = b"ssh-ed25519", b"SSHSIG", 1, ("sha256", "sha512")
BEGIN, END = "-----BEGIN SSH SIGNATURE-----", "-----END SSH SIGNATURE-----"
WIDTH = 70
LONGEST = 10_000
"""The largest number of characters of a signature file. An Ed25519 signature has 300."""
_ARMOUR = re.compile(rf"{BEGIN}\n((?:[A-Za-z0-9+/=]+\n)+){END}\n")


@dataclass(frozen=True)
class PublicKey:
    """An Ed25519 key in OpenSSH's format: `blob` contains the type and the 32 bytes."""

    blob: bytes

    @property
    def fingerprint(self) -> str:
        """The fingerprint that `ssh-keygen -l` prints."""
        digest = base64.b64encode(hashlib.sha256(self.blob).digest()).decode()
        return f"SHA256:{digest.rstrip('=')}"

    @property
    def raw(self) -> bytes:
        """The 32 bytes of the key.

        Raises
        ------
        ValueError : the key is not an Ed25519 key.
        """
        kind, raw = _strings(self.blob, 2)
        if kind != KEY_TYPE or len(raw) != 32:
            raise ValueError("the key is not an Ed25519 key")
        return raw

    @property
    def line(self) -> str:
        """The key as written in a line of allowed_signers or of a `.pub` file."""
        return f"{KEY_TYPE.decode()} {base64.b64encode(self.blob).decode()}"


@dataclass(frozen=True)
class SshSignature:
    """The content of a signature file."""

    key: PublicKey
    namespace: str
    hash: str
    signature: bytes

    @classmethod
    def parse(cls, text: str) -> SshSignature:
        """Parse the text of a signature file.

        Raises
        ------
        ValueError : the text is not a signature by an Ed25519 key.
        """
        found = _ARMOUR.fullmatch(text)
        if len(text) > LONGEST or found is None:
            raise ValueError("the signature is not an SSH signature")
        blob = base64.b64decode(found[1].replace("\n", ""), validate=True)
        if not blob.startswith(MAGIC + struct.pack(">I", VERSION)):
            raise ValueError("the SSH signature does not have version 1")
        key, namespace, reserved, name, signature = _strings(blob[len(MAGIC) + 4 :], 5)
        kind, raw = _strings(signature, 2)
        if kind != KEY_TYPE or len(raw) != 64 or reserved or name.decode() not in HASHES:
            raise ValueError("the signature was not made with an Ed25519 key")
        own = cls(PublicKey(key), namespace.decode(), name.decode(), raw)
        if own.key.raw and own.write_armour() != text:
            raise ValueError("the signature file is not a well-formed SSH signature")
        return own

    def write_armour(self) -> str:
        """Return the text of the signature file."""
        signature = _string(KEY_TYPE) + _string(self.signature)
        parts = (self.key.blob, self.namespace.encode(), b"", self.hash.encode(), signature)
        blob = MAGIC + struct.pack(">I", VERSION) + b"".join(map(_string, parts))
        return _rewrap_text(base64.b64encode(blob).decode())

    def holds(self, message: bytes) -> bool:
        """Return whether this key signed this message in voile's namespace."""
        from cryptography.exceptions import InvalidSignature

        ed25519 = _library()
        if self.namespace != NAMESPACE:
            return False
        try:
            key = ed25519.Ed25519PublicKey.from_public_bytes(self.key.raw)
            key.verify(self.signature, _frame_signed(message, self.namespace, self.hash))
        except (InvalidSignature, ValueError):
            return False
        return True


def sign(message: bytes, key: Ed25519PrivateKey) -> SshSignature:
    """Sign a message in voile's namespace, as `ssh-keygen -Y sign -n voile` does."""
    public = public_key(key)
    signature = key.sign(_frame_signed(message, NAMESPACE, "sha512"))
    return SshSignature(public, NAMESPACE, "sha512", signature)


def public_key(key: Ed25519PrivateKey) -> PublicKey:
    """Return the public part of a private key."""
    from cryptography.hazmat.primitives.serialization import Encoding, PublicFormat

    raw = key.public_key().public_bytes(Encoding.Raw, PublicFormat.Raw)
    return PublicKey(_string(KEY_TYPE) + _string(raw))


def load_key(path: Path) -> Ed25519PrivateKey:
    """Read a private key in OpenSSH's format, without a passphrase.

    Raises
    ------
    RequestError : the file does not exist, is encrypted, or is not an Ed25519 key.
    """
    _library()
    from cryptography.exceptions import UnsupportedAlgorithm
    from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PrivateKey
    from cryptography.hazmat.primitives.serialization import load_ssh_private_key

    other = "sign with ssh-keygen: leave out --key, and voile writes the statement to sign"
    try:
        key = load_ssh_private_key(read_bytes(path), password=None)
    except (FileNotFoundError, NotADirectoryError):
        raise RequestError(
            "the key file does not exist", where=str(path), instead="correct the path of the key"
        ) from None
    except (TypeError, ValueError, UnsupportedAlgorithm) as error:
        is_encrypted = "password" in str(error).lower() or isinstance(error, TypeError)
        what = (
            "the key has a passphrase" if is_encrypted else "this is not a private key of OpenSSH's"
        )
        raise RequestError(what, where=str(path), instead=other) from None
    if isinstance(key, Ed25519PrivateKey):
        return key
    raise RequestError(
        "the key is not an Ed25519 key",
        where=str(path),
        instead="make an Ed25519 key: ssh-keygen -t ed25519",
    )


def read_signature(path: Path) -> SshSignature:
    """Read a signature file.

    Raises
    ------
    DamagedError : the file is not a signature by an Ed25519 key.
    """
    try:
        return SshSignature.parse(read_bytes(path).decode("ascii"))
    except (OSError, ValueError, binascii.Error, struct.error):
        raise DamagedError(
            "the file is not an SSH signature by an Ed25519 key", where=str(path)
        ) from None


def _library() -> ModuleType:
    try:
        from cryptography.hazmat.primitives.asymmetric import ed25519
    except ImportError:
        raise VoileError("cryptography is not installed", instead=install("sign")) from None
    return ed25519


def _frame_signed(message: bytes, namespace: str, hash: str) -> bytes:
    """Return the bytes that the key signs: the message's hash, bound to the namespace."""
    digest = hashlib.new(hash, message).digest()
    parts = (namespace.encode(), b"", hash.encode(), digest)
    return MAGIC + b"".join(map(_string, parts))


def _rewrap_text(text: str) -> str:
    flat = text.replace("\n", "")
    lines = [flat[start : start + WIDTH] for start in range(0, len(flat), WIDTH)]
    return "\n".join((BEGIN, *lines, END, ""))


def _string(data: bytes) -> bytes:
    return struct.pack(">I", len(data)) + data


def _strings(data: bytes, count: int) -> Iterator[bytes]:
    """Split data into exactly `count` length-prefixed strings."""
    parts = []
    for _ in range(count):
        (length,) = struct.unpack_from(">I", data)
        if len(data) < 4 + length:
            raise ValueError("cut")
        parts.append(data[4 : 4 + length])
        data = data[4 + length :]
    if data:
        raise ValueError("more than there should be")
    return iter(parts)
