"""Kits that somebody made to hurt whoever opens them: each is refused in one sentence, at once."""

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

from voile.errors import DamagedError
from voile.kit import INDEX, Kit
from voile.kit_files import MOST_BYTES, MOST_VALUES


@pytest.fixture
def kit(tmp_path: Path) -> Path:
    table = pa.table({"risk": [0.5, 1.0], "zip": ["00501", None]})
    Kit("tables", "private", {"policies": 2}, {"frontier": table}).save(tmp_path / "kit")
    return tmp_path / "kit"


def edit(kit: Path, **changes: Any) -> None:
    index = json.loads((kit / INDEX).read_bytes())
    (kit / INDEX).write_text(json.dumps({**index, **changes}))


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
    text = (kit / INDEX).read_text()
    (kit / INDEX).write_text(text.replace('"policies": 2', f'"policies": {deep}'))
    ran = voile("tables", "frontier", kit)
    assert (ran.code, ran.err.count("\n")) == (2, 1)


def test_a_table_of_more_values_than_a_kit_may_have_is_refused_at_once(kit: Path) -> None:
    """Nulls take no room in a file: 1 MB of them is more than a machine holds."""
    rows = pa.table({"zip": pa.nulls(1 << 26, pa.string())})
    put(kit, pa.concat_tables([rows] * ((MOST_VALUES >> 26) + 1)), use_dictionary=False)
    assert (kit / "frontier.parquet").stat().st_size < 1 << 20
    begun = time.monotonic()
    with pytest.raises(DamagedError, match="more than"):
        Kit.load(kit)
    assert time.monotonic() - begun < 5


def test_a_table_of_more_bytes_than_a_kit_may_have_is_refused_at_once(kit: Path) -> None:
    long = pa.table({"zip": ["x" * (64 << 20)]})
    put(
        kit,
        pa.concat_tables([long] * ((MOST_BYTES >> 26) + 1)),
        use_dictionary=False,
        row_group_size=1,
    )
    assert (kit / "frontier.parquet").stat().st_size < 2 << 20
    begun = time.monotonic()
    with pytest.raises(DamagedError, match="more than"):
        Kit.load(kit)
    assert time.monotonic() - begun < 5


def test_a_table_coded_by_a_dictionary_is_refused(kit: Path) -> None:
    """One long value and a million times its number would not state what it unpacks to."""
    long = pa.table({"zip": pa.array(["x" * (1 << 20)]).take(pa.array([0] * 5000))})
    put(kit, long, use_dictionary=True)
    with pytest.raises(DamagedError, match="is coded as voile does not"):
        Kit.load(kit)


def test_a_kit_holds_what_it_may(kit: Path) -> None:
    assert Kit.load(kit, "tables").tables["frontier"].num_rows == 2
