"""Long tables: the rows of a record are one, however they lie, and are written apart again."""

from __future__ import annotations

import json
import tempfile

import duckdb
import numpy as np
import pyarrow as pa
import pyarrow.csv
import pyarrow.parquet as pq
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from voile.core.errors import RequestError
from voile.core.progress import silent
from voile.data import open_source
from voile.data.roles import Roles
from voile.itemsets.module import ITEMSETS
from voile.itemsets.rows import long_tables
from voile.itemsets.rows.long_tables import RecordsSource, RecordWriter
from voile.itemsets.rows.sources import RowReader
from voile.itemsets.verbs.attack import attack
from voile.itemsets.verbs.choose import choose
from voile.itemsets.verbs.fit import fit
from voile.itemsets.verbs.options import ApplyOptions, AttackOptions, FitOptions
from voile.itemsets.verbs.verify import verify
from voile.release.choice import Choice
from voile.report.wording import name_of

COLUMNS = {
    "basket": "identifier",
    "item": {"role": "items", "record": "basket"},
    "y": "label",
    "who": "identifier",
    "price": "drop",
}
ROLES = Roles.model_validate({"columns": COLUMNS, "subject": "who"})


def records(table, **named):
    return RecordsSource(open_source(table), **{"record": "basket", "item": "item", **named})


def shown(source, columns=None):
    return [row for batch in source.batches(columns) for row in batch.to_pylist()]


@settings(max_examples=25)
@given(st.data())
def test_grouping_equals_its_definition_whatever_the_order_and_the_batches(data):
    kind = data.draw(st.sampled_from([st.integers(-3, 12), st.sampled_from(["a", "b", "é", ""])]))
    pairs = data.draw(st.lists(st.tuples(kind, st.none() | st.integers(0, 3)), max_size=20))
    labels = {record: data.draw(st.none() | st.integers(0, 1)) for record, _ in pairs}
    whole = {
        "basket": [record for record, _ in pairs],
        "item": pa.array([item for _, item in pairs], pa.int64()),
        "y": pa.array([labels[record] for record, _ in pairs], pa.int64()),
    }
    if not pairs:
        whole["basket"] = pa.array([], pa.int64())
    size = data.draw(st.integers(1, 5))
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(long_tables, "SORTED_ROWS", size)
        found = shown(records(pa.table(whole)))
    wanted = [
        {
            "basket": record,
            "item": sorted(i for r, i in pairs if r == record and i is not None),
            "y": labels[record],
        }
        for record in sorted(labels, key=lambda r: r.encode() if isinstance(r, str) else r)
    ]
    assert [{**row, "item": sorted(row["item"])} for row in found] == wanted


@pytest.mark.parametrize("size", [1, 2, 3, 7, 100])
def test_a_record_that_is_longer_than_a_batch_stays_one(size):
    table = pa.table({"basket": [5] * 7 + [6] * 2 + [7], "item": [*range(7), 1, 2, 3]})
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(long_tables, "SORTED_ROWS", size)
        rows = list(long_tables._whole_records(
            pa.table({"key": table["basket"], "item": table["item"]}).to_batches(size)
        ))  # fmt: skip
    assert [key for batch in rows for key in batch.column("key").to_pylist()] == [5] * 7 + [
        6, 6, 7,
    ]  # fmt: skip
    ends = [batch.column("key")[-1].as_py() for batch in rows]
    starts = [batch.column("key")[0].as_py() for batch in rows]
    assert all(a != b for a, b in zip(ends[:-1], starts[1:], strict=True))


@pytest.mark.parametrize(
    ("change", "said"),
    [
        ({"y": ["p", "p", "q", "q"]}, "row 3, column y: the rows of one basket do not agree"),
        ({"y": ["p", "p", None, "q"]}, "row 3, column y: the rows of one basket do not agree"),
        ({"who": list("aabc")}, "row 3, column who: the rows of one basket do not agree"),
        ({"basket": ["1", None, "1", "2"]}, "row 2, column basket: a row is of no record"),
        ({"basket": [1.0, 2.0, 1.0, 2.0]}, "column basket: is double, and cannot identify records"),
        ({"item": [1.5, 2.0, 1.0, 2.0]}, "column item: is double, and cannot name items"),
    ],
)
def test_what_is_no_long_table_is_refused_by_its_place(change, said):
    columns = {
        "basket": ["1", "2", "1", "2"],
        "item": ["tea", "rum", "milk", "tea"],
        "y": ["p", "q", "p", "q"],
        "who": list("abab"),
        "price": [1, 2, 3, 4],
    }
    with pytest.raises(RequestError, match=said):
        RowReader.all_of(ROLES).learn(open_source(pa.table({**columns, **change})))


@pytest.mark.parametrize(
    ("change", "said"),
    [
        ({"basket": "keep"}, "column item: basket identifies its records"),
        ({"item": {"role": "items", "record": "baskets"}}, "its record is not a column"),
        ({"item": {"role": "items", "record": 3}}, "its record is not a column"),
        ({"item": {"role": "items", "record": "item"}}, "item identifies its records"),
        ({"item": {"role": "items", "record": "basket", "as": "words"}}, "another setting"),
        ({"price": {"role": "items", "record": "basket"}}, "item names a record as well"),
    ],
)
def test_roles_that_make_no_long_table_are_refused(change, said):
    roles = Roles.model_validate({"columns": {**COLUMNS, **change}})
    table = {name: [1, 2] for name in COLUMNS}
    with pytest.raises(RequestError, match=said):
        RowReader.all_of(roles).check(open_source(pa.table(table)))


@settings(max_examples=15)
@given(
    st.lists(st.none() | st.lists(st.integers(0, 9), max_size=4), min_size=1, max_size=14),
    st.integers(1, 4),
)
def test_what_is_written_apart_is_read_back_in_its_order(lists, size):
    table = pa.table({"y": range(len(lists)), "item": pa.array(lists, pa.list_(pa.int64()))})
    for suffix in ("csv", "parquet"):
        with tempfile.TemporaryDirectory() as folder:
            path = f"{folder}/long.{suffix}"
            with RecordWriter(path, table.schema, record="basket", item="item") as file:
                for batch in table.to_batches(size):
                    file.write(batch)
            written = open_source(path)
            assert list(written.columns) == ["basket", "y", "item"]
            rows = shown(RecordsSource(written, record="basket", item="item", numbered=True))
        assert [int(row["y"]) for row in rows] == list(range(len(lists)))
        found = [sorted(map(int, row["item"])) for row in rows]
        assert found == [sorted(one or []) for one in lists]


@pytest.fixture(scope="module")
def purchases():
    """260 baskets of 130 people, ten with nothing in them, their rows in no order."""
    rng = np.random.default_rng(2)
    rows = []
    for basket in range(260):
        y = "yes" if basket % 3 else "no"
        likely = 0.6 / np.arange(1, 9) + (0.2 if y == "yes" else 0)
        things = np.flatnonzero(rng.random(8) < likely) if basket >= 10 else []
        said = [f"0{x} tea" for x in things] or [None]
        rows += [(f"CANARY{basket}", item, y, f"p{basket // 2}", 3) for item in said]
    rows = [rows[x] for x in rng.permutation(len(rows))]
    return pa.table(dict(zip(COLUMNS, map(list, zip(*rows, strict=True)), strict=True)))


def grouped(table):
    """Give each basket's items, by its id."""
    found = {}
    for row in table.to_pylist():
        found.setdefault(row["basket"], (row["y"], set()))[1].add(row["item"])
    return {basket: (y, items - {None}) for basket, (y, items) in found.items()}


@pytest.mark.whole
@pytest.mark.parametrize("name", ["r.parquet", "r.csv", "r.jsonl", "r.duckdb"])
def test_the_verbs_take_a_long_table_and_write_one(purchases, tmp_path, name):
    path = tmp_path / "long.duckdb"
    with duckdb.connect(str(path)) as connection:
        connection.execute("CREATE TABLE bought AS SELECT * FROM purchases")
    source = open_source(f"{path}::bought")
    asked = FitOptions(k=(5,), hold_out=0.1)
    kit = fit(source, ROLES, asked, seed=1, progress=silent)
    chosen = choose(kit, Choice(max_risk=0.2))
    out = tmp_path / name
    options = ApplyOptions(keep_order=True, accept_risk="the order of these rows is kept")
    release = ITEMSETS.apply(kit, chosen, source, out, options, force=False, progress=silent)
    counts, figures = release.private["counts"], release.private["figures"]
    assert (counts["read"], counts["released"]) == (260, 260 - counts["held_out"])
    assert figures["anonymity"] >= 5
    assert all(holds is not False for _, holds in verify(release))

    back = pa.Table.from_batches(open_source(out).batches())
    assert back.column_names == ["basket", "item", "y"]
    assert "CANARY" not in str(back.to_pydict())
    features = {name.removeprefix("item=") for name in chosen.policy["features"]}
    true = grouped(purchases)
    in_order = [true[basket] for basket in sorted(true)]
    rows = pq.read_table(release.folder / "rows.parquet")["row"].to_pylist()
    wanted = [(in_order[row][0], in_order[row][1] & features) for row in rows]
    found = {int(basket): held for basket, held in grouped(back).items()}
    assert [found[x + 1] for x in range(len(found))] == wanted
    assert len(back) == sum(max(len(items), 1) for _, items in wanted)
    assert sum(not items for _, items in wanted) == figures["empty_rows"] > 0

    few = AttackOptions(items=(2,), targets=40)
    evidence = attack(release, source, few, seed=1, progress=silent)
    assert {one.attack for one in evidence} == {"items", "absences", "label"}
    rates = {name_of(f, "internal"): f.rate for one in evidence for f in one.findings}
    assert rates["one person left, 2 most identifying items"].successes == 0
    manifest = json.loads(out.with_name(f"{name}.manifest.json").read_text())
    assert [c["column"] for c in manifest["columns"]] == ["item", "y"]


@pytest.mark.parametrize("kind", ["frame", "csv", "parquet"])
def test_a_long_table_gives_the_rows_that_its_lists_would(purchases, tmp_path, kind):
    path = tmp_path / f"long.{kind}"
    if kind == "csv":
        pyarrow.csv.write_csv(purchases, path)
    elif kind == "parquet":
        pq.write_table(purchases, path)
    reading = RowReader.all_of(ROLES)
    source = open_source(purchases if kind == "frame" else path)
    long = reading.read_rows(source, reading.learn(source))
    true = grouped(purchases)
    order = sorted(true)
    who = dict(zip(purchases["basket"].to_pylist(), purchases["who"].to_pylist(), strict=True))
    lists = pa.table(
        {
            "item": [sorted(true[b][1]) for b in order],
            "y": [true[b][0] for b in order],
            "who": [who[b] for b in order],
        }
    )
    roles = Roles.model_validate(
        {"columns": {"item": "items", "y": "label", "who": "identifier"}, "subject": "who"}
    )
    plain = RowReader.all_of(roles)
    other = open_source(lists)
    wide = plain.read_rows(other, plain.learn(other))
    assert long.incidence.features == wide.incidence.features
    assert long.incidence.supports.tolist() == wide.incidence.supports.tolist()
    assert long.number.tolist() == wide.number.tolist()
    assert long.labels.tolist() == wide.labels.tolist()
    assert long.incidence.n_subjects == wide.incidence.n_subjects == 130


def test_a_record_is_a_row_in_the_order_of_ids():
    table = pa.table({"basket": [7, 4, 7], "item": ["tea", "rum", "milk"]})
    records = RecordsSource(open_source(table), record="basket", item="item")
    assert [row for batch in records.batches() for row in batch.to_pylist()] == [
        {"basket": 4, "item": ["rum"]},
        {"basket": 7, "item": ["tea", "milk"]},
    ]
