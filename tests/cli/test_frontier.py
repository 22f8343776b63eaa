"""Which columns of a kit's frontier leave it, whatever the wing."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pyarrow as pa

from voile.release.kit import StoredKit

COLUMNS = {
    "number": pa.array([0]),
    "risk": pa.array([0.5]),
    "beats": pa.array(["safe harbor"]),
    "none": pa.array([None]),
    "by_type": pa.array([[1, 2]]),
    "shares": pa.array([[0.5]]),
    "policy": pa.array([b"canary"]),
    "words": pa.array([["canary"]]),
    "lists": pa.array([[["canary"]]]),
    "records": pa.array([[{"word": "canary"}]]),
    "record": pa.array([{"word": "canary"}]),
    "parts": pa.array([[b"canary"]]),
    "fixed": pa.array([["canary"]], pa.list_(pa.string(), 1)),
    "large": pa.array([["canary"]], pa.large_list(pa.string())),
    "raw": pa.array([b"canary"], pa.large_binary()),
    "named": pa.array([[("canary", 1)]], pa.map_(pa.string(), pa.int64())),
}
FLAT = ["number", "risk", "beats", "none"]


def test_numbers_names_and_lists_of_numbers_alone_are_shown(voile: Any, tmp_path: Path) -> None:
    StoredKit("signals", "private", {}, {"frontier": pa.table(COLUMNS)}).save(tmp_path / "kit")
    (policy,) = voile("signals", "frontier", tmp_path / "kit", "--json").json["policies"]
    assert list(policy) == [*FLAT, "by_type", "shares"]
    header, line = voile("signals", "frontier", tmp_path / "kit").out.splitlines()
    assert header.split("\t") == FLAT
    assert "canary" not in line


def test_twenty_policies_are_shown_from_the_first_to_the_last(voile: Any, tmp_path: Path) -> None:
    table = pa.table({"number": range(1000), "risk": [0.5] * 1000})
    StoredKit("signals", "private", {}, {"frontier": table}).save(tmp_path / "kit")
    shown = voile("signals", "frontier", tmp_path / "kit")
    _, *lines = shown.out.splitlines()
    assert (len(lines), lines[0], lines[-1]) == (20, "0\t0.5", "999\t0.5")
    assert shown.err == "20 of 1,000 policies; --all shows every one\n"
    _, *lines = voile("signals", "frontier", tmp_path / "kit", "--all").out.splitlines()
    assert len(lines) == 1000
