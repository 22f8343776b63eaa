"""The secret from which all other keys are derived, with a separate label for each use.

The uses, with their parts in brackets, and their keys:

- `pseudonym` (purpose) : the pseudonyms of that purpose
- `surrogate` (subject, value) : the choice of one value's surrogate
- `date shift` : the number of days by which each subject's dates move
- `protective` (purpose) : noise, dither and row order that the secret's holder can draw again
- `channel` (pseudonym, generation) : the MACs and the encryption of one subject's device messages
- `seal` : the MAC of a release's private folder
- `known` (pseudonym) : one subject's MACs of a message, with the known columns of its encoding
- `ledger` (id) : the keyed hashes of one ledger, for values, columns and sources

A derived key reveals nothing about the secret, or about the key of another use or of other parts. A
device therefore receives its own `channel` key, never the secret.
"""

from __future__ import annotations

import hmac
import os
import stat
from typing import Literal, NoReturn, TypeAlias, final

from voile.core.errors import RequestError

_LEAST, _MOST = 16, 4096

Use: TypeAlias = Literal[
    "pseudonym",
    "surrogate",
    "date shift",
    "protective",
    "channel",
    "seal",
    "ledger",
    "known",
    "row order",
]


@final
class Secret:
    """A secret key that is never printed and cannot be pickled.

    The key never comes from a command's arguments, which other users of the machine can read.

    Parameters
    ----------
    key : 16 to 4096 bytes that nobody can guess.
    where : the place from which the key was read, for error messages.

    Examples
    --------
    >>> Secret(bytes(range(32)))
    Secret(32 bytes, hidden)
    """

    __slots__ = ("_key", "_uses")

    def __init__(self, key: bytes, *, where: str | None = None) -> None:
        if not _LEAST <= len(key) <= _MOST:
            found = f"more than {_MOST}" if len(key) > _MOST else str(len(key))
            raise RequestError(
                f"the secret has {found} bytes, and needs {_LEAST} to {_MOST}",
                where=where,
                instead="make one of 64 characters with python -c "
                '"import secrets; print(secrets.token_hex(32))"',
            )
        self._key = bytes(key)
        self._uses: dict[Use, bytes] = {}  # the first derivation step of each use, computed once

    @classmethod
    def from_environment(cls, name: str = "VOILE_SECRET") -> Secret:
        """Read the secret from an environment variable, with its text as bytes."""
        return cls(os.fsencode(os.environ.get(name, "")), where=f"environment variable {name}")

    @classmethod
    def from_file(cls, path: str | os.PathLike[str]) -> Secret:
        """Read the secret from a file with access for its owner alone; a final newline is removed.

        The same text in a file and in the environment gives the same secret.
        """
        where = os.fspath(path)
        key = read_private(path, "the secret's file", _MOST + 3)
        return cls(key.removesuffix(b"\n").removesuffix(b"\r"), where=where)

    @classmethod
    def find(cls, key_file: str | os.PathLike[str] | None) -> Secret | None:
        """Read the secret from a file, or without a file from VOILE_SECRET if it is set."""
        if key_file is not None:
            return cls.from_file(key_file)
        return cls.from_environment() if os.environ.get("VOILE_SECRET") else None

    def derive(self, use: Use, *parts: str) -> bytes:
        """Return the 32-byte key of one use, keyed again with HMAC-SHA-256 by each part in turn.

        Keys of different uses or parts reveal nothing about each other, or about the secret.
        """
        if use not in self._uses:
            self._uses[use] = hmac.digest(self._key, f"voile {use}".encode(), "sha256")
        key = self._uses[use]
        for part in parts:
            key = hmac.digest(key, part.encode(), "sha256")
        return key

    def __repr__(self) -> str:
        return f"Secret({len(self._key)} bytes, hidden)"

    def __reduce__(self) -> NoReturn:
        raise TypeError("a secret cannot be copied or stored")


def read_private(path: str | os.PathLike[str], name: str, most: int) -> bytes:
    """Read at most `most` bytes of a file that only its owner may read or write.

    The permissions are not checked on systems without them (Windows).

    name : the description of the file in error messages.

    Raises
    ------
    RequestError : the file cannot be read, or other users may read or write it.
    """
    where = os.fspath(path)
    try:
        with open(path, "rb") as file:
            mode = os.fstat(file.fileno()).st_mode
            data = file.read(most)
    except OSError as error:
        raise RequestError(
            f"{name} cannot be read ({error.strerror})",
            where=where,
            instead="give a file that you have permission to read",
        ) from None
    if os.name == "posix" and stat.S_IMODE(mode) & 0o066:
        raise RequestError(
            f"other users may read or write {name}",
            where=where,
            instead="let only the owner read the file: chmod 600",
        )
    return data
