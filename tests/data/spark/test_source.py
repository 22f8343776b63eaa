"""Tables of Spark give the counts and the rows that the same table gives here."""

from __future__ import annotations

import datetime as dt
from collections import Counter
from decimal import Decimal
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
import pytest

import voile.tables
from voile.core.errors import RequestError
from voile.data import Source, open_source
from voile.data.spark.session import STANDARD
from voile.engines.counting import count_combinations

pytestmark = pytest.mark.spark

ROWS, SUBJECT, WEIGHT = 4_000, 'who\'s "it"', "people"


def visits() -> pa.Table:
    """Draw rows of every kind of key, nulls and names to be quoted among them."""
    rng = np.random.default_rng(1)

    def drawn(values: list[Any], kind: pa.DataType) -> pa.Array:
        return pa.array([values[i] for i in rng.integers(0, len(values), ROWS)], kind)

    return pa.table(
        {
            SUBJECT: drawn([None, *(f"p{i}" for i in range(900))], pa.string()),
            "age in `years`": drawn([None, -1, 0, 2**53 + 1], pa.int64()),
            "Zip": drawn([None, "", "00501", "501", "é", "e\u0301"], pa.string()),
            "born": drawn([None, dt.date(1, 1, 1), dt.date(9999, 12, 31)], pa.date32()),
            "dose": drawn([None, Decimal("0.10"), Decimal("0.20")], pa.decimal128(9, 2)),
            "alive": drawn([None, True, False], pa.bool_()),
            WEIGHT: drawn([0, 1, 2**40], pa.int64()),
        }
    )


KEYS = ["Zip", "age in `years`", "born", "dose", "alive"]


@pytest.fixture(scope="module")
def table() -> pa.Table:
    return visits()


@pytest.fixture(scope="module")
def source(any_session: Any, table: pa.Table, tmp_path_factory: pytest.TempPathFactory) -> Source:
    folder = tmp_path_factory.mktemp("visits")
    for part in range(3):
        pq.write_table(table.take(np.arange(part, ROWS, 3)), folder / f"{part}.parquet")
    any_session.read.parquet(str(folder)).createOrReplaceTempView("visits")
    return open_source("spark:visits")


@pytest.mark.parametrize("by", [{}, {"subject": SUBJECT}, {"weight": WEIGHT}], ids=str)
def test_counts_are_bit_equal(source: Source, table: pa.Table, by: dict[str, str]) -> None:
    here = count_combinations(open_source(table), KEYS, **by)
    assert count_combinations(source, KEYS, **by).equals(here)


def test_rows_are_the_same_each_time_and_hash_alike(source: Source, table: pa.Table) -> None:
    rows = source.read()
    assert rows.schema == open_source(table).read().schema
    assert counted(rows) == counted(table)
    assert source.read().equals(rows)
    assert source.fingerprint() == source.fingerprint()
    small = [batch.num_rows for batch in source.batches(["Zip"], batch_rows=100)]
    assert max(small) <= 100
    assert sum(small) == ROWS


def counted(rows: pa.Table) -> Counter[str]:
    return Counter(map(repr, rows.to_pylist()))


def test_settings_are_put_back(any_session: Any, source: Source) -> None:
    wrong = dict.fromkeys(STANDARD, "false")
    for name, value in wrong.items():
        any_session.conf.set(name, value)
    assert count_combinations(source, ["Zip"]).num_rows == 6
    assert {name: any_session.conf.get(name) for name in wrong} == wrong
    for name in wrong:
        any_session.conf.unset(name)
    assert not [t for t in any_session.catalog.listTables() if t.name.startswith("voile")]


def test_a_release_of_a_data_frame_has_its_rows(any_session: Any, table: pa.Table) -> None:
    frame = any_session.createDataFrame(table.select(["Zip", "alive", "people"]))
    roles = {"Zip": "quasi", "alive": "quasi", "people": "drop"}
    kit = voile.tables.fit(frame, roles=roles, k=5, seed=1)
    here = voile.tables.fit(table.select(["Zip", "alive", "people"]), roles=roles, k=5, seed=1)
    policy = kit.choose(policy=1)
    assert kit.frontier.to_arrow().equals(here.frontier.to_arrow())
    release = kit.apply(policy, frame)
    assert release.frame.count() == ROWS


@pytest.mark.parametrize("name", ["a.b", 'say "hi"', "tick`"])
def test_names_are_quoted(any_session: Any, name: str) -> None:
    source = open_source(
        any_session.createDataFrame([(1,), (1,)], f"`{name.replace('`', '``')}` int")
    )
    assert count_combinations(source, [name]).to_pydict() == {name: [1], "count": [2.0]}
    assert source.read().to_pydict() == {name: [1, 1]}


def test_a_struct_is_refused_where_it_is_read(any_session: Any) -> None:
    source = open_source(
        any_session.sql("SELECT 1 AS n, named_struct('a', 1) AS s, map(1, 2) AS m")
    )
    assert source.read(["n"]).to_pydict() == {"n": [1]}
    for name, kind in (("s", "struct"), ("m", "map")):
        with pytest.raises(RequestError, match=f"column {name}: the column is a {kind}, "):
            source.read([name])


def test_intervals_of_days_are_durations_and_those_of_years_are_refused(any_session: Any) -> None:
    source = open_source(any_session.sql("SELECT INTERVAL '36' HOUR AS stay"))
    counted = count_combinations(source, ["stay"]).to_pydict()
    assert counted == {"stay": [dt.timedelta(days=1.5)], "count": [1.0]}
    for made in ("INTERVAL '2' YEAR", "make_interval(2)"):
        with pytest.raises(RequestError, match=", which voile cannot read from Spark"):
            open_source(any_session.sql(f"SELECT 1 AS n, {made} AS since"))


@pytest.mark.parametrize("name", ["nowhere", "no.such.table"])
def test_an_absent_table_is_said(any_session: Any, name: str) -> None:
    with pytest.raises(RequestError, match="Spark has no table with this name"):
        open_source(f"spark:{name}")


def test_a_file_that_goes_is_noticed(any_session: Any, tmp_path: Path) -> None:
    for part in range(2):
        pq.write_table(pa.table({"n": [part]}), tmp_path / f"{part}.parquet")
    source = open_source(any_session.read.parquet(str(tmp_path)))
    assert source.read()["n"].to_pylist() == [0, 1]
    (tmp_path / "1.parquet").unlink()
    with pytest.raises(RequestError, match=r"Spark cannot read the table|changed while"):
        source.read()
