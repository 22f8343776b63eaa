"""Recognise addresses of stores and of the web, and display them without possible secrets."""

from __future__ import annotations

import os
import re
from ipaddress import ip_address
from urllib.parse import urlsplit

from voile.core.errors import RequestError

ADDRESS = re.compile(r"([A-Za-z][A-Za-z0-9+.-]+):/+(?=[^/])")
"""The beginning of an address, including addresses that were once read as a path."""
STORES = {"s3": "s3", "gs": "gs", "abfs": "abfs", "abfss": "abfs"}
WEB = ("https", "http")
SCHEMES = (*STORES, *WEB)
_KEYS = "let voile find keys in the environment or the store's own configuration"


def scheme_of(thing: object) -> str | None:
    """Return the scheme of an address, or None for any other object.

    >>> scheme_of("S3://bucket/a.csv"), scheme_of("a.csv"), scheme_of("ftp://h/a.csv")
    ('s3', None, 'ftp')
    """
    if not isinstance(thing, str | os.PathLike):
        return None
    found = ADDRESS.match(os.fspath(thing))
    return found[1].lower() if found else None


def split_address(thing: str | os.PathLike[str]) -> tuple[str, str]:
    """Split an address into its scheme and the rest.

    Raises RequestError: it contains keys, a query, or a part that is not valid in a key.
    """
    text = os.fspath(thing)
    match = ADDRESS.match(text)
    assert match is not None
    scheme, rest = match[1].lower(), text[match.end() :]
    if scheme in WEB:
        check_web(f"{scheme}://{rest}")
        return scheme, rest
    host = rest.partition("/")[0]
    user = host.rpartition("@")[0]
    if ":" in host or (user and STORES[scheme] != "abfs"):
        raise RequestError(
            "the address contains a user or a key", where=hide_secrets(text), instead=_KEYS
        )
    rest = rest.rstrip("/")
    if not all(part not in ("", ".", "..") for part in rest.split("/")):
        raise RequestError(
            'the address has a part that is empty, "." or ".."',
            where=hide_secrets(text),
            instead="write the path without empty parts and dots",
        )
    if not rest.isprintable():
        raise RequestError(
            "the address contains a character that cannot be printed",
            where=hide_secrets(text),
            instead="remove this character",
        )
    return STORES[scheme], rest


def check_web(url: str) -> None:
    """Raise RequestError for a user in a web address, or for unencrypted remote traffic."""
    try:
        parts = urlsplit(url)
        host, _ = parts.hostname, parts.port
    except ValueError:
        raise RequestError(
            "the address does not have the form https://HOST/NAME or https://HOST:PORT/NAME",
            where=hide_secrets(url),
            instead="correct the address",
        ) from None
    if "@" in parts.netloc:
        raise RequestError(
            "the address contains a user or a password",
            where=hide_secrets(url),
            instead="put the login into ~/.netrc",
        )
    if parts.scheme == "http" and not is_loopback(host or ""):
        raise RequestError(
            "the address would be sent unencrypted",
            where=hide_secrets(url),
            instead="write https:// instead of http://",
        )


def is_loopback(host: str) -> bool:
    """Return whether a host is this machine.

    >>> is_loopback("127.0.0.9"), is_loopback("localhost"), is_loopback("store.example")
    (True, True, False)
    """
    try:
        return host == "localhost" or ip_address(host).is_loopback
    except ValueError:
        return False


def hide_secrets(text: str) -> str:
    """Return an address without its user, its query and its fragment, which may be secret.

    If such an address has no valid host, as when a key or a password contains a slash, only the
    scheme is shown.

    >>> hide_secrets("https://ann:pw@host/visits.csv?X-Amz-Signature=1f")
    'https://host/visits.csv'
    >>> hide_secrets("s3:/bucket/a#b.csv"), hide_secrets("s3://KEY:sec/ret@bucket/a.csv")
    ('s3://bucket/a#b.csv', 's3://...')
    """
    match = ADDRESS.match(text)
    if match is None or match[1].lower() == "file":
        return text
    rest = text[match.end() :]
    if match[1].lower() not in STORES:
        rest = re.split(r"[?#]", rest, maxsplit=1)[0]
    host, slash, path = rest.partition("/")
    if match[1].lower() not in ("abfs", "abfss") or ":" in host:
        host = host.rpartition("@")[2]
    port = r"" if match[1].lower() in STORES else r"(:\d*)?"
    if not re.fullmatch(rf"([^:\[\]]*|\[[\d:.A-Fa-f]*\]){port}", host):
        return f"{match[1]}://..."
    return f"{match[1]}://{host}{slash}{path}"
