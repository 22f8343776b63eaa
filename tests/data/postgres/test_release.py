"""Tables written into a real PostgreSQL: whole or not at all, and read back as they were."""

from __future__ import annotations

import signal
import subprocess
import sys
from collections.abc import Iterator
from datetime import UTC, date, datetime, time
from decimal import Decimal
from pathlib import Path
from typing import Any

import pyarrow as pa
import pytest

from voile.core.errors import RequestError, SourceError, TamperedError, VoileError
from voile.data import open_source, open_writer, publishing

MONEY, TOKYO = pa.decimal128(9, 2), pa.timestamp("us", "Asia/Tokyo")
ROWS = pa.table(
    {
        "zip": pa.array(["00501", None, "é ''\\\n\t", ""] * 5).dictionary_encode(),
        "tiny": pa.array([-1, None, 2, 3] * 5, pa.int8()),
        "huge": pa.array([2**64 - 1, None, 0, 1] * 5, pa.uint64()),
        "x": pa.array([0.1, None, float("nan"), float("-inf")] * 5),
        "cost": pa.array([Decimal("1.50"), None, Decimal("-0.01"), Decimal(0)] * 5, MONEY),
        "born": pa.array([date(1990, 1, 2), None, date(1, 1, 1), date(9999, 12, 31)] * 5),
        "at": pa.array([datetime(2024, 1, 1, 1), None, None, None] * 5, pa.timestamp("ms")),
        "on": pa.array([datetime(2024, 1, 1, tzinfo=UTC), None] * 10, TOKYO),
        "clock": pa.array([time(1, 2, 3), None] * 10, pa.time32("s")),
        "flag": [True, None] * 10,
        "raw": [b"\x00\xff", None] * 10,
        'the "A"': range(20),
    }
)  # fmt: skip


class Place:
    """A table to be, and the file that stands for it."""

    def __init__(self, server: Any, folder: Path, table: str) -> None:
        self.server, self.table = server, table
        self.address = server.address(table)
        self.file = folder / f"{table}.postgresql"

    def stage(self, table: pa.Table = ROWS, *, force: bool = False) -> None:
        with open_writer(f"{self.file}::{self.address}", table.schema, force=force) as writer:
            for batch in table.to_batches(max_chunksize=7):
                writer.write(batch)

    def publish(self, *, force: bool = False) -> None:
        with publishing(self.file, None, force=force) as publish:
            publish()
        self.file.with_name(f"{self.file.name}.rows").unlink()  # as a Staging does

    def count(self) -> int:
        return int(self.server.sql(f'SELECT count(*) FROM "{self.table}"'))


@pytest.fixture
def place(server: Any, tmp_path: Path) -> Iterator[Place]:
    yield Place(server, tmp_path, "release")
    server.sql("DROP TABLE IF EXISTS release CASCADE")
    assert server.sql("SELECT count(*) FROM pg_class WHERE relname LIKE 'voile-%'") == "0"


def told(source: Any) -> list[dict[str, Any]]:
    return [row for batch in source.batches() for row in batch.to_pylist()]


def test_what_is_written_is_read_back(place: Place) -> None:
    place.stage()
    staged = open_source(place.file)
    found = [told(staged)]
    place.publish()
    for source in (open_source(place.file), open_source(place.address)):
        assert source.columns == staged.columns
        found.append(told(source))
    for rows in found:
        for row, written in zip(rows, ROWS.to_pylist(), strict=True):
            assert repr(row.pop("x")) == repr(written.pop("x"))  # NaN is NaN
            assert row == written
    kinds = place.server.sql(
        "SELECT string_agg(format_type(atttypid, atttypmod), ', ' ORDER BY attnum) FROM"
        " pg_attribute WHERE attrelid = 'release'::regclass AND attnum > 0"
    )
    assert kinds == (
        "text, smallint, numeric(20,0), double precision, numeric(9,2), date, timestamp without"
        " time zone, timestamp with time zone, time without time zone, boolean, bytea, bigint"
    )


def test_an_empty_release_is_a_table(place: Place) -> None:
    place.stage(ROWS.slice(0, 0))
    place.publish()
    assert place.count() == 0
    assert told(open_source(place.file)) == []


def test_nobody_sees_a_table_before_it_is_whole(place: Place) -> None:
    place.stage()
    tables = "SELECT count(*) FROM pg_class WHERE relname ~ '^(voile-|release)'"
    assert place.server.sql(tables) == "0"
    with publishing(place.file, None):
        assert place.server.sql(tables) == "0"
    assert place.server.sql(tables) == "0"  # the block ended without publishing
    with pytest.raises(KeyboardInterrupt), publishing(place.file, None):
        raise KeyboardInterrupt
    assert place.server.sql(tables) == "0"
    place.publish()
    assert place.count() == 20


def test_what_is_there_is_not_overwritten_unless_asked(place: Place) -> None:
    place.stage()
    place.publish()
    with pytest.raises(
        RequestError, match="release: the output exists already; replace it with --force"
    ):
        place.stage(ROWS.slice(0, 3))
    place.stage(ROWS.slice(0, 3), force=True)
    with pytest.raises(RequestError, match="exists"):
        place.publish()  # it came between
    assert place.count() == 20
    place.publish(force=True)
    assert place.count() == 3


KILLED = """
import os, signal, sys
from pathlib import Path
from voile.data import publishing
with publishing(Path(sys.argv[1]), None, force=True):
    os.kill(os.getpid(), signal.SIGKILL)
"""


def test_a_killed_run_leaves_the_old_table(place: Place) -> None:
    place.stage()
    place.publish()
    place.stage(ROWS.slice(0, 3), force=True)
    ran = subprocess.run([sys.executable, "-c", KILLED, place.file], check=False)
    assert ran.returncode == -signal.SIGKILL
    assert place.count() == 20
    place.publish(force=True)
    assert place.count() == 3


@pytest.mark.parametrize(
    "sql",
    [
        'UPDATE release SET zip = \'00502\' WHERE "the ""A""" = 7',
        "DELETE FROM release WHERE flag",
        "INSERT INTO release SELECT * FROM release LIMIT 1",
        "ALTER TABLE release DROP COLUMN raw",
        "UPDATE release SET zip = zip",  # only where rows lie
    ],
)
def test_a_table_that_was_touched_is_not_the_release(place: Place, sql: str) -> None:
    place.stage()
    place.publish()
    place.server.sql(sql.replace("zip = zip", 'zip = zip WHERE "the ""A""" < 5'))
    with pytest.raises(TamperedError, match="rows differ from the released rows"):
        open_source(place.file)


def test_a_release_is_not_read_from_where_it_is_written(place: Place) -> None:
    place.stage()
    place.publish()
    source = open_source(place.address)
    with pytest.raises(RequestError, match="is being read, or is the source itself"):
        place.stage(force=True)
    assert len(told(source)) == 20


CLEAR = """
DROP SCHEMA IF EXISTS closed; DROP ROLE IF EXISTS writer; DROP VIEW IF EXISTS v;
DROP TABLE IF EXISTS theirs"""


@pytest.mark.parametrize(
    ("before", "table", "message"),
    [
        ("", "nowhere.t", "has no schema nowhere"),
        ("CREATE VIEW v AS SELECT 1", "v", "is not a table that voile wrote"),
        ("CREATE TABLE theirs (n int)", "theirs", "is not a table that voile wrote"),
        ("", "t" * 64, "longer than 63 bytes"),
        ("", "", "the address lacks a table"),
        (
            "CREATE SCHEMA closed; CREATE ROLE writer LOGIN",
            "closed.t",
            "your database role may not create tables in schema",
        ),
    ],
)
def test_where_no_table_can_be_made(
    server: Any, tmp_path: Path, before: str, table: str, message: str
) -> None:
    server.sql(CLEAR)
    server.sql(before or "SELECT 1")
    user = "writer" if "writer" in before else "steward"
    place = f"{tmp_path / 'a.postgresql'}::{server.address(table, user=user)}"
    with pytest.raises(RequestError, match=message):
        open_writer(place, ROWS.schema, force=True)
    server.sql(CLEAR)


def test_what_others_stand_on_is_not_replaced(place: Place) -> None:
    place.stage()
    place.publish()
    place.server.sql("CREATE VIEW standing AS SELECT * FROM release")
    place.stage(force=True)
    with pytest.raises(RequestError, match="other objects depend on the table that is there"):
        place.publish(force=True)
    assert place.count() == 20


@pytest.mark.parametrize(
    ("column", "message"),
    [
        (
            pa.field("tags", pa.list_(pa.int8())),
            "column tags is list.*, which voile does not write",
        ),
        (pa.field("wide", pa.decimal256(60, 2)), r"column wide is decimal256\(60, 2\)"),
        (pa.field("n" * 64, pa.int8()), "1 to 63 bytes"),
        (pa.field("", pa.int8()), "1 to 63 bytes"),
    ],
)
def test_a_column_that_fits_no_table_is_refused(place: Place, column: Any, message: str) -> None:
    with pytest.raises(RequestError, match=message):
        open_writer(f"{place.file}::{place.address}", pa.schema([column]))


def test_text_that_no_database_holds_is_not_quoted(place: Place) -> None:
    place.stage(pa.table({"zip": ["005\x0001"]}))
    with pytest.raises(VoileError, match="the server") as caught:
        place.publish()
    assert "005" not in str(caught.value)


def test_a_time_finer_than_the_tables_is_no_release(place: Place) -> None:
    fine = pa.table({"at": pa.array([1], pa.timestamp("ns"))})
    with pytest.raises((VoileError, pa.ArrowInvalid)):
        place.stage(fine)


def test_the_file_that_stands_for_a_table(place: Place) -> None:
    place.stage()
    place.publish()
    whole = place.file.read_text()
    assert "PGPASS" not in whole
    place.file.write_text(whole[: len(whole) // 2])
    with pytest.raises(SourceError, match="the postgresql file is damaged or truncated"):
        open_source(place.file)
    place.file.write_text(whole.replace("postgresql://", "postgresql://u:hunter2@", 1))
    with pytest.raises(
        RequestError, match="the address contains a password, which other programs could read"
    ) as caught:
        open_source(place.file)
    assert "hunter2" not in str(caught.value)
    with pytest.raises(RequestError, match="the address lacks the file's database table"):
        open_writer(place.file, ROWS.schema)
