"""Addresses are read without a server, and hold no password."""

from __future__ import annotations

from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from voile.core.errors import RequestError
from voile.data import open_source
from voile.data.opening import split_table
from voile.data.postgres.address import DatabaseAddress
from voile.release.manifest import StoredRelease


@pytest.mark.parametrize(
    ("written", "url", "table"),
    [
        ("postgresql://h/db::t", "postgresql://h/db", "t"),
        ("postgres://u@h:5432/db::a.t", "postgresql://u@h:5432/db", "a.t"),
        ("postgresql:///db::t", "postgresql:///db", "t"),
        ("postgresql://u@[::1]:5432/db::t]", "postgresql://u@[::1]:5432/db", "t]"),
        ("postgresql://[::1]/db", "postgresql://[::1]/db", None),
        ("postgresql:///db?host=/run/x::t", "postgresql:///db?host=/run/x", "t"),
        ("postgresql://h/?dbname=db", "postgresql://h/?dbname=db", None),
        ("postgresql://u@a:1,b:2/db::t", "postgresql://u@a:1,b:2/db", "t"),
        ("postgresql+psycopg2://u@h/db::t", "postgresql://u@h/db", "t"),
        ("jdbc:postgresql://h/db", "postgresql://h/db", None),
        ("service=the county::t", "postgresql:///?service=the%20county", "t"),
    ],
)
def test_what_is_written_is_what_is_meant(written: str, url: str, table: str | None) -> None:
    assert DatabaseAddress.parse(written) == DatabaseAddress(url, table)
    assert DatabaseAddress.parse(Path(written)) == DatabaseAddress(
        url, table
    )  # a Path drops a slash


@pytest.mark.parametrize("name", ["visits.csv", "a.duckdb::t", "service.csv", "postgresql.csv"])
def test_a_file_is_no_address(name: str) -> None:
    assert DatabaseAddress.parse(name) is None


@pytest.mark.parametrize(
    "end",
    [
        "u:{}@h/db::t", "u:{}@h", "u:{}@[::1]/db", ":{}@h/db", "u:a/{}@h/db", "u:{}::x@h/db",
        "h/db?password={}", "h/db?user=u&password={}::t", "h/db?p%61ssword={}",
        "h/db?sslpassword={}",
    ],
)  # fmt: skip
def test_a_password_is_refused_and_not_said(end: str) -> None:
    written = f"postgresql://{end.format('hunter2')}"
    for given_as in (written, Path(written)):
        for read in (DatabaseAddress.parse, open_source, split_table):
            with pytest.raises(RequestError, match="PGPASSWORD") as caught:
                read(given_as)
            assert "hunter2" not in str(caught.value)


@pytest.mark.parametrize(
    "written",
    [
        "service=clinic password=hunter2::t",
        "service=clinic?password=hunter2",
        "host=h password = hunter2 dbname=db",
        "jdbc:postgresql://h/db?user=u&password=hunter2",
        "postgresql+psycopg2://u:hunter2@h/db::t",
    ],
)
def test_a_password_is_refused_in_other_programs_addresses(written: str) -> None:
    for read in (DatabaseAddress.parse, open_source, split_table):
        with pytest.raises(RequestError, match="PGPASSWORD") as caught:
            read(written)
        assert "hunter2" not in str(caught.value)


@given(st.text(st.sampled_from("ab:@/?%[]."), max_size=12))
def test_whatever_stands_between_colon_and_at_is_refused(noise: str) -> None:
    with pytest.raises(RequestError, match="PGPASSWORD"):
        DatabaseAddress.parse(f"postgresql://u:{noise.replace('?', '')}@h/db::t")


@pytest.mark.parametrize("written", ["postgresql://h", "postgresql://h::t", "postgresql://a/b/c"])
def test_an_address_names_its_database(written: str) -> None:
    with pytest.raises(RequestError, match="lacks the name of a database"):
        DatabaseAddress.parse(written)


def test_messages_name_neither_host_nor_user() -> None:
    address = DatabaseAddress.parse(
        "postgresql://ann@db.example:5432/county?sslmode=require::care.visits"
    )
    assert address is not None
    assert address.name == "county::care.visits"
    assert address.file == "care.visits.postgresql"
    assert str(split_table("service=county::a/b")[0]) == "a_b.postgresql"
    assert str(split_table("service=county")[0]) == "county.postgresql"


def test_a_release_in_a_table_is_opened_by_its_file_and_a_password_is_never_echoed() -> None:
    with pytest.raises(RequestError, match=r"open care\.visits\.postgresql"):
        StoredRelease.open(Path("postgresql://h/d::care.visits"))
    with pytest.raises(RequestError) as caught:
        StoredRelease.open(Path("postgresql://u:hunter2@h/d::visits"))
    assert "hunter2" not in str(caught.value)
