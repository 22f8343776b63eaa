"""Counts equal a naive twin's, on any engine and any number of threads."""

from __future__ import annotations

import datetime as dt
import sqlite3
import tempfile
from collections import defaultdict
from contextlib import nullcontext
from decimal import Decimal
from fractions import Fraction
from pathlib import Path

import duckdb
import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from voile.core.errors import RequestError, SourceError
from voile.data import Source, open_source, open_writer
from voile.engines.counting import _about, _check_size, count_combinations
from voile.engines.duck import connect

texts = st.none() | st.sampled_from(["", "00501", "a", "A", "é", "x,y", 'the "old"'])
numbers = st.none() | st.sampled_from([2**53, 2**53 + 1, -1, 0])
subjects = st.none() | st.integers(0, 4)
tables = st.lists(st.tuples(texts, numbers, subjects), max_size=25)
Row = tuple[str | None, int | None, int | None]


def naive(rows: list[Row], *, by_subject: bool) -> dict[tuple[object, ...], float]:
    """Count in exact fractions, one subject at a time."""
    shown: dict[object, list[tuple[object, ...]]] = defaultdict(list)
    for number, (text, n, subject) in enumerate(rows):
        person = ("row", number) if subject is None or not by_subject else subject
        if (text, n) not in shown[person]:
            shown[person].append((text, n))
    counts: dict[tuple[object, ...], Fraction] = defaultdict(Fraction)
    for cells in shown.values():
        for cell in cells:
            counts[cell] += Fraction(1, len(cells))
    return {cell: float(count) for cell, count in counts.items()}


def arrow(rows: list[Row]) -> pa.Table:
    kinds = (pa.string(), pa.int64(), pa.int64())
    columns = [pa.array([row[i] for row in rows], kind) for i, kind in enumerate(kinds)]
    return pa.table(columns, names=["a text", 'the "n"', "who"])


def sources(table: pa.Table, folder: Path) -> list[Source]:
    """Give the same table in memory and in each place that counts in its own way."""
    found = [open_source(table)]
    for end in (".parquet", ".duckdb", ".arrow", ".csv"):
        with open_writer(folder / f"t{end}", table.schema) as writer:
            for batch in table.to_batches(max_chunksize=4):
                writer.write(batch)
        found.append(open_source(folder / f"t{end}"))
    with sqlite3.connect(folder / "t.sqlite") as connection:
        connection.execute('CREATE TABLE t ("a text" TEXT COLLATE NOCASE, "the ""n""", who)')
        rows = list(zip(*table.to_pydict().values(), strict=True))
        connection.executemany("INSERT INTO t VALUES (?, ?, ?)", rows)
    connection.close()
    return [*found, open_source(folder / "t.sqlite")]


@settings(max_examples=12, deadline=None)
@given(tables, st.booleans())
def test_every_engine_equals_the_naive_twin(rows: list[Row], by_subject: bool) -> None:
    expected = naive(rows, by_subject=by_subject)
    subject = "who" if by_subject else None
    with tempfile.TemporaryDirectory() as folder:
        for source in sources(arrow(rows), Path(folder)):
            counted = count_combinations(source, ["a text", 'the "n"'], subject=subject)
            cells = list(zip(*counted.to_pydict().values(), strict=True))
            if source.kind == "csv":
                cells = [(text, None if n is None else int(n), c) for text, n, c in cells]
            assert {(text, n): pytest.approx(c) for text, n, c in cells} == expected
            assert len(cells) == len(expected)


@settings(max_examples=15, deadline=None)
@given(tables.filter(bool))
def test_rows_written_twice_change_nothing(rows: list[Row]) -> None:
    rows = [row for row in rows if row[2] is not None]
    once, twice = (
        count_combinations(open_source(arrow(r)), ["a text", 'the "n"'], subject="who")
        for r in (rows, [*rows, *reversed(rows)])
    )
    assert once.equals(twice)
    assert sum(once["count"].to_pylist()) == pytest.approx(len({row[2] for row in rows}))


def test_the_same_bytes_on_any_number_of_threads(tmp_path: Path) -> None:
    n = 200_000
    table = pa.table(
        {
            "a": pa.array([i * 7919 % 23 for i in range(n)]),
            "who": pa.array([i * 104_729 % 90_001 for i in range(n)]),
        }
    )
    pq.write_table(table, tmp_path / "t.parquet", row_group_size=10_000)
    source = open_source(tmp_path / "t.parquet")
    prints = {
        open_source(count_combinations(source, ["a"], subject="who", threads=threads)).fingerprint()
        for threads in (1, 2, 3, 8)
    }
    assert len(prints) == 1


def test_types_and_order_are_kept() -> None:
    table = pa.table(
        {
            "d": pa.array([dt.date(2024, 1, 2), None, dt.date(1900, 1, 1)]),
            "m": pa.array([Decimal("1.10"), Decimal("1.1"), None], pa.decimal128(5, 2)),
            "b": [True, None, False],
            "s": pa.array(["é", "Z", "a"]).dictionary_encode(),
            "i": pa.array([1, 2, 3], pa.int8()),
            "t": pa.array([1, 2, 3], pa.timestamp("ms")),
            "raw": [b"a", b"\xff", None],
            "stay": pa.array([dt.timedelta(days=40, hours=1), None, dt.timedelta(-1)]),
        }
    )
    source = open_source(table)
    for name, kind in source.columns.items():
        counted = count_combinations(source, [name])
        assert counted.schema == pa.schema([(name, kind), ("count", pa.float64())])
    assert count_combinations(source, ["d"])["d"].to_pylist() == [
        dt.date(1900, 1, 1), dt.date(2024, 1, 2), None,
    ]  # fmt: skip
    assert count_combinations(source, ["stay"])["stay"].to_pylist() == [
        dt.timedelta(-1), dt.timedelta(days=40, hours=1), None,
    ]  # fmt: skip
    assert count_combinations(source, ["s"])["s"].to_pylist() == ["Z", "a", "é"]
    assert count_combinations(source, ["m"])["count"].to_pylist() == [2.0, 1.0]


@pytest.mark.parametrize("more", [{}, {"weight": "n"}, {"subject": "who"}])
def test_floats_count_to_their_last_digit_and_what_is_no_number_is_null(
    tmp_path: Path, more: dict[str, str]
) -> None:
    values = [0.3, 0.1 + 0.2, 0.3, 1e300, float("nan"), None]
    table = pa.table({"x": values, "n": [1] * len(values), "who": range(len(values))})
    pq.write_table(table, tmp_path / "t.parquet")
    for source in (open_source(table), open_source(tmp_path / "t.parquet")):
        counted = count_combinations(source, ["x"], floats=["x"], **more)
        assert counted.schema == pa.schema([("x", pa.float64()), ("count", pa.float64())])
        assert counted.to_pydict() == {
            "x": [0.3, 0.1 + 0.2, 1e300, None, None],
            "count": [2, 1, 1, 1, 1],
        }


def test_no_rows_give_no_combinations() -> None:
    source = open_source(pa.table({"a": pa.array([], pa.string()), "w": pa.array([], pa.int64())}))
    assert count_combinations(source, ["a"]).num_rows == 0
    assert count_combinations(source, ["a"], weight="w").num_rows == 0
    assert count_combinations(source, ["a"], subject="w").num_rows == 0


@pytest.mark.parametrize("weights", [[3, 0, 4], ["3", " 0", "4 "], [3.0, 0.0, 4.0]])
def test_weights_are_summed(weights: list[object], tmp_path: Path) -> None:
    table = pa.table({"zip": ["00501", "x", "00501"], "people": weights})
    for source in (open_source(table), as_sqlite(table, tmp_path / "w.sqlite")):
        counted = count_combinations(source, ["zip"], weight="people").to_pydict()
        assert counted == {"zip": ["00501", "x"], "count": [7.0, 0.0]}


def test_decimals_that_are_whole_are_weights() -> None:
    weights = [Decimal("3.0"), Decimal("4.0")]
    source = open_source(pa.table({"zip": ["00501", "00501"], "people": weights}))
    counted = count_combinations(source, ["zip"], weight="people")
    assert counted["count"].to_pylist() == [7.0]


def as_sqlite(table: pa.Table, path: Path) -> Source:
    with sqlite3.connect(path) as connection:
        connection.execute(f"CREATE TABLE t ({', '.join(table.column_names)})")
        rows = list(zip(*table.to_pydict().values(), strict=True))
        connection.executemany("INSERT INTO t VALUES (?, ?)", rows)
    connection.close()
    return open_source(path)


@pytest.mark.parametrize(
    ("weights", "rows"),
    [
        ([1, None, 2], "1 row has a weight that is"),
        ([1, -1, -1], "2 rows have weights that are"),
        ([1.5, 2.0, float("nan")], "2 rows have"),
        ([float("inf"), 1.0, 2.0], "1 row has"),
        (["1", "1.5", "many"], "2 rows have"),
        (["1", "", "-3"], "2 rows have"),
    ],
)
def test_bad_weights_are_counted_and_never_shown(weights: list[object], rows: str) -> None:
    source = open_source(pa.table({"zip": ["a", "b", "c"], "people": weights}))
    with pytest.raises(RequestError, match=f"column people: {rows}") as caught:
        count_combinations(source, ["zip"], weight="people")
    assert "many" not in str(caught.value)


def test_what_cannot_be_counted_is_refused() -> None:
    source = open_source(
        pa.table({"age": [1.5, float("nan")], "n": [1, 2], "l": [[1], [2]], "count": [1, 2]})
    )
    for columns, more, message in (
        (["age"], {}, "column age: the column is a float.*use an integer, a decimal or bins"),
        (["n"], {"subject": "age"}, "column age: the column is a float"),
        (["l"], {}, "column l: the column is list"),
        (["count"], {}, "two columns have the same name"),
        (["n", "n"], {}, "two columns have the same name"),
        (["ages"], {}, "there is no column ages; did you mean age"),
        (["n"], {"weight": "l"}, "column l: the column is list"),
        (["n"], {"weight": "n", "subject": "n"}, "not by both"),
        ([], {}, "no columns to count by"),
    ):
        with pytest.raises(RequestError, match=message):
            count_combinations(source, columns, **more)


def test_floats_are_counted_to_the_last_digit_where_that_is_asked(tmp_path: Path) -> None:
    cells = [0.1, 0.1, 1e300, float("nan"), None, -0.0, 0.0, 1 / 3]
    table = pa.table({"x": cells, "y": pa.array([1.5] * 8, pa.float32())})
    for source in (open_source(table), as_sqlite(table, tmp_path / "floats.sqlite")):
        counted = count_combinations(source, ["x", "y"], floats=["x", "y"])
        found: dict[object, float] = defaultdict(float)
        for row in counted.to_pylist():
            found[row["x"]] += row["count"]
        assert found == {0.1: 2, 1e300: 1, None: 2, 0.0: 2, 1 / 3: 1}
        with pytest.raises(RequestError, match="column y: the column is a float"):
            count_combinations(source, ["x", "y"], floats=["x"])


@pytest.mark.whole
def test_an_answer_beyond_memory_is_refused_with_its_size(tmp_path: Path) -> None:
    n = 2_600_000
    path = tmp_path / "t.parquet"
    pq.write_table(pa.table({"id": pa.array(range(n))}), path)
    with pytest.raises(
        RequestError, match=r"about 3 million combinations, 0.0 GB, do not fit in 0.0 GB"
    ):
        count_combinations(open_source(path), ["id"], memory=80_000_000)
    enough = {"memory": 110_000_000, "threads": 1}  # a third of it would be too little
    assert count_combinations(open_source(path), ["id"], **enough).num_rows == n


@pytest.mark.parametrize(("limit", "fits"), [(3 * (8 + 8 + 4) + 5, True), (3 * 20 + 4, False)])
def test_an_answer_takes_a_count_its_values_and_their_letters(limit: int, fits: bool) -> None:
    source = open_source(pa.table({"n": [1, 2, 3], "text": ["ab", "cde", None]}))
    with connect() as connection, nullcontext() if fits else pytest.raises(RequestError):
        connection.execute("CREATE TABLE counted AS VALUES (1, 'ab'), (2, 'cde'), (3, NULL)")
        connection.execute("ALTER TABLE counted RENAME col1 TO k1")
        _check_size(connection, source, ["n", "text"], limit)


@pytest.mark.parametrize(("rows", "said"), [(1_999_999, "1,999,999"), (2_000_000, "2 million")])
def test_how_many_is_said_in_millions_from_two_on(rows: int, said: str) -> None:
    assert _about(rows) == said


def test_a_day_that_no_release_can_show_is_refused(tmp_path: Path) -> None:
    with duckdb.connect(tmp_path / "t.duckdb") as connection:
        connection.execute("CREATE TABLE t AS SELECT DATE 'infinity' AS born, 1 AS n")
    with pytest.raises(
        SourceError, match="column born: the column contains a date outside the years"
    ):
        count_combinations(open_source(tmp_path / "t.duckdb"), ["born"])


def test_nothing_is_left_and_the_folder_is_used(tmp_path: Path) -> None:
    source = open_source(pa.table({"id": range(1000)}))
    count_combinations(source, ["id"], directory=tmp_path)
    assert list(tmp_path.iterdir()) == []


def test_a_damaged_source_says_so_in_its_own_words(tmp_path: Path) -> None:
    path = tmp_path / "t.csv"
    path.write_text("a,b\n1,2\n1,2,3\n")
    with pytest.raises(
        SourceError, match=r"^t\.csv: row 3 has 3 fields, but the header has 2; correct the row$"
    ):
        count_combinations(open_source(path), ["a"])


def test_files_of_a_pattern_are_counted_as_one(tmp_path: Path) -> None:
    for i in range(3):
        pq.write_table(pa.table({"a": [1, i]}), tmp_path / f"p{i}.parquet")
        (tmp_path / f"c{i}.csv").write_text(f"a\n1\n{i}\n")
    for pattern in ("p*", "c*"):
        counted = count_combinations(open_source(str(tmp_path / pattern)), ["a"])
        assert counted["count"].to_pylist() == [1.0, 4.0, 1.0]


def test_no_progress_is_written_to_standard_output():
    with connect() as connection:
        shown = connection.execute("SELECT current_setting('enable_progress_bar')").fetchone()
    assert shown == (False,)
