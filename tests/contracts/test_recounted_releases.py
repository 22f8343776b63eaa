"""Each headline figure of an itemsets release and of a study equals a recount with pandas."""

from __future__ import annotations

import ast
from collections import Counter
from datetime import date, timedelta
from pathlib import Path

import numpy as np
import pandas as pd
import pytest
from tests.gate import recount_parts
from tests.gate.recount_parts import KnownPart, recount_itemsets, recount_study
from tests.study.made import roles_of, write_key

import voile.itemsets
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


def test_the_recount_imports_nothing_of_voile():
    tree = ast.parse(Path(recount_parts.__file__).read_text(encoding="utf-8"))
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
