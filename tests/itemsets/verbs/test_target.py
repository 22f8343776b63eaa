"""A label that is a number: refused, or read and released as intervals of people."""

from __future__ import annotations

from dataclasses import replace
from itertools import pairwise

import numpy as np
import pyarrow as pa
import pytest
from tests.itemsets.verbs.clinic import PEOPLE, ROLES, clinic, fitted, released

from voile.core.errors import RequestError
from voile.core.progress import silent
from voile.data import open_source
from voile.itemsets.verbs.attack import attack
from voile.itemsets.verbs.options import AttackOptions
from voile.itemsets.verbs.verify import verify

COST = {**ROLES, "grade": "drop", "cost": "label"}


def priced():
    """Return the clinic's people with what they cost, a number of its own for nearly each."""
    table = clinic()
    rng = np.random.default_rng(0)
    cost = 100 * np.array(table["visits"]) + rng.random(PEOPLE) * 40
    return {**table, "cost": cost.round(2).tolist()}


def test_a_label_that_is_a_number_is_refused_or_binned_and_released_so(tmp_path):
    table = priced()
    with pytest.raises(RequestError, match="into a few classes first, as --target-bins does"):
        fitted(table, COST, 5)
    kit = fitted(table, COST, 5, target_bins=4)
    release, shown = released(kit, table, tmp_path / "r.csv", risk=0.2)
    shares = [shown["cost"].count(one) / PEOPLE for one in set(shown["cost"])]
    assert len(shares) in (3, 4)
    assert min(shares) > 0.1
    order = sorted(zip(table["cost"], shown["cost"], strict=True))
    changes = [a[1] != b[1] for a, b in pairwise(order)]
    assert sum(changes) == len(shares) - 1
    assert all(check.holds for check in verify(release) if check.holds is not None)
    truth = open_source(pa.table(table))
    found = attack(release, truth, AttackOptions(targets=50), seed=1, progress=silent)
    guessed = next(one for one in found if one.attack == "label").findings
    assert any(one.rate.successes for one in guessed)


@pytest.mark.parametrize(
    ("roles", "cost", "said"),
    [
        ({**COST, "cost": "drop"}, [], "no column has the role label; leave --target-bins out"),
        (COST, [7.0] * PEOPLE, "column cost: holds one number or none; leave --target-bins"),
        (COST, ["SECRET"], "row 1, column cost: 1 cell holds a value that is not a finite number"),
        (COST, [None], "row 1, column cost: 1 label is missing"),
    ],
)
def test_a_label_that_cannot_be_binned_is_refused(roles, cost, said):
    table = priced()
    column = [*cost, *table["cost"][len(cost) :]]
    table["cost"] = column if cost in ([], [None]) else [str(one) for one in column]
    with pytest.raises(RequestError) as refused:
        fitted(table, roles, 5, target_bins=4)
    assert said in str(refused.value)
    assert "SECRET" not in str(refused.value)


def test_a_row_whose_label_cannot_be_read_later_is_set_aside(tmp_path):
    table = {**priced(), "cost": [str(one) for one in priced()["cost"]]}
    kit = fitted(table, COST, 5, target_bins=3)
    later = {**table, "cost": ["SECRET", *table["cost"][1:]]}
    release, shown = released(kit, later, tmp_path / "r.csv", risk=0.2)
    assert release.private["counts"]["set_aside"] == 1
    assert "SECRET" not in shown["cost"]


def test_a_kit_from_before_labels_could_be_binned_is_read(tmp_path):
    table = clinic()
    kit = fitted(table, ROLES, 5)
    before = replace(kit, facts={n: x for n, x in kit.facts.items() if n != "target"})
    _, shown = released(before, table, tmp_path / "r.csv", risk=0.2)
    assert "age" in shown
