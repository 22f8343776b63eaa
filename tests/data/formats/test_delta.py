"""Delta tables: one version's files, whatever is written meanwhile."""

from __future__ import annotations

import datetime as dt
import json
import sys
from pathlib import Path
from typing import Any

import pyarrow as pa
import pytest
from deltalake import DeltaTable, write_deltalake

import voile.tables
from voile.core.errors import RequestError, SourceError
from voile.data import open_source
from voile.engines.counting import count_combinations

DAY = dt.date(2026, 11, 24)
ROWS = [
    {"who": "a", "age": 31, "day": DAY, "city": "São/1"},
    {"who": "b", "age": 47, "day": DAY, "city": "b=c d"},
    {"who": "c", "age": None, "day": None, "city": "b=c d"},
]
MORE = [{"who": "d", "age": 47, "day": DAY, "city": "b=c d"}]
SCHEMA = pa.schema(
    [("who", pa.string()), ("age", pa.int64()), ("day", pa.date32()), ("city", pa.string())]
)


def rows(*lists: list[dict[str, Any]]) -> pa.Table:
    return pa.Table.from_pylist([one for each in lists for one in each], SCHEMA)


@pytest.fixture
def visits(tmp_path: Path) -> Path:
    """A table of two versions in folders of two columns, its name with a blank and a sign."""
    folder = tmp_path / "all visits@v7"
    write_deltalake(str(folder), rows(ROWS), partition_by=["day", "city"])
    write_deltalake(str(folder), rows(MORE), mode="append")
    return folder


def by_who(source: object) -> list[dict[str, object]]:
    return sorted(open_source(source).read().to_pylist(), key=lambda row: row["who"])


def test_the_newest_version_is_read_or_the_one_that_is_named(visits: Path) -> None:
    source = open_source(visits)
    assert source.columns == dict(zip(SCHEMA.names, SCHEMA.types, strict=True))
    assert source.name == "all visits@v7@v1"
    assert source.about_rows() == 4
    assert by_who(visits) == ROWS + MORE
    assert by_who(f"{visits}@v0") == ROWS
    assert by_who(f"{visits}@v1") == ROWS + MORE
    assert open_source(f"{visits}@v0").fingerprint() != source.fingerprint()
    assert open_source(f"{visits}@v1").fingerprint() == source.fingerprint()
    with pytest.raises(
        RequestError,
        match=r"the Delta table has no version 2; use the newest version, 1, or an earlier one",
    ):
        open_source(f"{visits}@v2")


def test_counts_are_those_of_the_rows(visits: Path) -> None:
    columns = ["age", "day", "city"]
    counted = count_combinations(open_source(visits), columns)
    assert counted.equals(count_combinations(open_source(rows(ROWS, MORE)), columns))


def test_a_table_that_is_written_to_keeps_its_version(visits: Path) -> None:
    source = open_source(visits)
    batches = source.batches()
    first = next(batches)
    write_deltalake(str(visits), rows(MORE), mode="append")
    DeltaTable(str(visits)).delete("who = 'a'")
    assert len(first) + sum(map(len, batches)) == 4
    assert sorted(row["who"] for row in source.read().to_pylist()) == ["a", "b", "c", "d"]
    assert "a" not in [row["who"] for row in by_who(visits)]


def test_files_that_go_are_an_error(visits: Path) -> None:
    source = open_source(f"{visits}@v0")
    DeltaTable(str(visits)).delete("who = 'a'")
    for file in visits.rglob("*.parquet"):
        if "S%C3%A3o" in str(file):
            file.unlink()
    with pytest.raises(SourceError):
        source.read()
    with pytest.raises(
        SourceError, match="a vacuum removed a file of this version; read a newer version"
    ):
        open_source(f"{visits}@v0")


def test_columns_that_came_later_are_null_before(tmp_path: Path) -> None:
    folder = str(tmp_path / "t")
    write_deltalake(folder, pa.table({"a": [1]}))
    write_deltalake(folder, pa.table({"a": [2], "b": ["x"]}), mode="append", schema_mode="merge")
    found = sorted(open_source(folder).read(["b", "a"]).to_pylist(), key=lambda row: row["a"])
    assert found == [{"b": None, "a": 1}, {"b": "x", "a": 2}]
    assert not open_source(folder).folder_columns()


def test_pieces_are_the_rows(visits: Path, tmp_path: Path) -> None:
    from voile.data.formats.partitions import open_piece

    source = open_source(visits)
    columns = ["city", "who"]
    found = [
        row
        for piece in source.pieces(columns, tmp_path, 1)
        for row in open_piece(piece).read(columns).to_pylist()
    ]
    assert found == source.read(columns).to_pylist()
    assert set(source.folder_columns()) == {"day", "city"}


def logged(folder: Path, change: Any) -> None:
    """Change the actions of the newest commit."""
    newest = sorted((folder / "_delta_log").glob("*.json"))[-1]
    actions = [json.loads(line) for line in newest.read_text().splitlines()]
    newest.write_text("".join(json.dumps(change(one)) + "\n" for one in actions))


def test_what_files_do_not_say_is_refused(tmp_path: Path) -> None:
    def table(name: str) -> Path:
        write_deltalake(str(tmp_path / name), pa.table({"a": [1, 2]}))
        return tmp_path / name

    def mapped(action: Any) -> Any:
        if "metaData" in action:
            action["metaData"]["configuration"] = {"delta.columnMapping.mode": "name"}
        if "protocol" in action:
            action["protocol"] = {"minReaderVersion": 2, "minWriterVersion": 5}
        return action

    def strange(action: Any) -> Any:
        if "protocol" in action:
            action["protocol"] |= {"minReaderVersion": 3, "minWriterVersion": 7}
            action["protocol"] |= {"readerFeatures": ["CANARY"], "writerFeatures": ["CANARY"]}
        return action

    def outside(action: Any) -> Any:
        if "add" in action:
            action["add"]["path"] = "../../CANARY.parquet"
        return action

    for name, change in (("mapped", mapped), ("strange", strange), ("outside", outside)):
        logged(table(name), change)
        with pytest.raises((RequestError, SourceError)) as caught:
            open_source(tmp_path / name)
        said = str(caught.value)
        assert "\n" not in said
        assert ("CANARY" in said) == (name == "strange" and "needs a reader" in said)
    (table("cut") / "_delta_log" / f"{0:020}.json").write_text('{"CANARY')
    with pytest.raises(
        SourceError, match="the Delta table is incomplete, or its log begins after this version"
    ) as caught_cut:
        open_source(tmp_path / "cut")
    assert "CANARY" not in str(caught_cut.value)


def test_rows_that_a_vector_deletes_are_refused(tmp_path: Path) -> None:
    """The vector is the one of Delta's protocol, of rows 3, 4, 7, 11, 18 and 29."""
    vector = {
        "storageType": "i",
        "pathOrInlineDv": "^Bg9^0rr910000000000iXQKl0rr91000f55c8Xg0@@D72lkbi5=-{L",
        "sizeInBytes": 44,
        "cardinality": 6,
    }
    write_deltalake(str(tmp_path / "t"), pa.table({"a": range(40)}))

    def change(action: Any) -> Any:
        if "protocol" in action:
            action["protocol"] = {"minReaderVersion": 3, "minWriterVersion": 7}
            action["protocol"] |= {
                name: ["deletionVectors"] for name in ("readerFeatures", "writerFeatures")
            }
        if "add" in action:
            action["add"]["deletionVector"] = vector
        return action

    logged(tmp_path / "t", change)
    with pytest.raises(
        RequestError,
        match="the Delta table marks deleted rows in deletion vectors, which voile does not read",
    ):
        open_source(tmp_path / "t")


def test_without_deltalake_one_sentence_says_how_to_get_it(
    visits: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setitem(sys.modules, "deltalake", None)
    with pytest.raises(RequestError, match=r"deltalake is not installed; .*voile\[delta\]"):
        open_source(visits)


def test_a_release_says_its_version_privately(visits: Path, tmp_path: Path) -> None:
    roles = {"age": "quasi", "city": "quasi", "day": "keep", "who": "drop"}
    kit = voile.tables.fit(visits, roles=roles, seed=1)
    release = kit.apply(kit.choose(policy=0), f"{visits}@v0", tmp_path / "out.parquet")
    assert release.private["source"]["name"] == "all visits@v7@v0"
    assert "@v0" not in json.dumps(release.public)
    assert release.private["counts"]["read"] == 3
