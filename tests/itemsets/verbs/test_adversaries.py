"""`voile itemsets adversaries`: the table of `adversaries`, of a source with roles."""

from __future__ import annotations

import json

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from tests.itemsets.verbs.clinic import ROLES as ROLES_OF_CLINIC
from tests.itemsets.verbs.clinic import clinic, fitted

from voile.cli.run import run
from voile.itemsets import adversaries
from voile.itemsets.verbs.content import Content

ROLES = '[columns]\nitems = {role = "items", as = "words"}\nill = "label"\nage = "drop"\n'


@pytest.fixture
def source(tmp_path):
    rng = np.random.default_rng(1)
    ill = rng.integers(0, 2, 80)
    X = rng.random((80, 6)) < np.where(ill, 0.6, 0.4)[:, None]
    rows = [
        f"{' '.join(f'x{j}' for j in np.flatnonzero(x))},{y},30"
        for x, y in zip(X, ill, strict=True)
    ]
    (tmp_path / "held.csv").write_text("\n".join(["items,ill,age", *rows]))
    (tmp_path / "roles.toml").write_text(ROLES)
    return tmp_path, X.astype(np.int8), ill


def told(source, capsys, *more, roles="roles.toml"):
    own = ["--roles", source / roles, "--method", "best", "--seed", 3, *more]
    words = ["itemsets", "adversaries", source / "held.csv", *own]
    return run([*map(str, words)]), capsys.readouterr()


def test_the_rows_are_those_of_python_and_a_table_on_standard_output(source, capsys):
    folder, X, ill = source
    code, (out, said) = told(folder, capsys, "--k", 5, "--k", 15, "--m", 1, "--m", 2, "--json")
    assert code == 0, said
    result = json.loads(out)
    assert result["m"] == [1, 2, None]
    found = adversaries(X, ill, k=(5, 15), m=(1, 2, None), method="best", random_state=3)
    names = ("m", "k", "features", "utility", "unique_share", "reached")
    mine = [{name: one[name] for name in names} for one in result["adversaries"]]
    assert mine == [
        {**{n: getattr(one, n) for n in names}, "reached": [*one.reached]} for one in found
    ]
    code, (out, said) = told(folder, capsys, "--k", 5, "--k", 15, "--m", 1, "--m", 2, "--quiet")
    assert (code, said) == (0, "")
    head, *rows = [line.split("\t") for line in out.splitlines()]
    assert head[:4] == ["knows", "k", "features", "utility_lost"]
    assert [(row[0], int(row[1]), int(row[2])) for row in rows] == [
        ("all" if one.m is None else str(one.m), one.k, one.features) for one in found
    ]
    assert head[-3:] == ["k_against_1", "k_against_2", "k_against_all"]
    assert [tuple(map(int, row[-3:])) for row in rows] == [one.reached for one in found]
    assert {0 <= float(row[3]) < 1 for row in rows} == {True}


def _toml(role):
    return f'"{role}"' if isinstance(role, str) else f'{{role = "items", as = "{role["as"]}"}}'


def test_columns_of_numbers_are_cut_for_each_k_as_fit_cuts_them(tmp_path, capsys):
    table = clinic()
    kit = fitted(table, ROLES_OF_CLINIC, 5, 40, m=1, method="joint")
    figures = Content.of(kit).figures.to_pylist()
    pq.write_table(pa.table(table), tmp_path / "clinic.parquet")
    roles = "".join(f"{name} = {_toml(role)}\n" for name, role in ROLES_OF_CLINIC.items())
    (tmp_path / "roles.toml").write_text(f"[columns]\n{roles}")
    words = ["itemsets", "adversaries", tmp_path / "clinic.parquet", "--m", 1, "--json"]
    own = ["--roles", tmp_path / "roles.toml", "--k", 5, "--k", 40, "--method", "joint"]
    assert run([*map(str, [*words, *own])]) == 0
    found = json.loads(capsys.readouterr().out)["adversaries"]
    assert [(one["m"], one["k"]) for one in found] == [(1, 5), (1, 40), (None, 5), (None, 40)]
    fit = {one["k"]: (one["features"], one["k_reached"], one["unique_share"]) for one in figures}
    both = [one for one in found[:2] if one["k"] in fit]  # a policy that another beats is not kept
    assert both
    for one in both:
        assert fit[one["k"]] == (one["features"], one["reached"][0], one["unique_share"])


def test_each_adversary_may_know_absences_as_well(source, capsys):
    folder, X, _ = source
    code, (out, said) = told(folder, capsys, "--k", 5, "--m", 1, "--absences", "--json")
    assert code == 0, said
    for one in json.loads(out)["adversaries"]:
        assert one["reached"][0 if one["m"] else 1] >= 5
    everything = json.loads(out)["adversaries"][-1]
    assert everything["unique_share"] == 0
    assert everything["features"] < X.shape[1]


def test_a_method_for_one_adversary_alone_and_a_k_that_nothing_meets_are_refused(source, capsys):
    folder, *_ = source
    assert told(folder, capsys, "--k", 81)[0] != 0
    code, (_, said) = told(folder, capsys, "--method", "k-anonymity-hamdist")
    assert code != 0
    assert "--method" in said
    assert "cm-greedy" in said
