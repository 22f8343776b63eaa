"""Codes of many texts against the standard library's, one at a time."""

from __future__ import annotations

import hashlib
import hmac

import numpy as np
import pyarrow as pa
import pytest
from hypothesis import given
from hypothesis import strategies as st

from voile.keys.macs import hmac_sha256, remainders, tokens_of, utf8_of

KEYS = st.binary(min_size=1, max_size=64)
TEXTS = st.lists(st.binary(max_size=200), max_size=20)


@given(KEYS, TEXTS)
def test_codes_are_those_of_hmac(key, texts):
    codes = hmac_sha256(key, texts)
    assert codes.shape == (len(texts), 32)
    assert [code.tobytes() for code in codes] == [hmac.digest(key, t, "sha256") for t in texts]


@given(KEYS, TEXTS)
def test_tokens_are_those_of_blake2b(key, texts):
    digests = [hashlib.blake2b(text, key=key, digest_size=8).digest() for text in texts]
    assert tokens_of(key, texts).tolist() == [int.from_bytes(digest, "big") for digest in digests]


def test_a_key_longer_than_a_block_is_refused():
    hmac_sha256(bytes(64), [b"a"])
    with pytest.raises(ValueError, match="65 bytes"):
        hmac_sha256(bytes(65), [b"a"])


@given(st.lists(st.binary(min_size=32, max_size=32), max_size=20), st.integers(1, 2**31 - 1))
def test_remainders_are_those_of_whole_numbers(codes, n):
    rows = np.frombuffer(b"".join(codes), np.uint8).reshape(-1, 32)
    assert remainders(rows, n).tolist() == [int.from_bytes(code, "big") % n for code in codes]


@given(st.lists(st.text(st.characters(exclude_categories=["Cs"]))))
def test_bytes_of_texts_are_utf8(texts):
    assert utf8_of(pa.array(texts, pa.string())) == [text.encode() for text in texts]
    assert utf8_of(pa.array(texts, pa.string())[1:]) == [text.encode() for text in texts[1:]]
