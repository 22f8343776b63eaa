"""`voile itemsets adversaries`: the table of `adversaries`, of a source with roles."""

from __future__ import annotations

import json

import numpy as np
import pytest

from voile.cli.run import run
from voile.itemsets import adversaries

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


def test_the_rows_are_those_of_python_and_each_is_a_sentence(source, capsys):
    folder, X, ill = source
    code, (out, said) = told(folder, capsys, "--k", 5, "--k", 15, "--m", 1, "--m", 2, "--json")
    assert code == 0, said
    result = json.loads(out)
    assert result["m"] == [1, 2, None]
    found = adversaries(X, ill, k=(5, 15), m=(1, 2, None), method="best", random_state=3)
    names = ("m", "k", "features", "unique_share", "reached")
    mine = [{name: one[name] for name in names} for one in result["adversaries"]]
    assert mine == [
        {**{n: getattr(one, n) for n in names}, "reached": [*one.reached]} for one in found
    ]
    assert said.count("k reached against 1, 2 and all items") == len(found) == 6


def test_a_column_of_numbers_and_a_k_that_nothing_meets_are_refused(source, capsys):
    folder, *_ = source
    assert told(folder, capsys, "--k", 81)[0] != 0
    (folder / "numbers.toml").write_text(
        ROLES.replace('"drop"', '{role = "items", as = "numbers"}')
    )
    code, (_, said) = told(folder, capsys, roles="numbers.toml")
    assert code != 0
    assert "columns of numbers are cut for one adversary" in said
