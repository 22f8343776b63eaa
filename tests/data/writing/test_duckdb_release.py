"""A table of a DuckDB file is replaced as a table; whatever stops it leaves the old one."""

from __future__ import annotations

import signal
import subprocess
import sys
from pathlib import Path

import duckdb
import pytest
from tests.data.writing.database_rows import ROWS, release

from voile.core.errors import RequestError, SourceError, TamperedError
from voile.data import open_source, open_writer
from voile.data.files.outputs import RELEASE
from voile.keys.seal import file_sha256
from voile.release.manifest import StoredRelease


def told(place: object) -> list[dict[str, object]]:
    return [row for batch in open_source(place).batches() for row in batch.to_pylist()]


def tables(database: Path) -> dict[str, int]:
    with duckdb.connect(str(database), read_only=True) as connection:
        found = connection.execute(
            "SELECT database_name, schema_name || '.' || table_name FROM duckdb_tables()"
        ).fetchall()
        return {
            name: connection.execute(f"SELECT count(*) FROM {whole}.{name}").fetchall()[0][0]
            for whole, name in found
        }


@pytest.fixture
def county(tmp_path: Path) -> Path:
    """Return a database of somebody's, with a table and a view."""
    path = tmp_path / "clean.duckdb"  # as the schema is called: DuckDB takes neither for the other
    with duckdb.connect(str(path)) as connection:
        connection.execute("CREATE TABLE visits AS SELECT range AS n FROM range(100)")
        connection.execute("CREATE VIEW seen AS SELECT * FROM visits")
    return path


def test_what_is_written_is_read_back(tmp_path: Path) -> None:
    out = release(tmp_path / "a.duckdb::visits", ROWS)
    assert out.name == "a.duckdb.visits.table"
    for place in (out, tmp_path / "a.duckdb::visits"):
        for row, written in zip(told(place), ROWS.to_pylist(), strict=True):
            assert repr(row.pop("x")) == repr(written.pop("x"))  # NaN is NaN
            assert row == written
    assert sorted(path.name for path in tmp_path.iterdir()) == [
        "a.duckdb",
        "a.duckdb.visits.table",
        "a.duckdb.visits.table.manifest.json",
    ]


def test_other_tables_stay_and_may_change(county: Path) -> None:
    out = release(Path(f"{county}::clean.visits"), ROWS)
    assert tables(county) == {"clean.visits": 20, "main.visits": 100}
    release(Path(f"{county}::clean.visits"), ROWS.slice(0, 3), force=True)
    release(Path(f"{county}::VISITS2"), ROWS.slice(0, 2))
    with duckdb.connect(str(county)) as connection:
        connection.execute("DELETE FROM visits WHERE n < 50")
    assert tables(county) == {"clean.visits": 3, "main.VISITS2": 2, "main.visits": 50}
    assert len(told(out)) == 3
    with duckdb.connect(str(county)) as connection:
        connection.execute("UPDATE clean.clean.visits SET tiny = 0")
    with pytest.raises(TamperedError, match="differ from the released rows"):
        told(out)
    made = StoredRelease(out, {"sha256": file_sha256(out)})
    with pytest.raises(TamperedError, match="differ from the released rows"):
        made.check_hash()
    with duckdb.connect(str(county)) as connection:
        connection.execute("DROP TABLE clean.clean.visits")
    release(Path(f"{county}::clean.visits"), ROWS.slice(0, 3), force=True)
    made.check_hash()


@pytest.mark.parametrize("table", ["visits", "VISITS", "main.visits", "seen"])
def test_a_table_that_voile_did_not_write_stays(county: Path, table: str) -> None:
    for force in (False, True):
        with pytest.raises(RequestError, match="is not a table that voile wrote"):
            release(Path(f"{county}::{table}"), ROWS, force=force)
    assert tables(county) == {"main.visits": 100}
    assert [path.name for path in county.parent.iterdir()] == [county.name]


def test_a_table_is_replaced_when_asked(county: Path) -> None:
    place = Path(f"{county}::released")
    out = release(place, ROWS)
    with pytest.raises(RequestError, match="the output exists already; replace it with --force"):
        release(place, ROWS)
    for part in RELEASE.parts(out):  # as a kill between the commit and the last rename leaves it
        part.unlink(missing_ok=True)
    with pytest.raises(
        RequestError, match="released: the output exists already; replace it with --force"
    ):
        release(place, ROWS)
    release(place, ROWS.slice(0, 3), force=True)
    assert tables(county)["main.released"] == 3


@pytest.mark.parametrize("name", ["Released", "MAIN.RELEASED"])
def test_a_name_in_other_capitals_is_the_same_table(county: Path, name: str) -> None:
    out = release(Path(f"{county}::released"), ROWS)
    with pytest.raises(
        RequestError, match=r"a table with this name in other capitals exists; write main.released"
    ):
        release(Path(f"{county}::{name}"), ROWS.slice(0, 3), force=True)
    assert len(told(out)) == 20


def test_a_schema_in_other_capitals_is_the_same_schema(county: Path) -> None:
    release(Path(f"{county}::research.released"), ROWS)
    with pytest.raises(
        RequestError, match=r"a table with this name in other capitals exists; write research.other"
    ):
        release(Path(f"{county}::Research.other"), ROWS)


@pytest.mark.parametrize("name", [".", "..", ".released", "research.", "main."])
def test_a_table_without_a_name_is_refused(county: Path, name: str) -> None:
    with pytest.raises(RequestError, match="the address does not contain a table"):
        release(Path(f"{county}::{name}"), ROWS)


def test_a_file_that_is_a_release_takes_no_other_table(tmp_path: Path) -> None:
    database = tmp_path / "r.duckdb"
    with open_writer(database, ROWS.schema):
        pass
    database.with_name("r.duckdb.manifest.json").write_text("{}")
    with pytest.raises(
        RequestError, match="the database is itself a release, and a second table would change it"
    ):
        release(Path(f"{database}::other"), ROWS)


def test_what_is_no_database_or_in_use_is_said(tmp_path: Path, county: Path) -> None:
    (tmp_path / "x.duckdb").write_text("notes")
    with pytest.raises(SourceError, match="the duckdb file is damaged or truncated"):
        release(tmp_path / "x.duckdb::t", ROWS)
    assert (tmp_path / "x.duckdb").read_text() == "notes"
    held = subprocess.Popen([sys.executable, "-c", HOLDER, county], stdout=subprocess.PIPE)
    assert held.stdout is not None
    assert held.stdout.readline() == b"held\n"
    try:
        with pytest.raises(SourceError, match="is being written elsewhere"):
            release(Path(f"{county}::t"), ROWS)
    finally:
        held.kill()
        held.wait()
    release(Path(f"{county}::t"), ROWS)


HOLDER = """
import duckdb, sys
with duckdb.connect(sys.argv[1]):
    print("held", flush=True)
    sys.stdin.read() or __import__("time").sleep(60)
"""

KILLED = """
import os, signal, sys
from pathlib import Path
import pyarrow as pa
from tests.data.writing.database_rows import ROWS, release
import voile.data.writing.duckdb_release as own
fill, commit = own._fill, own._commit
def die(*_): os.kill(os.getpid(), signal.SIGKILL)
def after(*given): commit(*given); die()
def half(connection, named, rows): fill(connection, named, rows); die()
if sys.argv[2] == "filled": own._fill = half
if sys.argv[2] == "before": own._commit = die
if sys.argv[2] == "after": own._commit = after
release(Path(sys.argv[1]), ROWS.slice(0, 3), force=True)
"""


@pytest.mark.whole
@pytest.mark.parametrize("when", ["filled", "before", "after"])
@pytest.mark.parametrize("old", [True, False])
def test_a_kill_leaves_the_old_table_or_the_new(county: Path, when: str, old: bool) -> None:
    place = Path(f"{county}::released")
    if old:
        release(place, ROWS)
    run = [sys.executable, "-c", KILLED, str(place), when]
    assert subprocess.run(run, check=False).returncode == -signal.SIGKILL
    before = {"main.visits": 100} | ({"main.released": 20} if old else {})
    assert tables(county) == ({**before, "main.released": 3} if when == "after" else before)
    out = release(place, ROWS.slice(0, 5), force=True)
    assert (len(told(out)), tables(county)["main.visits"]) == (5, 100)


@pytest.mark.whole
@pytest.mark.parametrize("when", ["filled", "before"])
def test_a_kill_leaves_no_new_file(tmp_path: Path, when: str) -> None:
    place = tmp_path / "new.duckdb::released"
    run = [sys.executable, "-c", KILLED, str(place), when]
    assert subprocess.run(run, check=False).returncode == -signal.SIGKILL
    assert not (tmp_path / "new.duckdb").exists()
    release(place, ROWS)
    assert tables(tmp_path / "new.duckdb") == {"main.released": 20}
