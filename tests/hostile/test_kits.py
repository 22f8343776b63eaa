"""Test that kits made to attack the person who opens them are refused at once, in one sentence."""

from __future__ import annotations

import hashlib
import json
import time
from pathlib import Path
from typing import Any

import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from tests.cli.conftest import Voile, voile  # noqa: F401

from voile.core.errors import DamagedError
from voile.data.files.outputs import KIT_INDEX
from voile.release.kit import StoredKit


@pytest.fixture
def kit(tmp_path: Path) -> Path:
    table = pa.table({"risk": [0.5, 1.0], "zip": ["00501", None]})
    StoredKit("tables", "private", {"policies": 2}, {"frontier": table}).save(tmp_path / "kit")
    return tmp_path / "kit"


def edit(kit: Path, **changes: Any) -> None:
    index = json.loads((kit / KIT_INDEX).read_bytes())
    (kit / KIT_INDEX).write_text(json.dumps({**index, **changes}))


def put(kit: Path, table: pa.Table, **how: Any) -> None:
    """Put another table into a kit, under its right hash."""
    path = kit / "frontier.parquet"
    pq.write_table(table, path, compression="zstd", **how)
    digest = hashlib.sha256(path.read_bytes()).hexdigest()
    edit(kit, tables={"frontier": {"file": path.name, "sha256": digest}})


@pytest.mark.parametrize(
    "index",
    [
        {"tables": ["frontier"]},
        {"tables": {"frontier": {"sha256": "0"}}},
        {"tables": {"frontier": "frontier.parquet"}},
        {"tables": {"frontier": {"file": 7, "sha256": None}}},
        {"facts": []},
        {"facts": {"policies": "\ud800"}},
        {"kind": ["tables"]},
        {"visibility": "everybody"},
        {"version": None},
    ],
)
def test_an_index_of_other_parts_is_refused(voile: Voile, kit: Path, index: Any) -> None:  # noqa: F811
    edit(kit, **index)
    ran = voile("tables", "frontier", kit)
    assert ran.code == 2
    assert ran.err.startswith(f"voile: {kit}: the kit's index ")
    assert ran.err.count("\n") == 1


@pytest.mark.parametrize("deep", ["[" * 100_000 + "]" * 100_000, "[" * 200 + "]" * 200])
def test_an_index_too_deep_is_refused(voile: Voile, kit: Path, deep: str) -> None:  # noqa: F811
    text = (kit / KIT_INDEX).read_text()
    (kit / KIT_INDEX).write_text(text.replace('"policies": 2', f'"policies": {deep}'))
    ran = voile("tables", "frontier", kit)
    assert (ran.code, ran.err.count("\n")) == (2, 1)


def test_a_table_of_more_values_than_a_kit_may_have_is_refused(
    kit: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Nulls take no room in a file."""
    monkeypatch.setattr("voile.release.kit_files.MOST_VALUES", 1 << 20)
    put(kit, pa.table({"zip": pa.nulls((1 << 20) + 1, pa.string())}), use_dictionary=False)
    assert (kit / "frontier.parquet").stat().st_size < 10_000
    with pytest.raises(DamagedError, match="contain more than 1,048,576 values"):
        StoredKit.load(kit)
    put(kit, pa.table({"zip": pa.nulls(1 << 20, pa.string())}), use_dictionary=False)
    assert StoredKit.load(kit).tables["frontier"].num_rows == 1 << 20


def test_a_table_of_more_bytes_than_a_kit_may_have_is_refused(
    kit: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("voile.release.kit_files.MOST_BYTES", 1 << 20)
    put(kit, pa.table({"zip": ["x" * (1 << 20)]}), use_dictionary=False)
    assert (kit / "frontier.parquet").stat().st_size < 10_000
    with pytest.raises(DamagedError, match="contain more than"):
        StoredKit.load(kit)


def test_a_table_that_is_larger_than_it_states_is_refused(
    kit: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Half a million nulls state a few bytes, and take four each when they are read."""
    monkeypatch.setattr("voile.release.kit_files.MOST_BYTES", 1 << 20)
    put(kit, pa.table({"zip": pa.nulls(1 << 19, pa.string())}), use_dictionary=False)
    with pytest.raises(DamagedError, match="is larger than it states"):
        StoredKit.load(kit)


def test_text_that_is_none_is_refused(kit: Path) -> None:
    """Arrow takes bytes for UTF-8 text unread, and fails wherever it is first looked at."""
    ends, raw = pa.array([0, 1], pa.int32()).buffers()[1], pa.py_buffer(b"\xff")
    put(kit, pa.table({"zip": pa.StringArray.from_buffers(1, ends, raw)}), use_dictionary=False)
    with pytest.raises(DamagedError):
        StoredKit.load(kit)


def test_a_bomb_is_refused_at_once(voile: Voile, kit: Path) -> None:  # noqa: F811
    """A long value and a million times its number: a terabyte, if it were read."""
    numbers = pa.array([0] * 1_000_000, pa.int32())
    put(kit, pa.table({"zip": pa.DictionaryArray.from_arrays(numbers, ["x" * (1 << 20)])}))
    assert (kit / "frontier.parquet").stat().st_size < 10_000
    begun = time.process_time()
    ran = voile("tables", "frontier", kit)
    assert time.process_time() - begun < 10
    assert (ran.code, ran.err) == (
        2,
        f"voile: {kit}: a table of the kit has an encoding that voile never writes\n",
    )


def test_a_kit_holds_what_it_may(kit: Path) -> None:
    assert StoredKit.load(kit, "tables").tables["frontier"].num_rows == 2
