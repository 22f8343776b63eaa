"""Uploads to a store: whole or nothing, also where a run is killed or a store refuses."""

from __future__ import annotations

import hashlib
import signal
import subprocess
import sys
from pathlib import Path

import pytest
from tests.data.stores.server import DENIED, Server

from voile.core.errors import VoileError
from voile.data.stores.leftovers import LeftoversWarning, remove_leftovers
from voile.data.stores.path import StorePath
from voile.data.stores.upload import settle, upload

UPLOAD = """
from hashlib import sha256
from pathlib import Path
from voile.data.stores.path import StorePath
from voile.data.stores.upload import upload
part, manifest = Path("a.bin"), Path("m")
manifest.write_text('{"format": "voile-release"}')
parts = {"a.bin": sha256(part.read_bytes()).hexdigest()}
upload(StorePath("s3", "clinic/a.bin"), part, manifest, parts, Path("journal"), force=False)
"""
"""What a process does that is killed."""


def test_a_large_part_that_fails_leaves_no_open_upload(bucket: Server, tmp_path: Path) -> None:

    out, part, manifest = StorePath("s3", "clinic/a.bin"), tmp_path / "a.bin", tmp_path / "m"
    part.write_bytes(bytes(25 << 20))
    manifest.write_text('{"format": "voile-release"}')
    sha256 = hashlib.sha256(part.read_bytes()).hexdigest()
    bucket.answer = lambda method, path: (
        ("403 Forbidden", DENIED) if "partNumber=2" in path else None
    )
    with pytest.raises(VoileError):
        upload(out, part, manifest, {"a.bin": sha256}, tmp_path / "journal", force=False)
    assert (bucket.objects(), bucket.uploads()) == ([], [])
    bucket.answer = lambda method, path: None
    with pytest.raises(VoileError, match="changed while voile sent it"):
        upload(out, part, manifest, {"a.bin": "0" * 64}, tmp_path / "journal", force=False)
    assert bucket.objects() == []
    upload(out, part, manifest, {"a.bin": sha256}, tmp_path / "journal", force=False)
    assert bucket.objects() == ["a.bin", "a.bin.manifest.json"]
    assert not (tmp_path / "journal").exists()


def test_a_manifest_that_is_cut_is_none(bucket: Server, tmp_path: Path) -> None:

    out, journal = StorePath("s3", "clinic/a.bin"), tmp_path / "journal"
    bucket.put("a.bin", b"rows")
    bucket.put("a.bin.manifest.json", b'{"format": "voile-rele')
    journal.write_text('{"old": ["a.bin"], "sent": {}}')
    settle(out, journal)
    assert (bucket.objects(), journal.exists()) == ([], False)


@pytest.mark.parametrize("at", ["partNumber=2", "uploadId", "a.bin.manifest"])
def test_a_kill_leaves_no_open_upload_and_no_version(
    bucket: Server, tmp_path: Path, at: str
) -> None:
    """Of the killed run; an older version of other bytes stays, and one of another file."""
    part = tmp_path / "a.bin"
    part.write_bytes(bytes(11 << 20))
    bucket.put("a.bin", b"of another")
    bucket.put("a.bin2", part.read_bytes())
    bucket.client.delete_object(Bucket="clinic", Key="a.bin")
    before = bucket.versions()
    child = subprocess.Popen([sys.executable, "-c", UPLOAD], cwd=tmp_path)

    def kill(method: str, path: str) -> None:
        is_last = at != "uploadId" or (method == "POST" and "uploadId" in path)
        if method in ("PUT", "POST") and at in path and is_last:
            child.kill()

    bucket.after = kill
    assert child.wait() == -signal.SIGKILL
    bucket.after = lambda method, path: None
    left = len(bucket.uploads()), len(bucket.versions()) - len(before)
    assert left == {"uploadId": (0, 1), "a.bin.manifest": (0, 2)}.get(at, (1, 0))
    settle(StorePath("s3", "clinic/a.bin"), tmp_path / "journal")
    if at == "a.bin.manifest":  # it is whole
        assert bucket.objects() == ["a.bin", "a.bin.manifest.json", "a.bin2"]
        return
    assert bucket.uploads() == []
    assert bucket.versions() == before
    assert not (tmp_path / "journal").exists()


def test_what_cannot_be_looked_for_is_said(
    bucket: Server, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:

    sent = {StorePath("s3", "clinic/a.bin"): "0" * 64}
    bucket.answer = lambda method, path: ("403 Forbidden", DENIED)
    with pytest.warns(LeftoversWarning, match=r"They cannot be removed \(\w+\)") as caught:
        remove_leftovers(sent)
    assert "canary" not in str(caught[0].message)
    monkeypatch.setitem(sys.modules, "boto3", None)
    with pytest.warns(LeftoversWarning, match=r"pip install 'voile\[s3\]'"):
        remove_leftovers(sent)
    remove_leftovers({StorePath("gs", "clinic/a.bin"): "0" * 64})
