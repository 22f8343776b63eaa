"""Each headline figure of a release and of a study equals a recount with pandas."""

from __future__ import annotations

import ast
from collections import Counter
from datetime import date, timedelta
from pathlib import Path

import numpy as np
import pandas as pd
import pytest
from tests.contracts import recount_releases
from tests.contracts.recount_releases import (
    recount_documents,
    recount_joined_rows,
    recount_messages,
    recount_table,
)
from tests.gate import recount_parts
from tests.gate.recount_parts import KnownPart, recount_itemsets, recount_study
from tests.study.made import roles_of, write_key

import voile.itemsets
import voile.tables
from voile.study import Study

ELSEWHERE = {
    "left_named",
    "named_in_text",
    "offset_guessed",
    "people_with_rare_values_elsewhere",
    "people_with_values",
    "values_in_text",
}
"""Figures of texts, and of the value search and the attack by dates, which have other twins."""


@pytest.mark.parametrize("module", [recount_parts, recount_releases])
def test_the_recount_imports_nothing_of_voile(module):
    tree = ast.parse(Path(module.__file__).read_text(encoding="utf-8"))
    names = {
        name
        for node in ast.walk(tree)
        for name in (
            [one.name for one in node.names] if isinstance(node, ast.Import)
            else [str(node.module)] if isinstance(node, ast.ImportFrom) else []
        )
    }  # fmt: skip
    assert "pandas" in names
    assert not any("voile" in name for name in names)


def read_release(release):
    """Return the released rows as text, and the source's row of each."""
    rows = pd.read_csv(release.path, dtype=str, keep_default_na=False, na_values=[""])
    private = Path(f"{release.path}.private", "rows.parquet")
    return rows, pd.read_parquet(private)["row"].to_numpy()


def columns_of(release, role):
    return [one["column"] for one in release.public["columns"] if one["role"] == role]


def test_a_release_of_each_kind_counted_again(case, tmp_path):
    if case.kind == "itemsets":
        pytest.skip("the next test counts itemsets")
    release = case.apply(tmp_path / "release.csv")
    rows, numbers = read_release(release)
    source = case.table.to_pandas().iloc[numbers].reset_index(drop=True)
    if case.kind == "tables":
        found = recount_table(rows, columns_of(release, "quasi"), source["person"])
    elif case.kind == "documents":
        found = recount_documents(rows, source, columns_of(release, "text"))
    else:
        readings = (["pulse", "pressure"], ["mood"])
        found = recount_messages(rows, source["ill"], source["person"], *readings)
    figures = release.private["figures"]
    assert {name: figures[name] for name in found} == pytest.approx(found, rel=1e-9)


def test_a_table_with_pseudonyms_counted_again(tmp_path):
    rng = np.random.default_rng(4)
    who = np.concatenate([np.arange(200), rng.integers(0, 200, 150)])
    age, sex = rng.integers(20, 80, len(who)), rng.choice(["F", "M"], len(who))
    source = pd.DataFrame({"who": [f"P{n}" for n in who], "age": age, "sex": sex})
    write_key(tmp_path)
    roles = {"subject": "who", "columns": {"who": "identifier", "age": "quasi", "sex": "quasi"}}
    for promise, reason in (("row", "the joined rows are counted again"), ("person", None)):
        kit = voile.tables.fit(source, roles=roles, k=4, promise=promise, seed=1)
        release = kit.apply(
            kit.choose(least_loss=True),
            source,
            tmp_path / f"{promise}.csv",
            key_file=tmp_path / "study.key",
            accept_risk=reason,
        )
        rows, numbers = read_release(release)
        labels = ["age", "sex"]
        found = recount_table(rows, labels, source["who"].iloc[numbers].reset_index(drop=True))
        found |= recount_joined_rows(rows, labels, "who", 4)
        figures = release.private["figures"]
        assert {name: figures[name] for name in found} == pytest.approx(found, rel=1e-9)
        assert (found["people_below_k"] > 0) == (promise == "row")


@pytest.mark.parametrize(("seed", "k", "m"), [(1, 4, None), (2, 3, 2), (3, 5, 1)])
def test_an_itemsets_release_counted_again(tmp_path, seed, k, m):
    rng = np.random.default_rng(seed)
    who = rng.integers(0, 60, 90)
    cells = (rng.random((90, 6)) < [0.7, 0.5, 0.5, 0.4, 0.3, 0.05]).astype(int)
    source = pd.DataFrame(cells, columns=[f"drug_{n}" for n in range(6)])
    source.insert(0, "person", [f"P{n}" for n in who])
    write_key(tmp_path)
    items = {f"drug_{n}": "items" for n in range(6)}
    roles = {"subject": "person", "columns": {"person": "identifier", **items}}
    known = {} if m is None else {"m": m}
    kit = voile.itemsets.fit(source, roles=roles, k=k, **known)
    options = {
        "pseudonyms": True,
        "key_file": tmp_path / "study.key",
        "accept_risk": "each joined row is counted again",
    }
    release = kit.apply(kit.choose(least_loss=True), source, tmp_path / "out.parquet", **options)
    rows = pd.read_parquet(release.path)
    items = [name for name in rows.columns if name.startswith("drug_")]
    assert items
    [person] = set(rows.columns) - set(items)
    found = recount_itemsets(rows, person, k, most=m)
    assert release.private["figures"] == pytest.approx(found)
    assert found["anonymity"] >= k
    released, whole = (
        Counter(own[items].astype(int).itertuples(index=False, name=None)) for own in (rows, source)
    )
    assert released <= whole  # each row is of the source


PLAN = """\
[study]
subject = "person"
key_file = "study.key"
date_shift_days = 30
seed = 1

[promise]
k = 5
max_relative_risk = 1.0

[parts.people]
kind = "tables"
source = "people.csv"
roles = "people.toml"

[parts.stays]
kind = "tables"
source = "stays.csv"
roles = "stays.toml"
"""


@pytest.mark.parametrize("seed", [1, 2])
def test_a_study_of_two_tables_counted_again(tmp_path, seed):
    rng = np.random.default_rng(seed)
    ids = [f"P{n:02}" for n in range(30)]
    people = pd.DataFrame({"person": ids, "sex": rng.choice(["F", "M"], 30)})
    people["age"] = rng.integers(20, 60, 30)
    first = date(2020, 1, 6)
    stays = []
    for one in ids:
        for _ in range(rng.integers(1, 4)):
            start = first + timedelta(days=int(rng.integers(0, 40)))
            end = start + timedelta(days=int(rng.integers(0, 4)))
            stays.append((one, rng.choice(["a", "b"]), start, end))
    people.to_csv(tmp_path / "people.csv", index=False)
    columns = ["person", "unit", "start", "end"]
    pd.DataFrame(stays, columns=columns).to_csv(tmp_path / "stays.csv", index=False)
    (tmp_path / "people.toml").write_text(
        roles_of({"sex": "quasi", "age": "quasi"}).replace("person_id", "person")
    )
    own = {"unit": "keep", "start": "keep", "end": "keep"}
    (tmp_path / "stays.toml").write_text(roles_of(own).replace("person_id", "person"))
    write_key(tmp_path)
    (tmp_path / "study.toml").write_text(PLAN)
    study = Study.open(tmp_path / "study.toml")
    study.fit()
    release = study.apply()
    written = {
        name: pd.read_csv(release.path / f"{name}.csv", keep_default_na=False, na_values=[""])
        for name in ("people", "stays")
    }
    labels = tuple(x for x in written["people"].columns if x != "person")
    parts = {
        "people": KnownPart(written["people"], labels),
        "stays": KnownPart(written["stays"], ("unit",), ("start", "end")),
    }
    found = recount_study(parts["people"], parts, "person")
    figures = release.private["figures"]
    assert {name: figures[name] for name in found} == pytest.approx(found, rel=1e-9)
    assert {x for x in figures if "dates" not in x} - found.keys() == ELSEWHERE
