"""The seal of a release: the hash of every written file, stored in the private folder.

Somebody with write access to the release, but not to the private folder, cannot change a byte
unnoticed. Somebody with write access to the folder can replace the seal, unless it was made with a
secret.
"""

from __future__ import annotations

import hashlib
import hmac
import json
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

from voile.core.errors import TamperedError

if TYPE_CHECKING:
    from voile.keys.secret import Secret

SEAL, EVIDENCE_SEAL = "seal.json", "evidence-seal.json"  # the seals of `apply` and of `attack`
FORMAT = "voile-seal"


def file_sha256(path: Path) -> str:
    """Return the SHA-256 of a file, or of the names and hashes of the files in a folder."""
    if path.is_dir():
        lines = (f"{one.name}\0{_entry_sha256(one)}\n" for one in sorted(path.iterdir()))
        return hashlib.sha256("".join(lines).encode(errors="surrogateescape")).hexdigest()
    with path.open("rb") as file:
        return hashlib.file_digest(file, "sha256").hexdigest()


def _entry_sha256(path: Path) -> str:
    """Return the hash of a folder's entry. A link or a subfolder is not an original file."""
    return file_sha256(path) if path.is_file() and not path.is_symlink() else "no file"


@dataclass(frozen=True)
class FileSeal:
    """The SHA-256 of files by name, and their MAC if a secret was available."""

    files: Mapping[str, str]
    mac: str | None = None

    @classmethod
    def of(cls, named: Mapping[str, Path], folder: Path, secret: Secret | None) -> FileSeal:
        every = {**named, **{path.name: path for path in sorted(folder.iterdir())}}
        return cls({name: file_sha256(path) for name, path in every.items()}).under(secret)

    def under(self, secret: Secret | None) -> FileSeal:
        """Return the same seal with the MAC of this secret, or without a MAC if it is None."""
        return FileSeal(self.files, None if secret is None else self._mac(secret))

    def holds_under(self, secret: Secret) -> bool:
        return hmac.compare_digest(str(self.mac).encode(), self._mac(secret).encode())

    def _mac(self, secret: Secret) -> str:
        return hmac.digest(secret.derive("seal"), _bytes(dict(self.files)), "sha256").hex()

    def to_bytes(self) -> bytes:
        return _bytes({"format": FORMAT, "version": 1, "files": self.files, "mac": self.mac})

    @classmethod
    def read_file(cls, path: Path) -> FileSeal:
        """Read a seal from its file.

        Raises
        ------
        TamperedError : the seal is missing or was changed.
        """
        try:
            raw = path.read_bytes()
            data = json.loads(raw)
            seal = cls({str(name): str(x) for name, x in data["files"].items()}, data["mac"])
            if raw == seal.to_bytes():
                return seal
        except (OSError, ValueError, LookupError, TypeError, AttributeError, RecursionError):
            pass
        raise TamperedError("the seal file is missing or damaged", where=str(path))


def _bytes(data: Mapping[str, object]) -> bytes:
    return json.dumps(data, indent=1, sort_keys=True).encode()
