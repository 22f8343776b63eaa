"""The whole flow from a database and into it, beside the same flow from Parquet."""

from __future__ import annotations

import json
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pyarrow.csv
import pyarrow.parquet as pq
import pytest

from voile.cli.run import run
from voile.demo.county import ROLES, make_county, write_county
from voile.release.choice import Chosen
from voile.release.kit import StoredKit

TABLES = """
CREATE SCHEMA care;
CREATE TABLE care.patients (
    visit_id text, person_id varchar(20), given_name text, family_name text, birth_date date,
    age smallint, sex char(2), race text, zip char(9), insurance text, visit_date date,
    ward text, diagnosis text, length_of_stay integer);
CREATE TABLE care.population (age bigint, sex text, race text, zip text, people numeric);
CREATE TABLE care.register (
    person_id text, given_name text, family_name text, birth_date date, age int, sex text,
    race text, zip text, insurance text);
"""
SECRET = "hunter2"


@dataclass(frozen=True)
class Way:
    """One way to the same people: its sources, and a folder for what is made of them."""

    folder: Path
    patients: str
    population: str
    register: str

    def fit(self) -> list[object]:
        given = ["--roles", self.folder.parent / "roles.toml", "--population", self.population]
        how = ["--seed", "5", "--hold-out", "0.1", "--k", "2", "--suppress", "0.1", "--quiet"]
        how += ["--method", "steepest", "--evaluations", "3000"]
        return ["tables", "fit", self.patients, *given, *how, "--out", self.folder / "kit"]

    def choose(self) -> list[object]:
        out = ["--knee", "--out", self.folder / "policy.toml", "--quiet"]
        return ["tables", "choose", self.folder / "kit", *out]

    def apply(self, out: object, *more: str) -> list[object]:
        given = [self.patients, "--policy", self.folder / "policy.toml", "--quiet"]
        given.append("--no-pseudonyms")
        return ["tables", "apply", self.folder / "kit", *given, "--out", out, *more]

    def attack(self, release: Path) -> list[object]:
        known = ["--original", self.patients, "--register", self.register, "--seed", "3"]
        known += ["--population", self.population]
        return ["tables", "attack", release, *known, "--json", "--quiet"]


@pytest.fixture(scope="module")
def ways(server: Any, tmp_path_factory: pytest.TempPathFactory) -> tuple[Way, Way]:
    """Return a county as Parquet and in PostgreSQL, each with a kit and a policy."""
    folder = tmp_path_factory.mktemp("flow")
    write_county(make_county(people=3000), folder / "county")
    (folder / "roles.toml").write_text(ROLES)
    server.sql(TABLES)
    names = {"patients": "patients", "population": "population", "register": "register-adversary"}
    for table, name in names.items():
        path = folder / "county" / f"{name}.csv"
        if path.exists():
            pq.write_table(
                pyarrow.csv.read_csv(path, convert_options=AS_TEXT), path.with_suffix(".parquet")
            )
        else:
            pyarrow.csv.write_csv(pq.read_table(path.with_suffix(".parquet")), path)
        server.sql(f"\\copy care.{table} FROM '{path}' (FORMAT csv, HEADER)")
    files = [str(folder / "county" / f"{name}.parquet") for name in names.values()]
    tables = [server.address(f"care.{table}") for table in names]
    ways = Way(folder / "files", *files), Way(folder / "database", *tables)
    for way in ways:
        way.folder.mkdir()
        for command in (
            way.fit(),
            way.choose(),
            way.apply(way.folder / "release.csv", "--keep-order"),
        ):
            assert run([str(word) for word in command]) == 0
    return ways


AS_TEXT = pyarrow.csv.ConvertOptions(
    column_types={
        "zip": "string",
        "age": "int32",
        "length_of_stay": "int64",
        "birth_date": "date32",
    }
)


def figures(release: Path) -> dict[str, Any]:
    private = release.with_name(f"{release.name}.private") / "manifest.json"
    known = json.loads(private.read_text())
    return {name: known[name] for name in ("figures", "counts", "chosen", "story")}


def test_the_same_people_have_the_same_frontier(ways: tuple[Way, Way]) -> None:
    files, database = (StoredKit.load(way.folder / "kit") for way in ways)
    assert database.id == files.id  # every policy, figure and count
    policies = [Chosen.read(way.folder / "policy.toml") for way in ways]
    assert policies[0] == policies[1]


def test_the_same_people_have_the_same_release(ways: tuple[Way, Way]) -> None:
    files, database = (way.folder / "release.csv" for way in ways)
    assert database.read_bytes() == files.read_bytes()
    assert figures(database) == figures(files)


def test_the_same_release_is_found_out_alike(voile: Any, ways: tuple[Way, Way]) -> None:
    found = []
    for way in ways:
        ran = voile(*way.attack(way.folder / "release.csv"))
        assert ran.code == 0
        found.append(json.loads(ran.out)["evidence"])
        assert voile("verify", way.folder / "release.csv").code == 0
    assert found[0] == found[1]


def test_a_release_is_a_table(
    voile: Any, server: Any, ways: tuple[Way, Way], monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    monkeypatch.chdir(tmp_path)
    server.sql("CREATE SCHEMA research")
    files, database = ways
    address = server.address("research.visits")
    ran = voile(*database.apply(address, "--keep-order"))
    assert (ran.code, ran.err) == (0, "")
    release = tmp_path / "research.visits.postgresql"
    assert figures(release) == figures(files.folder / "release.csv")
    rows = server.sql("COPY research.visits TO stdout (FORMAT csv, HEADER)")
    assert rows == (files.folder / "release.csv").read_text().strip()
    assert voile("verify", release).code == 0
    in_file = json.loads(voile(*files.attack(files.folder / "release.csv"), "--force").out)
    in_table = json.loads(voile(*database.attack(release)).out)
    assert in_table["evidence"] == in_file["evidence"]
    page = tmp_path / "report.html"
    assert voile("report", release, "--out", page).code == 0

    ran = voile(*database.apply(address))
    assert ran.code == 2
    assert "the output exists already; replace it with --force" in ran.err
    other = database.apply(f"{tmp_path / 'other.postgresql'}::{address}")  # the file is free
    assert "visits: the output exists already" in voile(*other).err
    assert voile(*database.apply(address, "--force")).code == 0
    assert voile("verify", release).code == 0
    server.sql("DELETE FROM research.visits WHERE age = (SELECT min(age) FROM research.visits)")
    ran = voile("verify", release)
    assert ran.code == 1
    assert "FAILED      the bytes are those that the manifest names" in ran.out


ROLES_OF_USERS = """
CREATE ROLE guarded LOGIN PASSWORD 'right'; CREATE ROLE locked LOGIN; CREATE ROLE narrow LOGIN;
CREATE ROLE halved LOGIN;
GRANT USAGE ON SCHEMA care TO narrow, halved, guarded;
GRANT SELECT (age, sex) ON care.patients TO narrow; GRANT SELECT ON care.patients TO guarded;
CREATE TABLE care.own AS SELECT * FROM care.patients; GRANT SELECT ON care.own TO halved;
ALTER TABLE care.own ENABLE ROW LEVEL SECURITY;
CREATE POLICY half ON care.own FOR SELECT USING (sex = 'F');
"""


@pytest.fixture(scope="module")
def users(server: Any, ways: tuple[Way, Way]) -> Any:
    drop = "; ".join(
        f"DROP ROLE IF EXISTS {role}" for role in ("guarded", "locked", "narrow", "halved")
    )
    server.sql(drop)
    server.sql(ROLES_OF_USERS)
    yield server
    server.sql("DROP TABLE care.own; REVOKE ALL ON SCHEMA care FROM narrow, halved, guarded;")
    server.sql("REVOKE ALL ON care.patients FROM narrow, guarded;" + drop)


@pytest.mark.parametrize(
    ("table", "user", "database", "message"),
    [
        (
            "care.patient",
            "steward",
            "",
            "the database has no table care.patient; did you mean care.patients",
        ),
        ("care.patients", "steward", "nowhere", "nowhere: the server has no such database"),
        ("care.patients", "nobody here", "", "the server has no such user"),
        ("care.patients", "locked", "", "the server does not let this user in from here"),
        ("care.patients", "guarded", "", "the server wants another password; use PGPASSWORD"),
        ("care.population", "narrow", "", "this role may not"),
        ("care.own", "halved", "", "row-level security hides some rows"),
    ],
)
def test_what_the_server_refuses(
    voile: Any, users: Any, monkeypatch: pytest.MonkeyPatch,
    table: str, user: str, database: str, message: str,
) -> None:  # fmt: skip
    monkeypatch.setenv("PGPASSWORD", SECRET)
    ran = voile("inspect", users.address(table, user=user.replace(" ", "%20"), database=database))
    assert (ran.code, ran.out) == (2, "")
    assert message in ran.err
    assert ran.err.count("\n") == 1
    assert SECRET not in ran.err


@pytest.mark.parametrize(
    ("address", "message"),
    [
        ("postgresql:///db?host=/nowhere::t", "db: the database cannot be reached"),
        ("postgresql://localhost:1/db::t", "db: the database cannot be reached"),
        ("postgresql://nowhere.invalid/db::t", "db: there is no such host"),
        ("service=nowhere::t", "nowhere: there is no such service; see ~/.pg_service.conf"),
        ("postgresql:///db?colour=red::t", "db: the address cannot be read"),
    ],
)
def test_a_database_that_is_not_there(
    voile: Any, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, address: str, message: str
) -> None:
    monkeypatch.setenv("PGSERVICEFILE", str(tmp_path / "none.conf"))
    ran = voile("inspect", address)
    assert (ran.code, ran.err.count("\n")) == (2, 1)
    assert message in ran.err


def test_a_role_that_may_read_some_columns_reads_those(users: Any) -> None:
    from voile import open_source

    source = open_source(users.address("care.patients", user="narrow"))
    assert list(source.columns) == ["age", "sex"]
    assert sum(batch.num_rows for batch in source.batches()) > 0


def test_passwords_come_from_where_libpq_looks(
    voile: Any, users: Any, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    where = users.address("care.patients", user="guarded")
    monkeypatch.setenv("PGPASSWORD", "right")
    assert voile("inspect", where).code == 0
    monkeypatch.delenv("PGPASSWORD")
    assert voile("inspect", where).code == 2
    passwords = tmp_path / "passwords"
    passwords.write_text("*:*:*:guarded:right\n")
    passwords.chmod(0o600)
    monkeypatch.setenv("PGPASSFILE", str(passwords))
    assert voile("inspect", where).code == 0
    services = tmp_path / "services.conf"
    services.write_text(
        f"[the county]\nhost={users.folder}\ndbname={users.database}\nuser=guarded\n"
    )
    monkeypatch.setenv("PGSERVICEFILE", str(services))
    assert voile("inspect", "service=the county::care.patients").code == 0
    assert voile("inspect", "service=the county", "--table", "care.patients").code == 0


def test_a_password_in_an_argument_is_refused_and_not_said(
    voile: Any, ways: tuple[Way, Way], tmp_path: Path
) -> None:
    bad = f"postgresql://steward:{SECRET}@localhost/db::t"
    fit, apply = ways[0].fit(), ways[0].apply(bad)
    attack = ways[0].attack(ways[0].folder / "release.csv")
    for command in (
        ["inspect", bad],
        [*fit[:2], bad, *fit[3:-1], tmp_path / "kit"],
        [bad if word == ways[0].population else word for word in fit[:-1]] + [tmp_path / "kit"],
        apply,
        ways[0].apply(f"{tmp_path / 'a.postgresql'}::{bad}"),
        [bad if word == ways[0].register else word for word in attack] + ["--force"],
        [bad if word == ways[0].patients else word for word in attack] + ["--force"],
    ):
        ran = voile(*command)
        assert ran.code == 2
        assert "the address contains a password, which other programs could read" in ran.err
        assert SECRET not in ran.err + ran.out


def test_no_file_that_is_written_says_who_connects(ways: tuple[Way, Way]) -> None:
    for path in ways[1].folder.rglob("*"):
        if path.is_file():
            assert b"user=" not in path.read_bytes()
            assert b"voile-postgres" not in path.read_bytes()
