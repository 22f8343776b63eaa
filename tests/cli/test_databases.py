"""Releases in a table of a DuckDB file, beside their source, by every verb."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import duckdb
import pytest


@pytest.fixture
def county(files: Any, tmp_path: Path) -> Path:
    """Return a database with the patients, and a table of somebody's."""
    path = tmp_path / "a county.duckdb"
    with duckdb.connect(str(path)) as connection:
        connection.execute(f"CREATE TABLE visits AS FROM read_csv('{files.patients}')")
        connection.execute("CREATE TABLE wards AS SELECT range AS n FROM range(7)")
    return path


def apply(files: Any, source: object, out: object) -> list[object]:
    given = ["--policy", files.policy, "--no-pseudonyms", "--allow-set-aside"]
    return ["tables", "apply", files.kit, source, *given, "--out", out]


def rows(county: Path, table: str) -> int:
    with duckdb.connect(str(county), read_only=True) as connection:
        return int(connection.execute(f"SELECT count(*) FROM {table}").fetchall()[0][0])


def test_a_release_lies_beside_its_source(voile: Any, files: Any, county: Path) -> None:
    source, out = f"{county}::visits", f"{county}::clean.visits"
    ran = voile(*apply(files, source, out), "--json")
    assert ran.code == 0, ran.err
    file = county.with_name(f"{county.name}.clean.visits.table")
    assert ran.json["release"] == str(file)
    assert rows(county, '"a county".clean.visits') == ran.json["counts"]["released"]
    for place in (out, file):
        assert voile("verify", place).code == 0
    known = ["--original", source, "--register", files.register]
    assert voile("tables", "attack", out, *known, "--quiet").code == 0
    assert voile("report", out, "--out", county.with_name("page.html")).code == 0
    with duckdb.connect(str(county)) as connection:
        connection.execute("DELETE FROM wards")
    assert voile("verify", out).code == 0
    again = voile(*apply(files, source, out))
    assert (again.code, again.err.split(": ")[-1]) == (
        2,
        "the output exists already; replace it with --force\n",
    )
    assert voile(*apply(files, source, out), "--force").code == 0
    assert (rows(county, "wards"), voile("verify", out).code) == (0, 0)
    with duckdb.connect(str(county)) as connection:
        connection.execute('DELETE FROM "a county".clean.visits WHERE age IS NOT NULL')
    ran = voile("verify", out)
    assert (ran.code, "FAILED" in ran.out) == (1, True)
    assert "differ from the released rows" in voile("report", out, "--out", county.parent / "p").err


@pytest.mark.parametrize(
    ("source", "out", "said"),
    [
        (
            "{}::visits",
            "{}::visits",
            "the command reads this file as its input; write to another path",
        ),
        (
            "{}::visits",
            "{}::VISITS",
            "the command reads this file as its input; write to another path",
        ),
        (
            "{}::visits",
            "{}::MAIN.visits",
            "the command reads this file as its input; write to another path",
        ),
        (
            "{}::visits",
            "{}::main.visits",
            "the command reads this file as its input; write to another path",
        ),
        (
            "{}",
            "{}::clean",
            "this command reads a table of the output's database; name the output's table: ",
        ),
        ("{}::visits", "{}", "the command reads this file as its input; write to another path"),
        (
            "{}::visits",
            "{}::wards",
            "is not a table that voile wrote; choose another name, or remove",
        ),
        ("{}::visits", "{}::a/b", "the name of a released table contains a slash"),
        (
            "{}::visits",
            "x.table::{}::clean",
            "a release of a database has its own file name, FILE.duckdb.TABLE; "
            "write FILE.duckdb::TABLE",
        ),
    ],
)
def test_no_table_of_others_is_replaced(
    voile: Any, files: Any, county: Path, source: str, out: str, said: str
) -> None:
    before = county.read_bytes()
    ran = voile(*apply(files, source.format(county), out.format(county)), "--force", "--quiet")
    assert (ran.code, said in ran.err, len(ran.err.splitlines())) == (2, True, 1), ran.err
    assert county.read_bytes() == before
    assert [path.name for path in county.parent.iterdir()] == [county.name]


def test_the_table_asked_for_beside_is_an_input_too(voile: Any, files: Any, county: Path) -> None:
    words = [*apply(files, county, f"{county}::visits"), "--table", "visits", "--force"]
    assert "the command reads this file" in voile(*words).err
    words = [*apply(files, county, f"{county}::clean"), "--table", "visits", "--quiet"]
    assert voile(*words).code == 0


def test_sqlite_is_read_and_not_written(voile: Any, files: Any, tmp_path: Path) -> None:
    for out in ("r.sqlite", "r.sqlite::t", "r.xlsx"):
        ran = voile(*apply(files, files.patients, tmp_path / out), "--quiet")
        assert (ran.code, len(ran.err.splitlines())) == (2, 1)
        assert not list(tmp_path.iterdir())
