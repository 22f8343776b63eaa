"""What a report counts of losses: by groups, by labels, and as a survey weighs people."""

from __future__ import annotations

import numpy as np
import pyarrow as pa
import pytest
from hypothesis import assume, given, settings
from hypothesis import strategies as st

from voile.gate.analysts import measure_utility
from voile.gate.finding import figures_of
from voile.tables.fitting.space import PolicySpace
from voile.tables.verbs.report_data import grouped_rows, loss_data

QUASI = ["age", "sex"]


def survey(seed=1, rows=60):
    rng = np.random.default_rng(seed)
    cells = {"age": rng.integers(20, 26, rows), "sex": rng.choice(["f", "m"], rows)}
    return pa.table({**cells, "w": rng.integers(0, 5, rows)})


def policy_of(space, seed):
    return space.policy(np.random.default_rng(seed).random(space.n_bits) < 0.4)


def test_by_labels_a_column_of_one_group_is_wholly_lost_and_by_groups_it_is_not():
    space = PolicySpace.of(survey().slice(0, 12), quasi=QUASI)
    bits = space.bottom
    bits[-1] = False  # sex is one group, and ages are as they are
    assert hidden_of(space, bits) == pytest.approx(0.5)
    assert loss_data(space, space.policy(bits))["resolution"] < 0.4
    assert hidden_of(space, space.top) == pytest.approx(1)
    assert hidden_of(space, space.bottom) == 0


def hidden_of(space, bits):
    rows = grouped_rows(space.counts, space.grouping(space.policy(bits)))
    return figures_of(measure_utility(*rows, QUASI))["hidden_by_labels"]


@settings(max_examples=30, deadline=None)
@given(st.integers(0, 10**6))
def test_weights_count_as_if_every_person_stood_as_often_in_the_data(seed):
    table = survey(seed)
    weights = table.column("w").to_numpy()
    space = PolicySpace.of(table, quasi=QUASI, weight="w")
    often = PolicySpace.of(table.take(np.repeat(np.arange(60), weights)), quasi=QUASI)
    assume(often.domains == space.domains)
    policy = policy_of(space, seed)
    found, twin = loss_data(space, policy)["weighted"], often.losses(policy)
    assert {name: found[name] for name in twin} == pytest.approx(twin)


def test_without_weights_nothing_is_weighted():
    space = PolicySpace.of(survey(), quasi=QUASI)
    assert "weighted" not in loss_data(space, policy_of(space, 1))
