"""A release's manifests are found beside it, and its bytes are held to them."""

from __future__ import annotations

import hashlib
import json

import pytest

from voile.errors import RequestError, TamperedError
from voile.release import FORMAT, Release, encode, manifest_path, private_path
from voile.seal import file_sha256

HEAD = {"format": FORMAT, "version": 1}


def written(folder, **changes):
    out = folder / "out.csv"
    out.write_bytes(b"age\n0-17\n")
    public = {"kind": "tables", "sha256": file_sha256(out), "figures": {}}
    manifest_path(out).write_bytes(encode({**HEAD, **public, **changes}))
    return out


def test_both_manifests_are_read(tmp_path):
    out = written(tmp_path)
    assert Release.open(out).private is None
    private_path(out).mkdir(mode=0o700)
    private = {**HEAD, "sha256": "", "counts": {}, "chosen": {}, "figures": {}}
    (private_path(out) / "manifest.json").write_bytes(encode(private))
    release = Release.open(out)
    assert release.private == private
    assert release.kind == "tables"
    assert release.folder == tmp_path / "out.csv.private"
    release.check_hash()


def test_one_changed_byte_is_found(tmp_path):
    out = written(tmp_path)
    out.write_bytes(b"age\n0-18\n")
    with pytest.raises(TamperedError, match="not those its manifest names"):
        Release.open(out).check_hash()


def test_what_is_no_release_is_refused(tmp_path):
    with pytest.raises(RequestError, match="no such release"):
        Release.open(tmp_path / "none.csv")
    out = written(tmp_path)
    manifest_path(out).unlink()
    with pytest.raises(RequestError, match="no manifest beside it"):
        Release.open(out)
    for text in (b"{", b"[]", b"{}"):
        manifest_path(out).write_bytes(text)
        with pytest.raises(TamperedError):
            Release.open(out)


def test_a_newer_manifest_is_refused_and_one_without_a_version(tmp_path):
    with pytest.raises(RequestError, match="version 2"):
        Release.open(written(tmp_path, version=2))
    with pytest.raises(TamperedError, match="no version"):
        Release.open(written(tmp_path, version=None))


def test_a_manifest_that_lacks_a_part_is_refused(tmp_path):
    out = written(tmp_path)
    private_path(out).mkdir(mode=0o700)
    (private_path(out) / "manifest.json").write_bytes(encode(HEAD))
    with pytest.raises(TamperedError, match="lacks chosen, counts, figures, sha256"):
        Release.open(out)
    manifest_path(out).write_bytes(encode(HEAD))
    with pytest.raises(TamperedError, match="lacks figures, kind, sha256"):
        Release.open(out)


def test_the_same_manifest_has_the_same_bytes(tmp_path):
    assert encode({"b": 1, "a": "é"}) == encode({"a": "é", "b": 1})
    assert json.loads(encode({"a": "é"})) == {"a": "é"}
    (tmp_path / "x").write_bytes(b"abc")
    assert file_sha256(tmp_path / "x") == hashlib.sha256(b"abc").hexdigest()
