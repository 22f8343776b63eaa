"""The address of a broker and the login, which never comes from a command's arguments."""

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
    """The address of an MQTT broker and its TLS files.

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
        """Parse an address mqtt://host:port, or mqtts://host:port for TLS.

        Raises
        ------
        RequestError : the address is malformed or contains a user, or certificates are given
            without TLS.
        """
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
    """A user and password for the broker. The representation contains neither."""

    user: str = field(repr=False)
    password: str = field(repr=False)

    @classmethod
    def from_environment(cls) -> Login | None:
        """Read the login from VOILE_MQTT_USER and VOILE_MQTT_PASSWORD; None without a user."""
        user = os.environ.get(USER, "")
        return cls(user, os.environ.get(PASSWORD, "")) if user else None

    @classmethod
    def from_file(cls, path: str | os.PathLike[str]) -> Login:
        """Read a login from a file with two lines: the user and the password.

        Only the owner may have permission to read the file.
        """
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
    """The options that set the broker's address and login."""

    broker: str
    login_file: Path | None
    tls_ca: Path | None
    tls_cert: Path | None
    tls_key: Path | None


def line_of(line: BrokerOptions, warn: Callable[[str], None]) -> tuple[Broker, Login | None]:
    """Return the broker and the login. Warn if the password would be sent unencrypted."""
    broker = Broker.parse(line.broker, ca=line.tls_ca, cert=line.tls_cert, key=line.tls_key)
    login = Login.from_file(line.login_file) if line.login_file else Login.from_environment()
    if login and not broker.tls and broker.host not in NEAR:
        warn("the password goes over the network unencrypted; write mqtts:// for TLS")
    return broker, login
