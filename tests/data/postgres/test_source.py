"""Tables of a real PostgreSQL, read, counted and compared with what Python makes of the same."""

from __future__ import annotations

import gc
import subprocess
import sys
from collections import Counter
from datetime import UTC, date, datetime, time
from decimal import Decimal
from typing import Any

import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from hypothesis import Phase, given, settings
from hypothesis import strategies as st

from voile.core.errors import SourceError
from voile.data import Source, open_source
from voile.engines.counting import count_combinations

KINDS = """
CREATE EXTENSION IF NOT EXISTS citext;
CREATE TYPE mood AS ENUM ('sad', 'glad');
CREATE DOMAIN zip AS char(7);
CREATE DOMAIN home AS zip CHECK (VALUE <> 'x');
CREATE TABLE kinds (
    flag bool, small int2, middle int4, large int8, single real, double float8, bytes bytea,
    clock time, day date, moment timestamp, instant timestamptz, word text, short varchar(9),
    padded char(5), nocase citext, mood mood, home home, id uuid, span interval, net inet,
    price numeric(10, 2), amount numeric, huge numeric(30), wide numeric, odd numeric(5, 1),
    late date, early timestamp, tags int[], note jsonb, pay money);
INSERT INTO kinds VALUES (
    true, -32768, -2147483648, 9007199254740993, 0.5, 0.1, '\\x00ff', '12:30:00.5',
    '2024-02-29', '2024-02-29 01:02:03.000004', '2024-02-29 01:00+02', 'é', ' a ', 'ab', 'Ab',
    'glad', '00501', 'a0eebc99-9c0b-4ef8-bb6d-6bb9bd380a11', '1 day 02:00', '10.0.0.1',
    7.50, 3, 18446744073709551616, 0.1, 'NaN',
    'infinity', '0044-03-15 BC', '{1}', '{}', 5),
    ('f', 1, 1, 1, 1, 1, '', '00:00', '0001-01-01', '9999-12-31 23:59:59.999999',
    'epoch', '', '', '', '', 'sad', '', NULL, '0', '::1', 0, 1.50, -1, 1e37, 1, '2024-01-01',
    '2024-01-01', NULL, NULL, NULL);
INSERT INTO kinds DEFAULT VALUES;
"""

FIRST = {
    "flag": True,
    "small": -32768,
    "middle": -2147483648,
    "large": 9007199254740993,
    "single": 0.5,
    "double": 0.1,
    "bytes": b"\x00\xff",
    "clock": time(12, 30, 0, 500000),
    "day": date(2024, 2, 29),
    "moment": datetime(2024, 2, 29, 1, 2, 3, 4),
    "instant": datetime(2024, 2, 28, 23, tzinfo=UTC),
    "word": "é",
    "short": " a ",
    "padded": "ab",
    "nocase": "Ab",
    "mood": "glad",
    "home": "00501",
    "id": "a0eebc99-9c0b-4ef8-bb6d-6bb9bd380a11",
    "span": "1 day 02:00:00",
    "net": "10.0.0.1/32",
    "price": Decimal("7.50"),
    "amount": Decimal("3.0"),
    "huge": Decimal(18446744073709551616),
    "wide": "0.1",
    "odd": "NaN",
    "late": "infinity",
    "early": "0044-03-15 00:00:00 BC",
}


def told(source: Source, columns: list[str] | None = None) -> list[dict[str, Any]]:
    return [row for batch in source.batches(columns) for row in batch.to_pylist()]


def counted(source: Source, columns: list[str], **how: str) -> Counter[tuple[Any, ...]]:
    table = count_combinations(source, columns, **how)
    return Counter({tuple(row.values())[:-1]: row["count"] for row in table.to_pylist()})


@pytest.fixture(scope="module")
def kinds(server: Any) -> Source:
    server.sql(KINDS)
    return open_source(server.address("kinds"))


def test_every_kind_is_read_as_it_is(kinds: Source) -> None:
    first, last, nothing = told(kinds)
    assert first == FIRST
    assert set(nothing.values()) == {None}
    assert (last["wide"], last["huge"], last["amount"]) == ("1" + "0" * 37, -1, Decimal("1.5"))
    assert last["moment"] == datetime(9999, 12, 31, 23, 59, 59, 999999)
    assert (last["padded"], last["home"], last["word"]) == ("", "", "")
    assert kinds.columns["price"] == pa.decimal128(10, 2)
    assert kinds.columns["huge"] == pa.decimal128(30, 0)
    assert kinds.columns["instant"] == pa.timestamp("us", "UTC")


def test_what_a_type_cannot_hold_is_said(kinds: Source) -> None:
    notes = "; ".join(kinds.notes)
    for name in ("wide", "odd", "late", "early"):
        assert f"column {name} is " in notes
    for left_out in ("tags (integer[])", "note (jsonb)", "pay (money)"):
        assert left_out in notes


@pytest.mark.parametrize(("name", "shown"), [("tags", r"integer\[\]"), ("note", "jsonb")])
def test_a_type_that_is_not_read_is_refused_by_name(kinds: Source, name: str, shown: str) -> None:
    assert name not in kinds.columns
    with pytest.raises(ValueError, match=f"column {name}: the column has the type {shown}, "):
        kinds.schema([name])
    with pytest.raises(ValueError, match=f"column {name}: the column has the type {shown}, "):
        count_combinations(kinds, [name])


def test_every_kind_that_can_be_counted_counts_as_it_streams(kinds: Source) -> None:
    names = [name for name, kind in kinds.columns.items() if not pa.types.is_floating(kind)]
    assert counted(kinds, names) == Counter(tuple(row.values()) for row in told(kinds, names))


words = st.text(st.sampled_from("aAáÁ bßẞ"), max_size=3)


@pytest.mark.parametrize("kind", ["text COLLATE nocase", "citext", "char(4)", "text"])
def test_what_differs_here_differs_there(server: Any, kind: str) -> None:
    server.sql(
        "CREATE EXTENSION IF NOT EXISTS citext; CREATE COLLATION IF NOT EXISTS nocase"
        " (provider = icu, locale = 'und-u-ks-level1', deterministic = false)"
    )

    @settings(max_examples=3, phases=[Phase.generate])
    @given(st.lists(st.tuples(words, st.none() | words), min_size=20, max_size=60))
    def check(rows: list[tuple[str, str | None]]) -> None:
        cells = ", ".join(
            f"('{who}', {'NULL' if word is None else repr(word)})" for who, word in rows
        )
        server.sql(
            f"DROP TABLE IF EXISTS w; CREATE TABLE w (who {kind}, word {kind});"
            f" INSERT INTO w VALUES {cells}"
        )
        if kind.startswith("char"):  # its padding is not part of a value, by PostgreSQL's own cast
            rows = [(a.rstrip(" "), b if b is None else b.rstrip(" ")) for a, b in rows]
        source = open_source(server.address("w"))
        assert [tuple(row.values()) for row in told(source)] == rows
        assert counted(source, ["who", "word"]) == Counter(rows)
        frame = pa.table(
            {"who": [a for a, _ in rows], "word": pa.array([b for _, b in rows], "string")}
        )
        by_subject = counted(source, ["word"], subject="who")
        assert by_subject == counted(open_source(frame), ["word"], subject="who")

    check()


@pytest.fixture(scope="module")
def people(server: Any, tmp_path_factory: pytest.TempPathFactory) -> tuple[Source, Source]:
    """Return the same 30,000 rows in PostgreSQL and in Parquet."""
    n = 30_000
    table = pa.table(
        {
            "who": [f"p{i // 3}" if i % 50 else None for i in range(n)],
            "age": pa.array([i * i % 7 for i in range(n)], pa.int16()),
            "sex": ["FM"[i % 2] for i in range(n)],
            "people": [Decimal(i % 5) for i in range(n)],
        }
    )
    path = tmp_path_factory.mktemp("people") / "people.parquet"
    pq.write_table(table, path)
    server.sql("CREATE TABLE people (who text, age int2, sex char(1), people numeric(3))")
    cells = (
        f"{w or ''},{a},{s},{p}" for w, a, s, p in zip(*table.to_pydict().values(), strict=True)
    )
    server.sql("COPY people FROM stdin (FORMAT csv);\n" + "\n".join(cells) + "\n\\.\n")
    return open_source(server.address("people")), open_source(path)


@pytest.mark.parametrize("how", [{}, {"subject": "who"}, {"weight": "people"}])
def test_only_groups_cross_the_wire(
    server: Any, people: tuple[Source, Source], how: dict[str, str]
) -> None:
    server.sql(
        "CREATE EXTENSION IF NOT EXISTS pg_stat_statements; SELECT pg_stat_statements_reset()"
    )
    here, there = (count_combinations(source, ["age", "sex"], **how) for source in people[::-1])
    assert there.equals(here)
    sent = int(server.sql("SELECT max(rows) FROM pg_stat_statements WHERE query LIKE '%GROUP BY%'"))
    assert here.num_rows <= sent <= 5 * here.num_rows


def test_an_open_source_does_not_change(server: Any) -> None:
    server.sql("CREATE TABLE moving (n int); INSERT INTO moving SELECT generate_series(1, 1000)")
    source = open_source(server.address("moving"))
    print_before, streaming = source.fingerprint(), source.batches(batch_rows=10)
    next(streaming)
    server.sql("DELETE FROM moving WHERE n > 500; UPDATE moving SET n = -n")
    assert counted(source, ["n"]) == Counter((n,) for n in range(1, 1001))  # while it streams
    assert sum(batch.num_rows for batch in streaming) == 990
    assert source.fingerprint() == print_before
    anew = open_source(server.address("moving"))
    assert anew.fingerprint() != print_before
    assert sum(row["n"] for row in told(anew)) == -sum(range(1, 501))


def test_rows_keep_their_place_whichever_columns_are_read(server: Any) -> None:
    server.sql(
        "CREATE TABLE placed AS SELECT md5(i::text) AS k, repeat('x', 500) || i AS wide,"
        " i % 10 AS p FROM generate_series(1, 4000) i; CREATE INDEX ON placed (k);"
        " CREATE VIEW seen AS SELECT a.k, b.wide, a.p FROM placed a JOIN placed b USING (k);"
        " CREATE TABLE parted (LIKE placed) PARTITION BY LIST (p);"
        " CREATE TABLE parted_odd PARTITION OF parted FOR VALUES IN (1, 3, 5, 7, 9);"
        " CREATE TABLE parted_even PARTITION OF parted DEFAULT; CREATE INDEX ON parted (k);"
        " INSERT INTO parted SELECT * FROM placed"
    )
    server.sql("VACUUM ANALYZE")
    for table in ("placed", "seen", "parted"):
        source = open_source(server.address(table))
        whole = told(source)
        assert [row["k"] for row in told(source, ["k"])] == [row["k"] for row in whole]
        assert [row["p"] for row in told(source, ["p"])] == [row["p"] for row in whole]
        assert len(whole) == 4000
    placed = [row["wide"][500:] for row in told(open_source(server.address("placed")))]
    assert placed == [str(i) for i in range(1, 4001)]
    before = told(open_source(server.address("seen")))
    server.sql("UPDATE placed SET p = p WHERE p < 5")  # which writes these rows elsewhere
    assert told(open_source(server.address("seen"))) == before


MEMORY = """
import resource, sys
from voile.data import open_source
source = open_source(sys.argv[1])
before = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
rows = sum(batch.num_rows for batch in source.batches())
print(rows, resource.getrusage(resource.RUSAGE_SELF).ru_maxrss - before)
"""


def test_memory_follows_the_batch(server: Any) -> None:
    server.sql(
        "CREATE UNLOGGED TABLE big AS SELECT repeat('x', 1000) AS wide"
        " FROM generate_series(1, 150000)"
    )
    words = [sys.executable, "-c", MEMORY, server.address("big")]
    ran = subprocess.run(words, capture_output=True, text=True, check=True)
    rows, grown = map(int, ran.stdout.split())
    assert rows == 150_000
    assert grown < 80_000  # KiB; the rows are 150 MB
    server.sql("DROP TABLE big")


def test_a_source_that_is_gone_leaves_no_session(server: Any) -> None:
    gc.collect()
    before = server.sessions()
    source = open_source(server.address("people"))
    streaming = source.batches(batch_rows=10)
    next(streaming)
    assert server.sessions() == before + 2
    del source, streaming
    gc.collect()
    assert server.sessions() == before


def test_names_are_quoted_and_never_folded(server: Any) -> None:
    server.sql(
        'CREATE SCHEMA "Care; x"; CREATE TABLE "Care; x"."the ""old"" é" ("a b" int, "SELECT" text,'
        """ "k0" int, "%s {n}" int);"""
        """INSERT INTO "Care; x"."the ""old"" é" VALUES (1, 'it''s', 3, 4)"""
    )
    source = open_source(server.address('Care; x.the "old" é'))
    row = {"a b": 1, "SELECT": "it's", "k0": 3, "%s {n}": 4}
    assert told(source) == [row]
    assert counted(source, list(row)) == Counter([tuple(row.values())])


def test_tables_are_found_by_name(server: Any) -> None:
    server.sql(
        'CREATE SCHEMA care; CREATE TABLE care.visits (n int); CREATE TABLE "care.stays" (n int);'
        " CREATE TABLE care.stays (n int); CREATE MATERIALIZED VIEW matter AS SELECT 1 AS n"
    )
    assert told(open_source(server.address("care.visits"))) == []
    assert counted(open_source(server.address("care.visits")), ["n"]) == Counter()
    assert told(open_source(server.address("public.matter"))) == [{"n": 1}]
    assert told(open_source(server.address(), table="matter")) == [{"n": 1}]
    for table, message in (
        ("care.visit", r"the database has no table care.visit; did you mean care.visits"),
        ("care.stays", "two tables match this name, because one name contains a dot"),
        ("", "the database has several tables"),
        ("pg_catalog.pg_class", "has no table"),
    ):
        with pytest.raises(ValueError, match=message):
            open_source(server.address(table))


def test_a_table_without_columns_and_a_database_without_tables(server: Any) -> None:
    server.sql("CREATE TABLE bare ()")
    with pytest.raises(ValueError, match="bare: the table has no columns"):
        open_source(server.address("bare"))
    server.sql("CREATE TABLE arrays (a int[])")
    with pytest.raises(
        ValueError, match=r"voile cannot read any column of the table: a \(integer\[\]\)"
    ):
        open_source(server.address("arrays"))
    server.sql("DROP DATABASE IF EXISTS lonely")
    server.sql("CREATE DATABASE lonely")
    with pytest.raises(ValueError, match="the database contains no table"):
        open_source(server.address(database="lonely"))
    server.sql("CREATE TABLE one (n int)", database="lonely")
    assert list(open_source(server.address(database="lonely")).columns) == ["n"]


def test_text_that_is_no_text_is_refused(server: Any) -> None:
    server.sql("DROP DATABASE IF EXISTS raw")
    server.sql("CREATE DATABASE raw ENCODING 'SQL_ASCII' TEMPLATE template0")
    server.sql("CREATE TABLE t (w text); INSERT INTO t VALUES (E'\\xff\\xfe')", database="raw")
    with pytest.raises(SourceError, match="the server ended the query"):
        told(open_source(server.address(database="raw")))


def test_a_server_that_ends_the_session_is_said_in_a_sentence(server: Any) -> None:
    wide = "repeat('x', 1000) AS wide"
    server.sql(f"CREATE VIEW slow AS SELECT i, {wide} FROM generate_series(1, 100000) i")
    source = open_source(server.address("slow"))
    streaming = source.batches()
    next(streaming)
    server.sql(
        "SELECT count(pg_terminate_backend(pid)) FROM pg_stat_activity"
        " WHERE application_name = 'voile'"
    )
    for ended in (lambda: sum(map(len, streaming)), lambda: count_combinations(source, ["i"])):
        with pytest.raises(SourceError, match="slow: the server ") as caught:
            ended()
        assert "\n" not in str(caught.value)


def test_without_the_driver_it_says_how_to_install(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "adbc_driver_postgresql", None)
    with pytest.raises(ValueError, match=r"pip install 'voile\[postgres\]'"):
        open_source("service=county::t")
