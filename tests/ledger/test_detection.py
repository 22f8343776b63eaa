"""Whatever is done to a ledger's past is found, given one manifest of a later release."""

from __future__ import annotations

import json
from datetime import timedelta
from itertools import count
from pathlib import Path
from tempfile import TemporaryDirectory

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from tests.ledger.conftest import INTENT, START

from voile.core.errors import VoileError
from voile.data.files.outputs import MANIFEST
from voile.keys.seal import file_sha256
from voile.ledger.chain import LedgerChain
from voile.ledger.ledger import Ledger, create, open_ledger
from voile.ledger.promise import LedgerPromise
from voile.release.ledger_checks import ledger_checks

RELEASES = 4


def written(folder: Path) -> tuple[Path, Path]:
    """A ledger of some releases, and the manifest of the last."""
    key, place = folder / "key", folder / "l"
    key.write_text("a key known to the tests alone")
    key.chmod(0o600)
    ticks = count()
    clock = lambda: START + timedelta(seconds=next(ticks))  # noqa: E731
    create(place, LedgerPromise(k=5), key, clock=clock)
    for number in range(RELEASES):
        manifest = folder / f"{number}{MANIFEST}"
        with open_ledger(place, key, clock=clock) as opened:
            chain = opened.ledger.chain
            said = {"id": opened.ledger.id, "line": len(chain.lines), "head": chain.head}
            manifest.write_text(json.dumps({"ledger": said}))
            hashes = {"release": f"{number}", "manifest": file_sha256(manifest)}
            opened.append("intent", {**INTENT, **hashes})
            opened.append("done", {"of": said["line"]})
    return place, manifest


def is_found(place: Path, manifest: Path) -> bool:
    try:
        read = Ledger.read_file(place)
        return any(one.holds is False for one in ledger_checks(read, None, [manifest]))
    except VoileError:
        return True


def rechained(contents: list[dict[str, object]]) -> bytes:
    """Lines as somebody writes them who knows how: each with the hash of the one before."""
    chain = LedgerChain()
    for content in contents:
        chain = chain.followed_by(chain.next(content))
    return b"".join(line.encode_line() + b"\n" for line in chain.lines)


@settings(deadline=None, max_examples=60)
@given(st.data())
def test_an_altered_a_cut_and_a_reordered_ledger_are_found_though_hashes_were_made_anew(data):
    with TemporaryDirectory() as folder:
        place, manifest = written(Path(folder))
        assert not is_found(place, manifest)
        contents = [dict(line.content) for line in Ledger.read_file(place).chain.lines]
        last = 2 * (RELEASES - 1)  # before that of the manifest
        at = data.draw(st.integers(0, last))
        how = data.draw(st.sampled_from(["altered", "removed", "moved", "twice", "cut"]))
        if how == "altered":
            contents[at]["joint"] = {"matches": 1.0, "relative": 0.001}
        elif how == "removed":
            del contents[at]
        elif how == "moved":
            other = data.draw(st.integers(0, last).filter(lambda x: contents[x] != contents[at]))
            contents[at], contents[other] = contents[other], contents[at]
        elif how == "twice":
            contents.insert(at, contents[at])
        else:
            contents = contents[:at]
        place.write_bytes(rechained(contents))
        assert is_found(place, manifest)


@settings(deadline=None, max_examples=60)
@given(st.data())
def test_one_changed_byte_before_the_manifests_line_is_found(data):
    with TemporaryDirectory() as folder:
        place, manifest = written(Path(folder))
        raw = bytearray(place.read_bytes())
        end = len(b"".join(raw.splitlines(keepends=True)[: 2 * RELEASES - 1]))
        at = data.draw(st.integers(0, end - 1))
        raw[at] ^= data.draw(st.integers(1, 255))
        place.write_bytes(bytes(raw))
        assert is_found(place, manifest)


def test_lines_after_the_manifests_are_found_gone_by_the_secret_alone(tmp_path):
    place, manifest = written(tmp_path)
    rows = place.read_bytes().splitlines(keepends=True)
    place.write_bytes(b"".join(rows[:-1]))
    assert not is_found(place, manifest)
    with pytest.raises(VoileError, match="ends before line"), open_ledger(place, tmp_path / "key"):
        pass
