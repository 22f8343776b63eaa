"""Read OpenSSH's allowed_signers files, which list the trusted keys of each signer."""

from __future__ import annotations

import base64
import binascii
import re
import struct
from dataclasses import dataclass
from datetime import UTC, datetime
from fnmatch import fnmatchcase
from pathlib import Path

from voile.core.errors import RequestError
from voile.data.files.own_files import read_bytes
from voile.determination.ssh import KEY_TYPE, NAMESPACE, PublicKey

_OPTION = re.compile(r'([a-z-]+)(?:="((?:[^"\\]|\\.)*)")?(?:,|$)', re.IGNORECASE)
_TIMES = {8: "%Y%m%d", 12: "%Y%m%d%H%M", 14: "%Y%m%d%H%M%S"}


@dataclass(frozen=True)
class AllowedSigner:
    """One line of the file: name patterns, a key, and limits on namespaces and times."""

    principals: str
    key: PublicKey
    namespaces: str | None = None
    after: datetime | None = None
    before: datetime | None = None

    def allows(self, signer: str, key: PublicKey | None, at: datetime) -> bool:
        """Return whether this line allows a key to sign for a signer at a time.

        key : the key to check. None stands for the line's own key.
        """
        return (
            key in (None, self.key)
            and _matches(signer, self.principals)
            and (self.namespaces is None or _matches(NAMESPACE, self.namespaces))
            and (self.after is None or at >= self.after)
            and (self.before is None or at < self.before)
        )


def read_allowed_signers(path: Path) -> tuple[AllowedSigner, ...]:
    """Read the Ed25519 keys of an allowed_signers file. Lines with other types of keys are ignored.

    Raises
    ------
    RequestError : the file does not exist, or a line does not have the format of ssh-keygen(1).
        Also raised for the option of a certificate authority, which voile does not support.
    """
    try:
        lines = read_bytes(path).decode("utf-8-sig").splitlines()
    except (FileNotFoundError, NotADirectoryError):
        raise RequestError("no such file of allowed signers", where=str(path)) from None
    except UnicodeDecodeError:
        raise RequestError(
            "the file is not a list of allowed signers",
            where=str(path),
            instead="write one line per signer: NAME ssh-ed25519 KEY",
        ) from None
    found = []
    for number, line in enumerate(map(str.strip, lines), start=1):
        if line and not line.startswith("#"):
            try:
                signer = _parse_line(line)
            except (ValueError, binascii.Error, struct.error) as error:
                said = "this is not a line of allowed_signers"
                why = str(error) if isinstance(error, _LineError) else ""
                raise RequestError(why or said, where=f"{path}, line {number}") from None
            found += [signer] if signer else []
    return tuple(found)


class _LineError(ValueError):
    """The error for a well-formed line that uses an unsupported feature."""


def _parse_line(line: str) -> AllowedSigner | None:
    principals, rest = _word(line)
    options = {}
    if not _is_key_type(rest):
        written, rest = _word(rest)
        options = _options(written)
    kind, _, rest = rest.partition(" ")
    if kind.encode() != KEY_TYPE:
        return None
    blob = base64.b64decode(rest.split()[0] if rest.split() else "", validate=True)
    key = PublicKey(blob)
    if not (key.raw and principals):
        raise ValueError
    return AllowedSigner(
        principals,
        key,
        options.get("namespaces"),
        _time(options.get("valid-after")),
        _time(options.get("valid-before")),
    )


def _word(line: str) -> tuple[str, str]:
    """Split off the first word of a line. A quoted part of it may contain blanks."""
    found = re.match(r'((?:"(?:[^"\\]|\\.)*"|[^\s"])+)\s+(.*)', line)
    if found is None:
        raise ValueError
    word, rest = found[1], found[2]
    is_quoted = word.startswith('"') and word.endswith('"')
    return (word[1:-1] if is_quoted else word), rest


def _is_key_type(rest: str) -> bool:
    return re.match(r"(ssh-|ecdsa-|sk-)[\w@.-]+\s", rest) is not None


def _options(written: str) -> dict[str, str]:
    found, place = dict[str, str](), 0
    while place < len(written):
        one = _OPTION.match(written, place)
        if one is None:
            raise ValueError
        name = one[1].lower()
        if name == "cert-authority":
            raise _LineError("names a certificate authority: list the keys themselves")
        if name not in ("namespaces", "valid-after", "valid-before") or name in found or not one[2]:
            raise ValueError
        found[name], place = one[2], one.end()
    return found


def _time(text: str | None) -> datetime | None:
    """Parse a time like ssh-keygen: in UTC if it ends with Z, otherwise in the local time zone."""
    if text is None:
        return None
    digits = text.removesuffix("Z")
    if len(digits) not in _TIMES:
        raise ValueError
    read = datetime.strptime(digits, _TIMES[len(digits)])
    return read.replace(tzinfo=UTC) if text.endswith("Z") else read.astimezone()


def _matches(name: str, patterns: str) -> bool:
    """Return whether a name matches a list of patterns. A pattern with `!` excludes its matches."""
    listed = [one.strip() for one in patterns.split(",")]
    if any(_fits(name, one[1:]) for one in listed if one.startswith("!")):
        return False
    return any(_fits(name, one) for one in listed if not one.startswith("!"))


def _fits(name: str, pattern: str) -> bool:
    """Match a name with only * and ? as wildcards, like OpenSSH."""
    return fnmatchcase(name, pattern.replace("[", "[[]"))
