"""Sources in an object store are read as the same files here."""

from __future__ import annotations

import gzip
import io
from pathlib import Path
from typing import Any

import duckdb
import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from tests.data.stores.server import DENIED, KEY, SECRET, Server

from voile.core.errors import VoileError
from voile.data import open_source
from voile.data.stores.systems import file_system
from voile.modules import find_opener

ROWS = pa.table({"zip": ["00501", "00544", None] * 400, "age": range(1200)})
CSV = b"zip,age\n00501,1\n00544,2\n"


def parquet(rows: pa.Table = ROWS, **how: Any) -> bytes:
    sink = io.BytesIO()
    pq.write_table(rows, sink, **how)
    return sink.getvalue()


@pytest.mark.parametrize("name", ["visits.parquet", "a b/v 100%.parquet", "x/é%20+?#.parquet"])
def test_a_parquet_file(bucket: Server, name: str) -> None:
    source = open_source(bucket.put(name, parquet(row_group_size=500)))
    assert source.name == name.rpartition("/")[2]
    assert source.about_rows() == 1200
    assert source.read().equals(ROWS)
    assert source.read(["age"]).equals(ROWS.select(["age"]))


@pytest.mark.parametrize(
    ("name", "body"),
    [
        ("v.csv", CSV),
        ("v.csv.gz", gzip.compress(CSV)),
        ("v.jsonl", b'{"zip": "00501", "age": "1"}\n{"zip": "00544", "age": "2"}\n'),
    ],
    ids=["csv", "csv.gz", "jsonl"],
)
def test_text(bucket: Server, tmp_path: Path, name: str, body: bytes) -> None:
    (tmp_path / name).write_bytes(body)
    here, there = open_source(tmp_path / name), open_source(bucket.put(name, body))
    assert there.name == here.name
    assert there.read().equals(here.read())
    assert there.fingerprint() == here.fingerprint()


def test_a_folder(bucket: Server, tmp_path: Path) -> None:
    for place in ("year=2024/a.parquet", "year=2023/city=S%C3%A3o%2F1/b.parquet", "_SUCCESS"):
        body = parquet() if place.endswith(".parquet") else b""
        if "city" not in place:
            bucket.put(f"visits/{place}", body)
            (tmp_path / place).parent.mkdir(exist_ok=True)
            (tmp_path / place).write_bytes(body)
    bucket.put("visits/_temporary/x.parquet", parquet())
    here, there = open_source(tmp_path), open_source("s3://clinic/visits/")
    assert there.read().equals(here.read())
    assert there.folder_columns() == here.folder_columns() == {"year"}
    assert there.fingerprint() == here.fingerprint()
    bucket.put("visits/year=2025/c.parquet", parquet())
    with pytest.raises(VoileError, match="changed while voile read"):
        there.read()


def test_a_table_of_a_database(bucket: Server, tmp_path: Path) -> None:
    with duckdb.connect(str(tmp_path / "d.duckdb")) as connection:
        connection.execute("CREATE TABLE v AS SELECT 1 AS age")
    address = bucket.put("d.duckdb", (tmp_path / "d.duckdb").read_bytes())
    assert open_source(f"{address}::v").read().to_pydict() == {"age": [1]}


def test_counting_reads_the_columns_that_it_counts_once(bucket: Server) -> None:
    wide = pa.table({"age": range(100_000), "noise": [f"{i:040}" for i in range(100_000)]})
    body = parquet(wide, compression="none", use_dictionary=False)
    source = open_source(bucket.put("wide.parquet", body))
    bucket.sent = 0
    sql, answer = "SELECT count(*) AS n FROM source", pa.schema([("n", pa.int64())])
    with duckdb.connect() as connection:
        source.tabulate(connection, sql, columns=["age"], answer=answer, into="counted")
        assert connection.execute("FROM counted").fetchall() == [(100_000,)]
    assert 800_000 < bucket.sent < 1_000_000 < len(body) // 4


def test_text_is_fetched_once(bucket: Server) -> None:
    body = CSV + b"00501,3\n" * 10_000
    source = open_source(bucket.put("v.csv", body))
    source.read()
    source.fingerprint()
    open_source("s3://clinic/v.csv").read()
    assert len(body) <= bucket.sent < 1.2 * len(body)


def refused(thing: str) -> str:
    with pytest.raises(VoileError) as caught:
        open_source(thing).read()
    said = str(caught.value)
    assert caught.value.exit_code == 2
    assert not any(canary in said for canary in (KEY, SECRET, "canary"))
    return said


@pytest.mark.parametrize(
    ("thing", "said"),
    [
        ("s3://clinic/none.csv", "s3://clinic/none.csv: the file does not exist"),
        ("s3://nowhere/v.csv", "s3://nowhere: the bucket does not exist"),
        ("s3://nowhere", "s3://nowhere: the bucket does not exist"),
        ("s3://clinic", "clinic: "),
        ("s3://clinic/a//v.csv", 'the address has a part that is empty, "." or ".."'),
        ("s3://clinic/../v.csv", 'the address has a part that is empty, "." or ".."'),
        (
            "s3://canary:canary@clinic/v.csv",
            "s3://clinic/v.csv: the address contains a user or a key; ",
        ),
        ("abfs://a:canary@h/v.csv", "abfs://h/v.csv: the address contains a user or a key; "),
        ("ftp://u:canary@h/v.csv?canary", "ftp://h/v.csv: ftp addresses cannot be read here"),
        (
            "http://h.example/v.csv?canary",
            "http://h.example/v.csv: the address would be sent unencrypted; write https://",
        ),
        ("https://u:canary@h/v.csv", "https://h/v.csv: the address contains a user or a password"),
        ("s3://u:can/canary@clinic/v.csv", "s3://...: the address contains a user or a key; "),
        (
            "https://u:can/canary@h/v.csv",
            "https://...: the address does not have the form https://HOST/NAME",
        ),
        (
            "https://u:canary?@h/v.csv",
            "https://...: the address does not have the form https://HOST/NAME",
        ),
        (
            "https://[::1/v.csv?canary",
            "https://...: the address does not have the form https://HOST/NAME",
        ),
        (
            "https://h:99999/v.csv?canary",
            "https://h:99999/v.csv: the address does not have the form https://HOST",
        ),
    ],
)
def test_bad_addresses(bucket: Server, thing: str, said: str) -> None:
    bucket.put("x", b"")
    assert said in refused(thing)


@pytest.mark.parametrize("name", ["v.parquet", "v.csv"])
def test_no_rights(bucket: Server, name: str) -> None:
    address = bucket.put(name, b"x")
    bucket.answer = lambda method, path: ("403 Forbidden", b"" if method == "HEAD" else DENIED)
    assert (
        refused(address)
        == f"{address}: these credentials have no right to it; ask who runs the store"
    )


def test_rights_that_end_while_it_is_read(bucket: Server) -> None:
    source = open_source(bucket.put("v.parquet", parquet()))
    bucket.answer = lambda method, path: ("403 Forbidden", DENIED) if method == "GET" else None
    with pytest.raises(VoileError, match="these credentials have no right to it"):
        source.read()


def test_a_damaged_file_is_said_to_be_one(bucket: Server) -> None:
    address = bucket.put("v.parquet", parquet()[:-9])
    assert (
        refused(address)
        == "v.parquet: the parquet file is damaged or truncated; copy the file again"
    )
    assert (
        refused(bucket.put("empty.csv", b""))
        == "empty.csv: the file is empty; choose a file with rows"
    )
    assert "files are not known" in refused(bucket.put("a.exe", b"x"))


@pytest.mark.parametrize(
    ("url", "said"),
    [
        ("http://127.0.0.1:9", "the store cannot be reached"),
        ("http://store.example", "the variable contains an unencrypted address; write https://"),
        ("https://u:canary@store.example", "the variable does not have the form https://HOST:PORT"),
    ],
)
def test_endpoints(bucket: Server, monkeypatch: pytest.MonkeyPatch, url: str, said: str) -> None:
    monkeypatch.setenv("AWS_ENDPOINT_URL", url)
    assert said in refused("s3://clinic/v.csv")


def test_credentials_that_cannot_be_read(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    file = tmp_path / "key.json"
    file.write_text('{"private_key": "canary"')
    monkeypatch.setenv("GOOGLE_APPLICATION_CREDENTIALS", str(file))
    monkeypatch.setenv("AZURE_STORAGE_ACCOUNT", "clinic")
    monkeypatch.setenv("AZURE_STORAGE_KEY", "canary is not a key")
    file_system.cache_clear()
    for address in ("gs://box/v.csv", "abfs://box/v.csv"):
        said = refused(address)
        assert said == f"{address}: the store does not accept the credentials; set new credentials"
    file_system.cache_clear()


def test_a_pyarrow_without_the_store(monkeypatch: pytest.MonkeyPatch) -> None:
    import pyarrow.fs

    monkeypatch.delattr(pyarrow.fs, "GcsFileSystem")
    monkeypatch.setattr(pyarrow.fs, "_not_imported", ["GcsFileSystem"])
    assert "pyarrow was built without GcsFileSystem" in refused("gs://clinic/v.csv")
    monkeypatch.delenv("AZURE_STORAGE_ACCOUNT", raising=False)
    assert "abfs: the address lacks the storage account" in refused("abfs://box/v.csv")


@pytest.mark.parametrize(
    ("kind", "name", "body"),
    [
        ("documents", "notes.jsonl", b'{"text": "Dr. Who is in."}\n'),
        ("documents", "notes.csv", b"text\nDr. Who is in.\n"),
        ("itemsets", "shop.dat", b"1 2 3\n2 3\n"),
        ("signals", "pulse.csv", CSV),
    ],
)
def test_every_kind_opens_what_is_there(
    bucket: Server, tmp_path: Path, kind: str, name: str, body: bytes
) -> None:
    (tmp_path / name).write_bytes(body)
    here, there = find_opener(kind)(tmp_path / name), find_opener(kind)(bucket.put(name, body))
    assert there.read().equals(here.read())
