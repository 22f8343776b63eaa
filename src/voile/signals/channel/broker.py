"""Where a broker is, and how one logs in: never from a command's arguments."""

from __future__ import annotations

import os
import ssl
from collections.abc import Callable
from dataclasses import dataclass, field
from pathlib import Path
from typing import Protocol
from urllib.parse import urlsplit

from voile.core.errors import RequestError
from voile.keys.secret import read_private

PORTS = {"mqtt": 1883, "mqtts": 8883}
USER, PASSWORD = "VOILE_MQTT_USER", "VOILE_MQTT_PASSWORD"
NEAR = ("localhost", "127.0.0.1", "::1")
ADDRESS = "write mqtts://host or mqtt://host:1883"


@dataclass(frozen=True)
class Broker:
    """Where the broker is.

    >>> Broker.parse("mqtts://broker.example")
    Broker(host='broker.example', port=8883, tls=True, ca=None, cert=None, key=None)
    """

    host: str
    port: int
    tls: bool = False
    ca: Path | None = None
    cert: Path | None = None
    key: Path | None = None

    @classmethod
    def parse(
        cls, url: str, *, ca: Path | None = None, cert: Path | None = None, key: Path | None = None
    ) -> Broker:
        """Read mqtt://host:port, or mqtts:// for TLS."""
        parts = urlsplit(url)
        if "@" in url:
            raise RequestError(
                "a user or password is not part of an address",
                where="broker",
                instead=f"use {USER} and {PASSWORD}, or a file",
            )
        try:
            port = parts.port or PORTS[parts.scheme]
        except (KeyError, ValueError):
            port = 0
        if not port or not parts.hostname or parts.path.strip("/") or parts.query:
            raise RequestError(
                "this is not an address of a broker", where="broker", instead=ADDRESS
            )
        tls = parts.scheme == "mqtts"
        if not tls and (ca or cert or key):
            raise RequestError(
                "certificates are used with TLS alone", where="broker", instead="write mqtts://"
            )
        return cls(parts.hostname, port, tls, ca, cert, key)

    def context(self) -> ssl.SSLContext | None:
        if not self.tls:
            return None
        try:
            context = ssl.create_default_context(cafile=self.ca)
            if self.cert:
                context.load_cert_chain(self.cert, self.key)
        except OSError as error:
            why = (
                error.strerror if isinstance(error, FileNotFoundError) else "no certificate, or key"
            )
            raise RequestError(
                f"a file for TLS cannot be used ({why})", where="broker", instead="use PEM files"
            ) from None
        return context


@dataclass(frozen=True)
class Login:
    """A user and password for the broker; shows neither."""

    user: str = field(repr=False)
    password: str = field(repr=False)

    @classmethod
    def from_environment(cls) -> Login | None:
        """Read VOILE_MQTT_USER and VOILE_MQTT_PASSWORD; None without a user."""
        user = os.environ.get(USER, "")
        return cls(user, os.environ.get(PASSWORD, "")) if user else None

    @classmethod
    def from_file(cls, path: str | os.PathLike[str]) -> Login:
        """Read a file that its owner alone may read: a line of user, a line of password."""
        where = os.fspath(path)
        data = read_private(path, "the login's file", 4096)
        try:
            lines = data.decode().splitlines()
        except UnicodeDecodeError:
            lines = []
        if len(lines) != 2 or not lines[0]:
            raise RequestError(
                "the login's file is not a line of user and a line of password", where=where
            )
        return cls(*lines)


class BrokerOptions(Protocol):
    """Options that say where the broker is, and how it is reached."""

    broker: str
    login_file: Path | None
    tls_ca: Path | None
    tls_cert: Path | None
    tls_key: Path | None


def line_of(line: BrokerOptions, warn: Callable[[str], None]) -> tuple[Broker, Login | None]:
    """Return the broker and the login; warn where a password would be overheard."""
    broker = Broker.parse(line.broker, ca=line.tls_ca, cert=line.tls_cert, key=line.tls_key)
    login = Login.from_file(line.login_file) if line.login_file else Login.from_environment()
    if login and not broker.tls and broker.host not in NEAR:
        warn("the password goes over the network unencrypted; write mqtts:// for TLS")
    return broker, login
