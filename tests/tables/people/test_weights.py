"""A survey's weights are its population: sums by group, of subjects, never released."""

from __future__ import annotations

import numpy as np
import pyarrow as pa
import pytest

import voile.tables
from voile.core.errors import RequestError
from voile.tables.fitting.space import PolicySpace

ROLES = {"age": "quasi", "sex": "quasi", "w": "weight"}


def survey(weights=(10.5, 20.0, 0.0, 3.0, 7.5, 4.0)):
    return pa.table({"age": [30, 30, 31, 31, 40, 40], "sex": list("fmfmff"), "w": weights})


def space_of(table, **given):
    return PolicySpace.of(table, None, ["age", "sex"], weight="w", **given)


def test_people_of_a_group_are_the_sum_of_its_weights():
    space = space_of(survey())
    _, classes, _ = space.groups(space.policy(space.bottom))
    assert classes.sample.tolist() == [1, 1, 1, 1, 2]
    assert classes.population.tolist() == [10.5, 20, 0, 3, 11.5]
    figures = space.disclosure(space.policy(space.bottom))
    assert figures["expected_matches"] == pytest.approx(1 / 10.5 + 1 / 20 + 1 + 1 / 3 + 2 / 11.5)
    assert figures["k"] == 1  # people in the data, not weights
    assert not space.population.known
    assert space.population.how == "estimated as the sums of sampling weights, column w"


def test_a_subject_of_several_rows_weighs_once():
    twice = pa.concat_tables([survey(), survey()])
    who = pa.array([*range(6), *range(6)])
    one, other = space_of(survey()), space_of(twice.append_column("who", who), subject="who")
    assert np.array_equal(one.counts.population, other.counts.population)
    moved = twice.set_column(0, "age", pa.array([30, 30, 31, 31, 40, 40, 31, 30, 31, 31, 40, 40]))
    spread = space_of(moved.append_column("who", who), subject="who")
    assert spread.counts.population.sum() == one.counts.population.sum() == 45
    assert 5.25 in spread.counts.population


@pytest.mark.parametrize(
    ("weights", "said"),
    [
        (
            [1.0, -2.0, 1, 1, 1, 1],
            "column w: weights are negative, missing or not numbers",
        ),
        ([1.0, None, 1, 1, 1, -1], "not numbers, as in rows 2 and 6; give each row"),
        (["1", "7.5", "x", "1", "1", "1"], "not numbers, as in row 3"),
        ([1.0, 1, 1, 1, 1, float("inf")], "not numbers, as in row 6"),
        ([0, 0, 0, 0, 0, 0], "column w: all weights are 0"),
    ],
)
def test_weights_that_are_none_are_refused(weights, said):
    with pytest.raises(RequestError) as caught:
        voile.tables.fit(survey(weights), roles=ROLES)
    assert said in str(caught.value)
    assert "-2" not in str(caught.value)


def test_one_weight_a_subject_one_column_of_weights_and_no_fraction_beside():
    table = survey().append_column("who", pa.array([1, 1, 2, 3, 4, 5]))
    with pytest.raises(RequestError, match="column w: 1 subject has several weights"):
        space_of(table, subject="who")
    with pytest.raises(RequestError, match="columns sex and w have the role weight"):
        voile.tables.fit(survey(), roles={"age": "quasi", "sex": "weight", "w": "weight"})
    with pytest.raises(RequestError, match="weights and a sampling fraction are both given"):
        voile.tables.fit(survey(), roles=ROLES, fraction=0.1)


@pytest.mark.parametrize("family", ["tree", "global"])
def test_weights_count_in_both_families_and_never_leave(tmp_path, family):
    kit = voile.tables.fit(survey(), roles=ROLES, family=family, max_risk=0.1)
    release = kit.apply(kit.choose(least_loss=True), survey(), tmp_path / "out.csv")
    assert release.rows().read().column_names == ["age", "sex"]
    assert release.private["figures"]["max_risk"] <= 0.1
    assert release.private["figures"]["k"] < 10


def test_a_population_table_comes_before_weights():
    people = pa.table({"age": [30, 30, 31, 31, 40], "sex": list("fmfmf"), "people": [9] * 5})
    space = PolicySpace.of(survey(), people, ["age", "sex"], weight="w")
    assert space.population.known
    assert space.counts.population.tolist() == [9] * 5
