"""Signatures both ways against ssh-keygen, and what is none."""

from __future__ import annotations

import subprocess
from datetime import UTC, datetime
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from voile.core.errors import DamagedError, RequestError
from voile.determination.allowed_signers import read_allowed_signers
from voile.determination.ssh import SshSignature, load_key, read_signature, sign

AT = datetime(2030, 5, 1, 12, tzinfo=UTC)


def _keygen(*words: str, message: bytes = b"", folder: Path) -> subprocess.CompletedProcess[bytes]:
    return subprocess.run(
        ["ssh-keygen", "-Y", *words], input=message, cwd=folder, capture_output=True, check=False
    )


@pytest.mark.parametrize("message", [b"", b"approve\n", bytes(range(256)) * 400])
def test_ssh_keygen_verifies_what_voile_signs(message: bytes, keys: Path, tmp_path: Path) -> None:
    (tmp_path / "sig").write_text(sign(message, load_key(keys / "a")).write_armour())
    words = ["verify", "-f", str(keys / "allowed"), "-n", "voile", "-s", str(tmp_path / "sig")]
    done = _keygen(*words, "-I", "a@x.org", message=message, folder=tmp_path)
    assert done.returncode == 0, done.stderr
    assert _keygen(*words, "-I", "b@x.org", message=message, folder=tmp_path).returncode
    assert _keygen(*words, "-I", "a@x.org", message=b"other", folder=tmp_path).returncode


@pytest.mark.parametrize("algorithm", ["sha256", "sha512"])
def test_voile_verifies_what_ssh_keygen_signs(algorithm: str, keys: Path, tmp_path: Path) -> None:
    message = b"approve with conditions\n"
    words = ["sign", "-n", "voile", "-f", str(keys / "a"), "-O", f"hashalg={algorithm}"]
    text = _keygen(*words, message=message, folder=tmp_path).stdout.decode()
    found = SshSignature.parse(text)
    assert found.holds(message)
    assert not found.holds(message + b"\n")
    assert found.write_armour() == text


def test_a_signature_for_another_namespace_does_not_hold(keys: Path, tmp_path: Path) -> None:
    words = ["sign", "-n", "git", "-f", str(keys / "a")]
    text = _keygen(*words, message=b"m", folder=tmp_path).stdout.decode()
    assert not SshSignature.parse(text).holds(b"m")


@given(data=st.data())
def test_one_changed_character_is_no_signature_that_holds(data: st.DataObject, keys: Path) -> None:
    text = sign(b"m", load_key(keys / "a")).write_armour()
    place = data.draw(st.integers(0, len(text) - 1))
    other = data.draw(st.characters(max_codepoint=126).filter(lambda one: one != text[place]))
    changed = text[:place] + other + text[place + 1 :]
    try:
        found = SshSignature.parse(changed)
    except ValueError:
        return
    assert not (found.holds(b"m") and found.key == SshSignature.parse(text).key)


@given(raw=st.binary(max_size=400))
def test_what_is_no_signature_is_refused_in_a_sentence(raw: bytes, keys: Path) -> None:
    path = keys / "some.sig"
    path.write_bytes(raw)
    with pytest.raises(DamagedError, match="not an SSH signature"):
        read_signature(path)


def test_a_key_with_a_passphrase_is_for_ssh_keygen(tmp_path: Path) -> None:
    words = ["ssh-keygen", "-q", "-t", "ed25519", "-N", "a phrase", "-f", str(tmp_path / "key")]
    subprocess.run(words, check=True)
    with pytest.raises(RequestError, match=r"passphrase.*ssh-keygen"):
        load_key(tmp_path / "key")


def test_a_key_of_another_type_is_refused(tmp_path: Path) -> None:
    words = ["ssh-keygen", "-q", "-t", "ecdsa", "-N", "", "-f", str(tmp_path / "key")]
    subprocess.run(words, check=True)
    with pytest.raises(RequestError, match="not an Ed25519 key"):
        load_key(tmp_path / "key")
    (tmp_path / "text").write_text("a key, I say")
    with pytest.raises(RequestError, match="not a private key"):
        load_key(tmp_path / "text")


@pytest.mark.parametrize(
    ("line", "signer", "allowed"),
    [
        ("a@x.org {key}", "a@x.org", True),
        ("a@x.org,b@x.org {key} a comment", "b@x.org", True),
        ("*@x.org {key}", "c@x.org", True),
        ("*@x.org,!c@x.org {key}", "c@x.org", False),
        ("?@x.org {key}", "ab@x.org", False),
        ("[ab]@x.org {key}", "a@x.org", False),
        ('a@x.org namespaces="voile" {key}', "a@x.org", True),
        ('a@x.org namespaces="git,v*" {key}', "a@x.org", True),
        ('a@x.org namespaces="git" {key}', "a@x.org", False),
        ('a@x.org valid-after="20300501Z" {key}', "a@x.org", True),
        ('a@x.org valid-after="20300502Z" {key}', "a@x.org", False),
        ('a@x.org valid-before="20300501Z",namespaces="voile" {key}', "a@x.org", False),
        ('a@x.org valid-before="203005011201Z" {key}', "a@x.org", True),
        ("a@x.org {other}", "a@x.org", False),
    ],
)
def test_allowed_signers_allows_as_ssh_keygen_does(
    line: str, signer: str, allowed: bool, keys: Path, tmp_path: Path
) -> None:
    key, other = (" ".join((keys / f"{name}.pub").read_text().split()[:2]) for name in ("a", "b"))
    path = tmp_path / "allowed"
    path.write_text("# who signs\n\n" + line.format(key=key, other=other) + "\n")
    signature = sign(b"m", load_key(keys / "a"))
    (tmp_path / "sig").write_text(signature.write_armour())
    found = any(one.allows(signer, signature.key, AT) for one in read_allowed_signers(path))
    words = ["verify", "-f", str(path), "-n", "voile", "-s", "sig", "-I", signer]
    done = _keygen(*words, "-Overify-time=20300501120000Z", message=b"m", folder=tmp_path)
    assert (found, done.returncode == 0) == (allowed, allowed)


@pytest.mark.parametrize(
    "line",
    ["a@x.org", "a@x.org ssh-ed25519 !!!", "a@x.org ssh-ed25519 AAAA", 'a@x.org who="b" {key}',
     'a@x.org valid-after="soon" {key}', "a@x.org cert-authority {key}", "\x00\xff"],
)  # fmt: skip
def test_a_line_that_is_none_is_named(line: str, keys: Path, tmp_path: Path) -> None:
    key = (keys / "a.pub").read_text().strip()
    path = tmp_path / "allowed"
    path.write_text(f"# first\n{line.format(key=key)}\n")
    with pytest.raises(RequestError, match="line 2"):
        read_allowed_signers(path)


def test_keys_of_other_types_are_passed_over(tmp_path: Path) -> None:
    (tmp_path / "allowed").write_text("a@x.org ssh-rsa AAAA\n")
    assert read_allowed_signers(tmp_path / "allowed") == ()
