"""One policy is scored by its groups as the search's kernels score many."""

from __future__ import annotations

import numpy as np
import pyarrow as pa
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from voile.tables.fitting.space import PolicySpace
from voile.tables.people.counts import Constraints
from voile.tables.policies.scores import score_policy
from voile.tables.scoring.group_measures import matches

ROWS = st.lists(
    st.tuples(
        st.integers(0, 5),
        st.sampled_from(["f", "m", None]),
        st.sampled_from("abcd"),
        st.booleans(),
        st.integers(0, 9),
    ),
    min_size=4,
    max_size=40,
).filter(lambda rows: all(len({row[i] for row in rows}) > 1 for i in (0, 1)))
MEASURES = st.sampled_from(
    [
        {},
        {"loss": "weighted", "loss_weight": 0.25},
        {"loss": "weighted", "loss_weight": 0.0},
        {"loss": "mutual-information", "outcomes": ["ill"]},
        {"risk": "small-groups", "loss": "weighted"},
        {"risk": matches(power=1.5, under=4)},
    ]
)
RULES = st.sampled_from(
    [
        {},
        {"k": 3, "suppress": 0.4},
        {"l_diversity": 2, "suppress": 0.9},
        {"entropy_l": 1.5, "t_closeness": 0.6, "suppress": 0.5},
        {"max_risk": 0.3},
    ]
)


@settings(deadline=None, max_examples=60)
@given(ROWS, MEASURES, RULES, st.data())
def test_one_policy_scores_what_the_kernels_say(rows, measures, rules, data):
    table = pa.table(
        dict(zip(("age", "sex", "drug", "ill", "who"), zip(*rows, strict=True), strict=True))
    )
    space = PolicySpace.of(
        table,
        quasi=["age", "sex"],
        subject="who",
        sensitive=["drug"],
        constraints=Constraints(**rules),
        **measures,
    )
    bits = np.array(
        data.draw(st.lists(st.booleans(), min_size=space.n_bits, max_size=space.n_bits))
    )
    policy, evaluator = space.policy(bits), space.evaluator
    found, scores = score_policy(space, policy), evaluator.scores(bits[None])
    figures = evaluator.figures(bits[None])
    own = (found.risk, found.loss, found.suppressed, found.matches, *found.losses.values())
    parts = (figures.expected_matches, figures.distribution, figures.resolution, figures.ncp)
    kernels = (scores.risk, scores.loss, scores.suppressed, *parts)
    assert own == pytest.approx([float(one[0]) for one in kernels], abs=1e-9)
    feasible = evaluator.feasible(bits[None], scores)[0]
    assert space.is_feasible(policy, found.suppressed) == feasible
    assert space.matches == evaluator.matches
