"""Detect columns of codes: hashes of identifiers, with or without a secret, and pseudonyms."""

from __future__ import annotations

import hashlib
import re
from collections.abc import Callable, Mapping, Sequence
from functools import partial
from typing import Any

FEWEST = 12
"""The number of characters of the shortest code that counts as a pseudonym."""
FORMS = (
    (
        "a UUID",
        re.compile(r"[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}", re.IGNORECASE),
    ),
    ("hexadecimal digits", re.compile(r"[0-9a-f]+", re.IGNORECASE)),
    ("base32", re.compile(r"[A-Z2-7]+=*")),
    ("base64", re.compile(r"[A-Za-z0-9+/_-]+=*")),
)
BOTH = re.compile(r"(?=.*\d)(?=.*[A-Za-z])")
"""A code has both digits and letters, which excludes words and ordinary numbers."""
HASHES: Mapping[str, Callable[[bytes], Any]] = {
    "MD5": partial(hashlib.md5, usedforsecurity=False),
    "SHA-1": partial(hashlib.sha1, usedforsecurity=False),
    "SHA-256": hashlib.sha256,
    "SHA-512": hashlib.sha512,
    "BLAKE2b": hashlib.blake2b,
}


def form_of_codes(texts: Sequence[str | None]) -> str | None:
    """Describe a column of codes: cells of one length that look random.

    The result is None for other columns.

    >>> form_of_codes(["9e107d9d372bb682", "e4d909c290d0fb1c", None])
    '16 characters of hexadecimal digits'
    >>> form_of_codes(["20-29 years of age", "30-39 years of age"]) is None
    True
    """
    known = {text for text in texts if text is not None}
    lengths = {len(text) for text in known}
    if len(lengths) != 1 or min(lengths) < FEWEST:
        return None
    if sum(BOTH.match(text) is not None for text in known) < 0.9 * len(known):
        return None
    for name, form in FORMS:
        if all(form.fullmatch(text) for text in known):
            return name if name == "a UUID" else f"{min(lengths)} characters of {name}"
    return None


def hash_of(name: str, text: str, length: int) -> str:
    """Return the first `length` hexadecimal digits of a text's hash."""
    return str(HASHES[name](text.encode()).hexdigest()[:length])
