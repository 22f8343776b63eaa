"""The stores that Arrow reaches; credentials and endpoints come from the environment alone.

Each scheme has its store and its variables:

- s3 : Amazon S3 and compatible stores. The chain of AWS (variables, `~/.aws`, roles),
  AWS_ENDPOINT_URL(_S3), AWS_REGION
- gs : Google Cloud Storage. Application default credentials, STORAGE_EMULATOR_HOST
- abfs : Azure storage. AZURE_STORAGE_ACCOUNT with AZURE_STORAGE_KEY or AZURE_STORAGE_SAS_TOKEN,
  or the chain of Azure. AZURE_STORAGE_ENDPOINT
"""

from __future__ import annotations

import os
import re
from collections.abc import Iterator
from contextlib import contextmanager
from datetime import timedelta
from functools import lru_cache
from typing import TYPE_CHECKING, Any
from urllib.parse import urlsplit

from voile.core.errors import RequestError, SourceError
from voile.data.stores.address import is_loopback

if TYPE_CHECKING:
    from pyarrow.fs import FileSystem

CONNECT, ANSWER = 5, 60
"""The number of seconds to wait for a connection, and for an answer."""
REASONS = {
    r"NO_SUCH_BUCKET|NoSuchBucket": ("there is no such bucket", None),
    r"INVALID_ACCESS_KEY|SIGNATURE_DOES_NOT_MATCH|EXPIRED|Expired|CLIENT_TOKEN|UNRECOGNIZED_CLIENT"
    r"|UNAUTHENTICATED|AuthenticationFailed|MISSING_AUTHENTICATION|ValidationError|OAuth2|Base64"
    r"|failed to authenticate": (
        "the store does not accept the credentials",
        "set new credentials",
    ),
    r"ACCESS_DENIED|AccessDenied|Authorization(?!Header)\w+|PERMISSION_DENIED|Forbidden": (
        "these credentials have no right to it",
        "ask who runs the store",
    ),
    r"NETWORK_CONNECTION|curlCode|UNAVAILABLE|could not connect|Fail to get a new connection": (
        "the store cannot be reached",
        "look at the network, and at the variable of its endpoint",
    ),
    r"PermanentRedirect|AuthorizationHeaderMalformed|HTTP response code: 301|IllegalLocation": (
        "the bucket is in another region",
        "set AWS_REGION",
    ),
    r"SLOW_DOWN|THROTTL|REQUEST_TIMEOUT": ("the store is too busy", "run again"),
}
"""The explanation of a store's error message.

Messages are never printed, as they quote the request.
"""
_OF_STORES = re.compile(r"AWS Error (\w+)|google::cloud::|GCS|Azure|[Bb]lob")
_NO_ANSWER = re.compile(r"google::cloud::Status|\.blob\.core\.")
"""Patterns in errors of clients that received no answer. Arrow's other errors concern the data."""


@lru_cache
def file_system(scheme: str, account: str) -> FileSystem:
    """Return the file system of a store.

    Raises RequestError: Arrow was built without it, or an endpoint is not encrypted.
    """
    return {"s3": _s3, "gs": _gs, "abfs": _abfs}[scheme](account)


def s3_place() -> tuple[str, str | None]:
    """Return the endpoint of S3 (empty for Amazon's) and the region (None if AWS finds it)."""
    endpoint = os.environ.get("AWS_ENDPOINT_URL_S3") or os.environ.get("AWS_ENDPOINT_URL") or ""
    region = os.environ.get("AWS_REGION") or os.environ.get("AWS_DEFAULT_REGION")
    return endpoint, region or ("us-east-1" if endpoint else None)


def _s3(_: str) -> FileSystem:
    endpoint, region = s3_place()
    return _class("S3FileSystem", "s3")(
        region=region,
        **_endpoint(endpoint, "AWS_ENDPOINT_URL"),
        connect_timeout=CONNECT,
        request_timeout=ANSWER,
        allow_delayed_open=True,
        background_writes=False,  # else a failed upload stays open
    )


def _gs(_: str) -> FileSystem:
    host = os.environ.get("STORAGE_EMULATOR_HOST", "")
    endpoint = host if "://" in host or not host else f"http://{host}"
    more = _endpoint(endpoint, "STORAGE_EMULATOR_HOST")
    anonymous = {"anonymous": True} if more else {}
    tries = timedelta(seconds=ANSWER)  # else a quarter of an hour
    return _class("GcsFileSystem", "gs")(**more, **anonymous, retry_time_limit=tries)


def _abfs(account: str) -> FileSystem:
    name = account.partition(".")[0] or os.environ.get("AZURE_STORAGE_ACCOUNT")
    if not name:
        raise RequestError(
            "the address lacks the storage account",
            where="abfs",
            instead="write abfs://CONTAINER@ACCOUNT.dfs.core.windows.net/..., or set "
            "AZURE_STORAGE_ACCOUNT",
        )
    key, token = (os.environ.get(f"AZURE_STORAGE_{one}") for one in ("KEY", "SAS_TOKEN"))
    more = _endpoint(os.environ.get("AZURE_STORAGE_ENDPOINT", ""), "AZURE_STORAGE_ENDPOINT")
    if more:  # Arrow puts the account itself where it belongs: before the host, or behind it
        host = more["endpoint_override"].removesuffix(f"/{name}").removeprefix(name)
        hosts = {"blob": host, "dfs": host.replace(".blob.", ".dfs.", 1)}
        more = {f"{kind}_storage_authority": hosts[kind] for kind in hosts} | {
            f"{kind}_storage_scheme": more["scheme"] for kind in hosts
        }
    credential = {"account_key": key} if key else {"sas_token": token and f"?{token.lstrip('?')}"}
    return _class("AzureFileSystem", "abfs")(name, **credential, **more)


def _class(name: str, scheme: str) -> Any:
    import pyarrow.fs

    try:
        return getattr(pyarrow.fs, name)
    except ImportError:
        raise RequestError(
            f"the installed pyarrow was built without {name}",
            where=f"{scheme} addresses",
            instead="install pyarrow from PyPI or conda-forge",
        ) from None


def _endpoint(url: str, variable: str) -> dict[str, Any]:
    """Return the options of an endpoint for Arrow. A remote endpoint must be encrypted."""
    if not url:
        return {}
    parts = urlsplit(url)
    if parts.scheme not in ("http", "https") or not parts.hostname or "@" in parts.netloc:
        raise RequestError(
            "the variable does not have the form https://HOST:PORT",
            where=f"variable {variable}",
            instead="correct the variable",
        )
    if parts.scheme == "http" and not is_loopback(parts.hostname):
        raise RequestError(
            "the variable contains an unencrypted address",
            where=f"variable {variable}",
            instead="write https:// in the variable",
        )
    return {"scheme": parts.scheme, "endpoint_override": f"{parts.netloc}{parts.path.rstrip('/')}"}


@contextmanager
def store_failures(where: str) -> Iterator[None]:
    """Report an error of a store in one sentence. Other errors pass through."""
    from pyarrow import ArrowException

    try:
        yield
    except FileNotFoundError:
        raise RequestError(
            "the object does not exist", where=where, instead="correct the address"
        ) from None
    except (OSError, ArrowException) as error:
        text = str(error)
        found = _OF_STORES.search(text)
        is_ours = isinstance(error, OSError) or _NO_ANSWER.search(text)
        if found is None or not is_ours:
            raise
        for pattern, (what, instead) in REASONS.items():
            if re.search(pattern, text):
                raise SourceError(what, where=where, instead=instead) from None
        code = f" ({found[1]})" if found[1] else ""
        raise SourceError(f"the store returned an error{code}", where=where) from None
