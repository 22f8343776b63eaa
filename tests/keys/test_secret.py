"""The secret key: from a file or the environment, never copied, shown or read by others."""

from __future__ import annotations

import copy
import os
import pickle

import pytest

from voile.core.errors import RequestError
from voile.keys.pseudonyms import pseudonym
from voile.keys.secret import Secret

KEY = b"a key known to the tests alone"
SECRET = Secret(KEY)


def test_a_secret_hides_itself_and_is_not_copied():
    assert KEY.decode() not in repr(SECRET) + str(SECRET)
    for copied in (pickle.dumps, copy.copy, copy.deepcopy):
        with pytest.raises(TypeError, match="a secret cannot be copied or stored"):
            copied(SECRET)


@pytest.mark.parametrize("size", [0, 15, 4097])
def test_a_short_or_endless_secret_is_refused(size):
    with pytest.raises(RequestError, match="token_hex"):
        Secret(b"x" * size)


def test_the_longest_secret_is_read_whole_and_a_longer_one_refused(tmp_path):
    path = tmp_path / "secret"
    path.touch(mode=0o600)
    longest = bytes(range(256)) * 16
    path.write_bytes(longest + b"\r\n")
    assert pseudonym(Secret.from_file(path), "A") == pseudonym(Secret(longest), "A")
    path.write_bytes(longest + b"x")
    with pytest.raises(
        RequestError, match="the secret has more than 4096 bytes, and needs 16 to 4096"
    ):
        Secret.from_file(path)


def test_environment_and_file_hold_the_same_secret(tmp_path, monkeypatch):
    text = "été: a secret of some length"
    path = tmp_path / "secret"
    monkeypatch.setenv("VOILE_SECRET", text)
    expected = pseudonym(Secret(text.encode()), "A")
    assert pseudonym(Secret.from_environment("VOILE_SECRET"), "A") == expected
    for ending in ("", "\n", "\r\n"):
        path.write_bytes((text + ending).encode())
        path.chmod(0o600)
        assert pseudonym(Secret.from_file(path), "A") == expected


def test_only_one_last_newline_is_cut(tmp_path):
    path = tmp_path / "secret"
    path.write_bytes(b"x" * 16 + b"\n\n")
    path.chmod(0o400)
    assert pseudonym(Secret.from_file(path), "A") == pseudonym(Secret(b"x" * 16 + b"\n"), "A")


def test_a_file_goes_before_the_environment_and_there_may_be_neither(tmp_path, monkeypatch):
    path = tmp_path / "key"
    path.write_bytes(b"f" * 16)
    path.chmod(0o600)
    for text in (None, "", "e" * 16):
        monkeypatch.delenv("VOILE_SECRET", raising=False)
        if text is not None:
            monkeypatch.setenv("VOILE_SECRET", text)
        assert pseudonym(Secret.find(path), "A") == pseudonym(Secret(b"f" * 16), "A")
        if text:
            assert pseudonym(Secret.find(None), "A") == pseudonym(Secret(b"e" * 16), "A")
        else:
            assert Secret.find(None) is None


def test_no_secret_in_the_environment_is_refused(monkeypatch):
    monkeypatch.delenv("VOILE_SECRET", raising=False)
    with pytest.raises(RequestError, match="VOILE_SECRET"):
        Secret.from_environment()
    monkeypatch.setenv("VOILE_SECRET", "too short")
    with pytest.raises(RequestError, match="9 bytes") as caught:
        Secret.from_environment()
    assert "too short" not in str(caught.value)


@pytest.mark.skipif(os.name != "posix", reason="permissions are POSIX's")
@pytest.mark.parametrize("mode", [0o644, 0o640, 0o604, 0o620, 0o602])
def test_a_file_that_others_may_read_or_write_is_refused(tmp_path, mode):
    path = tmp_path / "secret"
    path.write_bytes(KEY)
    path.chmod(mode)
    with pytest.raises(RequestError, match="chmod 600"):
        Secret.from_file(path)


@pytest.mark.skipif(os.name != "posix", reason="permissions are POSIX's")
def test_what_a_file_lets_others_run_is_no_matter(tmp_path):
    path = tmp_path / "secret"
    path.write_bytes(KEY)
    path.chmod(0o711)
    assert pseudonym(Secret.from_file(path), "A") == pseudonym(SECRET, "A")


def test_a_file_that_is_none_is_refused(tmp_path):
    for path in (tmp_path / "nowhere", tmp_path):
        with pytest.raises(RequestError, match="cannot be read"):
            Secret.from_file(path)
