"""Files of every kind: one table is the same rows from each, and is released in each."""

from __future__ import annotations

import gzip
import sqlite3

import numpy as np
import pyarrow as pa
import pytest

from voile.core.errors import RequestError
from voile.core.progress import silent
from voile.data import open_source, open_writer
from voile.data.roles import Roles
from voile.itemsets.module import ITEMSETS
from voile.itemsets.rows.sources import RowReader
from voile.itemsets.verbs.choose import choose
from voile.itemsets.verbs.fit import fit
from voile.itemsets.verbs.options import ApplyOptions, FitOptions
from voile.itemsets.verbs.verify import verify
from voile.release.choice import Choice

N = 90
RNG = np.random.default_rng(4)
WIDE = pa.table(
    {
        "fever": RNG.integers(0, 2, N),
        "area": [(None, "north", "007", "south")[x] for x in RNG.integers(0, 4, N)],
        "age": RNG.integers(20, 60, N),
        "note": [("No cough, 9", "cough", "9 no", "")[x] for x in RNG.integers(0, 4, N)],
        "y": np.where(RNG.random(N) < 0.5, "yes", "no"),
    }
)
ROLES = Roles.model_validate(
    {
        "columns": {
            "fever": {"role": "items", "as": "binary"},
            "area": "items",
            "age": {"role": "items", "cuts": [30, 45]},
            "note": {"role": "items", "as": "words"},
            "y": "label",
        }
    }
)
LISTS = pa.table(
    {
        "label": np.where(RNG.random(N) < 0.5, "+1", "-1"),
        "items": pa.array([sorted(RNG.permutation(6)[: RNG.integers(0, 4)] + 1) for _ in range(N)]),
    }
)


def write(table, path):
    with open_writer(path, table.schema) as file:
        for batch in table.to_batches(max_chunksize=40):
            file.write(batch)


def to_sqlite(table, path):
    with sqlite3.connect(path) as connection:
        connection.execute(f"CREATE TABLE visits ({', '.join(table.column_names)})")
        marks = ", ".join("?" * table.num_columns)
        rows = [tuple(row.values()) for row in table.to_pylist()]
        connection.executemany(f"INSERT INTO visits VALUES ({marks})", rows)


def held(source, roles):
    """Give each row's features, in the source's order, and its label."""
    reading = RowReader.all_of(roles)
    reading.check(source)
    read = reading.read_rows(source, reading.learn(source))
    rows = read.incidence
    order = np.argsort(read.number)
    labels = [None] * len(order) if read.labels is None else read.labels[order].tolist()
    patterns = [rows.items[slice(*rows.starts[p : p + 2])] for p in rows.pattern[order]]
    named = [{rows.features[x] for x in items} for items in patterns]
    return list(zip(named, labels, strict=True))


@pytest.mark.parametrize(
    "name", ["t.csv", "t.tsv", "t.csv.gz", "t.parquet", "t.arrow", "t.jsonl", "t.duckdb", "t.db"]
)
def test_a_table_is_the_same_rows_from_every_file(name, tmp_path):
    path = tmp_path / name
    if name == "t.db":
        to_sqlite(WIDE, path)
    elif name == "t.csv.gz":
        write(WIDE, tmp_path / "t.csv")
        path.write_bytes(gzip.compress((tmp_path / "t.csv").read_bytes()))
    else:
        write(WIDE, path)
    wanted = []
    for row in WIDE.to_pylist():
        has = {"fever"} if row["fever"] else set()
        has |= {f"area={row['area']}"} if row["area"] else set()
        age = row["age"]
        has.add(
            "age=" + ("below 30" if age < 30 else "30 to below 45" if age < 45 else "45 and above")
        )
        has |= {f"note={word.strip(',').lower()}" for word in row["note"].split()}
        wanted.append((has, row["y"]))
    assert held(open_source(path), ROLES) == wanted


@pytest.mark.parametrize(
    "name", ["t.svm", "t.svmlight", "t.svm.gz", "t.parquet", "t.arrow", "t.duckdb", "t.jsonl"]
)
def test_lists_are_the_same_rows_from_every_file(name, tmp_path):
    path = tmp_path / name
    if name == "t.svm.gz":
        write(LISTS, tmp_path / "t.svm")
        path.write_bytes(gzip.compress((tmp_path / "t.svm").read_bytes()))
    else:
        write(LISTS, path)
    roles = Roles.model_validate({"columns": {"label": "label", "items": "items"}})
    wanted = [({f"items={x}" for x in r["items"]}, r["label"]) for r in LISTS.to_pylist()]
    assert held(open_source(path), roles) == wanted


@pytest.mark.parametrize("name", ["t.dat", "t.dat.gz"])
def test_transactions_are_the_same_rows(name, tmp_path):
    items = LISTS.select(["items"])
    write(items, tmp_path / "t.dat")
    if name == "t.dat.gz":
        (tmp_path / name).write_bytes(gzip.compress((tmp_path / "t.dat").read_bytes()))
    roles = Roles.model_validate({"columns": {"items": "items"}})
    wanted = [({f"items={x}" for x in row["items"]}, None) for row in items.to_pylist()]
    assert held(open_source(tmp_path / name), roles) == wanted


@pytest.fixture(scope="module")
def chosen_of():
    """Fit a table and choose the policy of k = 3."""

    def chosen(table, roles):
        source = open_source(table)
        kit = fit(source, roles, FitOptions(k=(3,)), seed=1, progress=silent)
        return kit, choose(kit, Choice(max_risk=1 / 3)), source

    kinds = {
        "wide": (WIDE, ROLES),
        "lists": (LISTS, Roles.model_validate({"columns": {"label": "label", "items": "items"}})),
        "transactions": (
            LISTS.select(["items"]),
            Roles.model_validate({"columns": {"items": "items"}}),
        ),
    }
    made = {}
    return lambda kind: made.setdefault(kind, chosen(*kinds[kind]))


@pytest.mark.whole
@pytest.mark.parametrize(
    ("kind", "name"),
    [
        *(("wide", f"r.{end}") for end in ("csv", "tsv", "parquet", "arrow", "jsonl", "duckdb")),
        *(("lists", f"r.{end}") for end in ("svm", "parquet", "arrow", "duckdb", "jsonl")),
        ("transactions", "r.dat"),
    ],
)
def test_a_release_of_every_kind_holds_what_is_published_and_no_more(
    kind, name, chosen_of, tmp_path
):
    kit, chosen, source = chosen_of(kind)
    out, options = tmp_path / name, ApplyOptions(keep_order=True)
    release = ITEMSETS.apply(kit, chosen, source, out, options, force=False, progress=silent)
    assert all(holds is not False for _, holds in verify(release))
    features = set(chosen.policy["features"])
    roles = Roles.model_validate(kit.facts["roles"])
    wanted = [(has & features, y) for has, y in held(source, roles)]

    shown = open_source(out)
    columns = {column: roles.columns[column].role for column in shown.columns}
    columns |= {"note": {"role": "items", "as": "words"}} if "note" in columns else {}
    columns |= {"fever": {"role": "items", "as": "binary"}} if "fever" in columns else {}
    assert held(shown, Roles.model_validate({"columns": columns})) == wanted


@pytest.mark.parametrize(
    ("kind", "name", "said"),
    [
        ("wide", "r.dat", "exactly the columns items, but the release has "),
        ("wide", "r.svm", "exactly the columns label and items, but the release has "),
        ("lists", "r.dat", "but the release has label, items"),
    ],
)
def test_a_file_that_has_no_place_for_a_column_is_refused(kind, name, said, chosen_of, tmp_path):
    kit, chosen, source = chosen_of(kind)
    options = ApplyOptions()
    with pytest.raises(RequestError, match="this format has exactly the columns") as refused:
        ITEMSETS.apply(kit, chosen, source, tmp_path / name, options, force=False, progress=silent)
    assert said in refused.value.what
    assert list(tmp_path.iterdir()) == []
