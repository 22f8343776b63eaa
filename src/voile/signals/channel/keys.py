"""The keys of a device: one for each of its subjects. A device never has the secret itself."""

from __future__ import annotations

import hmac
import json
import os
import unicodedata
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from typing import Any, NoReturn, final

from voile.core.errors import RequestError
from voile.data.files.outputs import ENROLMENT, ENROLMENT_FORMAT
from voile.keys.secret import Secret, read_private
from voile.signals.channel.posts import is_name, parse_object

VERSION = 1
MOST = 1 << 26  # bytes of an enrolment file, for about 200,000 subjects
LAST = (1 << 16) - 1  # the last generation of keys
MAC = 32  # bytes


@final
class DeviceKey:
    """The key of one subject's device. It hides itself in `repr` and cannot be pickled."""

    __slots__ = ("_key", "_mac", "generation")

    def __init__(self, key: bytes, generation: int) -> None:
        if len(key) != MAC or type(generation) is not int or not 1 <= generation <= LAST:
            raise RequestError("this is not a key of a device, or of no generation from 1 to 65535")
        self._key = key
        self._mac = hmac.digest(key, b"voile mac", "sha256")
        self.generation = generation

    @classmethod
    def derive(cls, secret: Secret, pseudonym: str, generation: int = 1) -> DeviceKey:
        """Derive a subject's key from the secret."""
        return cls(secret.derive("channel", pseudonym, str(generation)), generation)

    def mac(self, place: bytes, data: bytes) -> bytes:
        """Return the HMAC-SHA-256 of the topic's length, the topic and the data."""
        return hmac.digest(self._mac, len(place).to_bytes(4, "big") + place + data, "sha256")

    def encryption(self, place: bytes, session: str) -> bytes:
        """Return the 64-byte key of AES-256-SIV for one session in one direction."""
        return hmac.digest(self._key, b"voile encryption " + session.encode() + place, "sha512")

    def dither(self) -> Secret:
        """Return the secret that seeds the dither of the device's sessions."""
        return Secret(hmac.digest(self._key, b"voile dither", "sha256"))

    def derive_known_key(self) -> bytes:
        """Return the key with which client and server prove that their known columns are equal."""
        return hmac.digest(self._key, b"voile known", "sha256")

    def hex(self) -> str:
        return self._key.hex()

    def __repr__(self) -> str:
        return f"DeviceKey(generation {self.generation}, hidden)"

    def __reduce__(self) -> NoReturn:
        raise TypeError("a key is not copied or stored: read its enrolment file")


@dataclass(frozen=True)
class EnrolledSubject:
    """One subject of a device: its name in the source, its pseudonym and its key."""

    subject: str = field(repr=False)
    pseudonym: str
    key: DeviceKey

    def mac(self, map: str) -> str:
        """Return the MAC of an entry in the enrolment file, under the entry's own key."""
        entry = [VERSION, map, self.subject, self.pseudonym, self.key.generation]
        return self.key.mac(b"enrolment", json.dumps(entry).encode()).hex()


@dataclass(frozen=True)
class Enrolment:
    """The keys of a device's own subjects, derived from the secret.

    A thief can read and forge the messages of these subjects, but not of others.
    """

    map: str
    devices: tuple[EnrolledSubject, ...]

    @classmethod
    def of(cls, secret: Secret, map: str, generations: Mapping[str, int]) -> Enrolment:
        """Derive the keys of subjects, given the generation of each subject's key."""
        from voile.keys.pseudonyms import pseudonym

        named = {unicodedata.normalize("NFC", subject): n for subject, n in generations.items()}
        pairs = [(subject, pseudonym(secret, subject), n) for subject, n in named.items()]
        own = [(who, name, DeviceKey.derive(secret, name, n)) for who, name, n in pairs]
        return cls(map, tuple(EnrolledSubject(*each) for each in own))

    @property
    def keys(self) -> dict[str, DeviceKey]:
        return {each.pseudonym: each.key for each in self.devices}

    @property
    def pseudonyms(self) -> dict[str, str]:
        """The pseudonym of each subject, by the subject's name in Unicode form NFC."""
        return {each.subject: each.pseudonym for each in self.devices}

    def check(self, map: str) -> None:
        if self.map != map:
            raise RequestError(
                "the enrolment is for another map",
                instead="enrol the device again with the kit that it sends by",
            )

    def write(self, path: str | os.PathLike[str], *, force: bool = False) -> None:
        """Write the enrolment file for the device, readable by its owner only."""
        from voile.data.files.atomic import write_text

        devices = [
            {
                "subject": each.subject,
                "pseudonym": each.pseudonym,
                "generation": each.key.generation,
                "key": each.key.hex(),
                "mac": each.mac(self.map),
            }
            for each in self.devices
        ]
        text = json.dumps(
            {
                "format": ENROLMENT_FORMAT,
                "version": VERSION,
                "map": self.map,
                "devices": devices,
            },
            indent=1,
        )
        write_text(path, f"{text}\n", ENROLMENT, force=force)

    @classmethod
    def read_file(cls, path: str | os.PathLike[str]) -> Enrolment:
        data = read_private(path, "the enrolment file", MOST)
        try:
            content = parse_object(data)
            if (content["format"], content["version"]) != (ENROLMENT_FORMAT, VERSION):
                raise RequestError("of another version of voile")
            map, entries = content["map"], content["devices"]
            if not (isinstance(map, str) and isinstance(entries, list)):
                raise RequestError("damaged")
            return cls(map, tuple(_entries(map, entries)))
        except (LookupError, TypeError, ValueError):
            raise RequestError(
                "this is not an enrolment file, or it is damaged or of another version of voile",
                where=os.fspath(path),
                instead="enrol the device again with voile signals enrol",
            ) from None


def _entries(map: str, entries: Iterable[Mapping[str, Any]]) -> Iterable[EnrolledSubject]:
    for entry in entries:
        key = DeviceKey(bytes.fromhex(entry["key"]), entry["generation"])
        each = EnrolledSubject(str(entry["subject"]), str(entry["pseudonym"]), key)
        if not is_name(each.pseudonym) or not hmac.compare_digest(each.mac(map), entry["mac"]):
            raise RequestError("damaged")
        yield each
