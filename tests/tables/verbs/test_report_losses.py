"""What a report counts of losses: by groups, by labels, and as a survey weighs people."""

from __future__ import annotations

import numpy as np
import pyarrow as pa
import pytest

from voile.tables.policies.space import PolicySpace
from voile.tables.verbs.report_losses import loss_data

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
    lost = loss_data(space, space.policy(bits))
    assert lost["hidden_by_labels"] == pytest.approx(0.5)
    assert lost["resolution"] < 0.4
    assert loss_data(space, space.policy(space.top))["hidden_by_labels"] == pytest.approx(1)
    assert loss_data(space, space.policy(space.bottom))["hidden_by_labels"] == 0
