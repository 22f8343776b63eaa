"""A Delta table in a store: its log says which files, and these are read where they lie."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pyarrow as pa
import pytest
from deltalake import DeltaTable, write_deltalake
from tests.data.stores.server import Server

import voile.tables
from voile.core.errors import VoileError
from voile.data import open_source
from voile.engines.counting import count_combinations

ROWS = pa.table({"age": [31, 47, None, 47] * 50, "city": ["São/1", "b=c d"] * 100})
AT = "s3://clinic/all visits"


@pytest.fixture
def visits(bucket: Server, tmp_path: Path) -> Path:
    """A table of three versions, and the same in the bucket."""
    folder = tmp_path / "all visits"
    for _ in range(3):
        write_deltalake(str(folder), ROWS, partition_by=["city"], mode="append")
    send(bucket, folder)
    return folder


def send(bucket: Server, folder: Path) -> None:
    there = bucket.objects()
    for file in folder.rglob("*"):
        key = str(file.relative_to(folder.parent))
        if file.is_file() and key not in there:
            bucket.put(key, file.read_bytes())


@pytest.mark.parametrize("version", ["", "@v0", "@v1", "@v2"])
def test_each_version_is_that_of_the_table_here(visits: Path, version: str) -> None:
    here, there = open_source(f"{visits}{version}"), open_source(f"{AT}{version}")
    assert there.name == here.name
    assert there.columns == here.columns
    assert there.folder_columns() == here.folder_columns() == ["city"]
    assert there.about_rows() == here.about_rows() == len(here.read())
    assert there.read().equals(here.read())
    assert there.fingerprint() == here.fingerprint()
    counted = [count_combinations(one, ["age", "city"]) for one in (here, there)]
    assert counted[0].equals(counted[1])


def test_the_log_is_fetched_from_its_last_checkpoint_on(bucket: Server, visits: Path) -> None:
    table = DeltaTable(str(visits))
    table.create_checkpoint()
    write_deltalake(str(visits), ROWS, mode="append", partition_by=["city"])
    send(bucket, visits)
    bucket.asked.clear()
    assert open_source(AT).read().equals(open_source(visits).read())
    fetched = {path.rpartition("/")[2] for method, path in bucket.asked if "_delta_log" in path}
    assert "00000000000000000003.json" in fetched
    assert not {f"0000000000000000000{i}.json" for i in range(2)} & fetched
    assert open_source(f"{AT}@v1").read().equals(open_source(f"{visits}@v1").read())


def test_a_table_that_is_written_to_keeps_its_version(bucket: Server, visits: Path) -> None:
    source = open_source(AT)
    write_deltalake(str(visits), ROWS, mode="append", partition_by=["city"])
    send(bucket, visits)
    assert source.read().num_rows == 600
    assert open_source(AT).read().num_rows == 800


def test_what_is_refused(bucket: Server, visits: Path) -> None:
    def refusal(thing: str) -> str:
        with pytest.raises(VoileError) as caught:
            open_source(thing).read()
        return str(caught.value)

    assert (
        refusal(f"{AT}@v7") == "all visits: the Delta table has no version 7; "
        "use the newest version, 2, or an earlier one"
    )
    for key in bucket.objects():
        if key.endswith(".parquet") and "b%3Dc" in key:
            bucket.client.delete_object(Bucket="clinic", Key=key)
            break
    assert "a vacuum removed a file of this version" in refusal(AT)
    bucket.put("all visits/_delta_log/00000000000000000002.json", b"{")
    assert "the Delta table is incomplete, or its log begins after this version" in refusal(AT)


def test_a_release_names_the_version(
    visits: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    roles = {"columns": {"age": "quasi", "city": "keep"}}
    kit = voile.tables.fit(f"{AT}@v1", roles=roles, k=5, seed=1, method="steepest")
    to = "s3://clinic/out.parquet"
    release = kit.apply(kit.choose(policy=1), f"{AT}@v1", to, no_pseudonyms=True)
    assert release.private["source"]["name"] == "all visits@v1"
    private: dict[str, Any] = json.loads(Path("out.parquet.private/manifest.json").read_text())
    assert private["source"]["sha256"] == open_source(f"{visits}@v1").fingerprint()
