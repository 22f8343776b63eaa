"""Remove the remains of a killed run in S3 that no listing shows: open uploads and versions.

Arrow cannot list or end them. boto3 can, with the same credentials. The stores of Google and Azure
discard unfinished uploads themselves.
"""

from __future__ import annotations

import hashlib
from collections.abc import Iterator, Mapping
from typing import Any

from voile.core.errors import install
from voile.core.warn import warn
from voile.data.stores.path import CHUNK, StorePath
from voile.data.stores.systems import ANSWER, CONNECT, s3_place


class LeftoversWarning(UserWarning):
    """Files of a killed run may remain in a bucket. Run the command again with the extra `s3`."""


def remove_leftovers(sent: Mapping[StorePath, str]) -> None:
    """End the open uploads to these files, and remove their versions with the sent bytes.

    sent : each file of a killed run, with its intended SHA-256. A version with other bytes belongs
        to another release, and stays.

    A warning is given if boto3 is not installed, or if the credentials lack the right.
    """
    if not any(one.scheme == "s3" for one in sent):
        return
    try:
        import boto3
        from botocore.config import Config
        from botocore.exceptions import BotoCoreError, ClientError
    except ImportError:
        _say(f"To remove them, {install('s3')}")
        return
    endpoint, region = s3_place()
    config = Config(connect_timeout=CONNECT, read_timeout=ANSWER)
    try:
        client = boto3.client(
            "s3", region_name=region, endpoint_url=endpoint or None, config=config
        )
        for file, sha256 in sent.items():
            bucket, _, key = file.key.partition("/")
            _remove(client, bucket, key, sha256)
    except (BotoCoreError, ClientError) as error:  # its message quotes the request
        _say(f"They cannot be removed ({type(error).__name__}): ask for the right to list them")


def _say(why: str) -> None:
    warn(
        "a run was stopped as it published: an open upload, or a version of a file, may be left "
        f"in the bucket. {why}, or let rules of the bucket expire them",
        LeftoversWarning,
    )


def _remove(client: Any, bucket: str, key: str, sha256: str) -> None:
    for one in _list_pages(client, "list_multipart_uploads", "Uploads", bucket, key):
        client.abort_multipart_upload(Bucket=bucket, Key=key, UploadId=one["UploadId"])
    for one in _list_pages(client, "list_object_versions", "Versions", bucket, key):
        at = {"Bucket": bucket, "Key": key, "VersionId": one["VersionId"]}
        body = client.get_object(**at)["Body"]
        digest = hashlib.sha256()
        for chunk in body.iter_chunks(CHUNK):
            digest.update(chunk)
        if digest.hexdigest() == sha256:
            client.delete_object(**at)


def _list_pages(
    client: Any, ask: str, what: str, bucket: str, key: str
) -> Iterator[dict[str, Any]]:
    for page in client.get_paginator(ask).paginate(Bucket=bucket, Prefix=key):
        yield from (one for one in page.get(what, []) if one["Key"] == key)
