"""The record of one small device: whose it is, its class and its key, in bytes of one length."""

from __future__ import annotations

from voile.data.files.outputs import DEVICE_RECORD
from voile.signals.channel.keys import Enrolled

NAME = 64  # bytes that a pseudonym has room in


def device_record(enrolled: Enrolled, map: str, which: int) -> bytes:
    """Return what a device is given apart from its program; the class is in it and nowhere else.

    Magic, map, generation, number of the class, length of the pseudonym, pseudonym, key, and the
    MAC of all these under the key itself.
    """
    name, key = enrolled.pseudonym.encode(), enrolled.key
    numbers = b"".join(n.to_bytes(2, "big") for n in (key.generation, which))
    body = (
        DEVICE_RECORD + bytes.fromhex(map) + numbers + bytes([len(name)]) + name.ljust(NAME, b"\0")
    )
    body += bytes.fromhex(key.hex())
    return body + key.mac(b"device", body)
