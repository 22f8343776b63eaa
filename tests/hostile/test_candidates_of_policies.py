"""Count the values of one person that remain possible to an adversary who refits the policy.

The adversary of `test_candidates.py` keeps the policy of the release. This one fits it again for
each value that the person's released group allows. A policy that depends on one value reveals it.
"""

from __future__ import annotations

from typing import Any

import numpy as np
import pyarrow as pa
import pytest
from tests.hostile.cases import cases

import voile.tables as vt
from voile.data import open_source
from voile.tables.attack.regrowing import RemainingValues
from voile.tables.fitting.attack_regrow import PolicyRegrowth
from voile.tables.verbs.options import AttackOptions
from voile.tables.verbs.scene import TablesScene

pytestmark = pytest.mark.filterwarnings("ignore")


def people(rows: int) -> pa.Table:
    """Make people of even ages and working hours, where nothing but the sample moves a cut."""
    rng = np.random.default_rng(rows)
    return pa.table({"age": rng.integers(18, 90, rows), "hours": rng.integers(10, 70, rows)})


def remaining(
    rows: int, tried: int, *, family: str, cut_every: int | None = None, **apply: Any
) -> list[RemainingValues]:
    """Fit and apply with default options but k = 5, and regrow the policy for some people."""
    table = people(rows)
    asked = {"role": "quasi", **({"cut_every": cut_every} if cut_every else {})}
    kit = vt.fit(table, roles=dict.fromkeys(table.column_names, asked), k=5, family=family)
    release = kit.apply(kit.choose(least_loss=True), table, **apply)
    regrowth = PolicyRegrowth(TablesScene(release, open_source(table), AttackOptions()))
    regrowth.check()
    drawn = np.random.default_rng(1).permutation(rows)[:tried].tolist()
    return [regrowth.count_remaining(one, name) for one in drawn for name in table.column_names]


def chances(found: list[RemainingValues], way: str) -> float:
    """Return the expected share of right guesses."""
    return float(np.mean([1 / getattr(one, way) for one in found]))


@pytest.mark.parametrize(
    ("rows", "family", "cut_every", "tried", "most"),
    [
        (80, "tree", None, 2, 4),  # a bound on regressions: the threat model promises none
        (80, "tree", 5, 2, 4),
        (80, "global", None, 1, 4),
        (400, "tree", None, 2, 2),
        (1_000, "tree", None, 3, 2),
    ],
)
def test_a_policy_lets_a_value_be_guessed_not_many_times_as_often_as_its_group(
    rows: int, family: str, cut_every: int | None, tried: int, most: float, capsys: Any
) -> None:
    found = remaining(rows, cases(tried), family=family, cut_every=cut_every)
    group, policy, marginals = (chances(found, way) for way in ("group", "policy", "marginals"))
    with capsys.disabled():
        print(
            f"\n{family}, {rows} rows: right guesses {group:.3f} by group, {policy:.3f} by policy"
        )
    assert all(one.policy >= 1 for one in found)
    assert policy <= most * group
    assert marginals == policy  # by default there are none


def test_marginals_rule_further_values_out() -> None:
    found = remaining(400, cases(1), family="tree", marginals=True)
    assert chances(found, "marginals") > chances(found, "policy")
