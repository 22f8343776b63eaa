"""The space scores policies over subjects, not rows, and says which groups may be released."""

from __future__ import annotations

import numpy as np
import pyarrow as pa
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from voile.core.errors import RequestError
from voile.tables.fitting.space import PolicySpace
from voile.tables.people.counted_boxes import estimate_matches
from voile.tables.people.counts import Constraints
from voile.tables.scoring.group_measures import GroupMeasure

ROWS = st.lists(
    st.tuples(st.integers(0, 5), st.sampled_from(["f", "m", None]), st.none() | st.integers(0, 6)),
    min_size=3,
    max_size=25,
).filter(lambda rows: len({r[0] for r in rows}) > 1 and len({r[1] for r in rows}) > 1)


def table(rows):
    return pa.table(
        {
            "age": pa.array([row[0] for row in rows], pa.int64()),
            "sex": pa.array([row[1] for row in rows], pa.string()),
            "who": pa.array([row[2] for row in rows], pa.int64()),
        }
    )


def drawn(data, space):
    size = space.n_bits
    return np.array(data.draw(st.lists(st.booleans(), min_size=size, max_size=size)))


def space_of(rows, **more):
    return PolicySpace.of(table(rows), quasi=["age", "sex"], **more)


@settings(deadline=None, max_examples=25)
@given(ROWS)
def test_the_ends_score_one_and_nothing(rows):
    space = space_of(rows)
    risk, loss = space.evaluate(np.array([space.top, space.bottom]))
    assert (risk[1], loss[0], loss[1]) == pytest.approx((1, 1, 0), abs=1e-12)
    assert space.n_bits == sum(len(domain) - 1 for domain in space.domains)


@settings(deadline=None, max_examples=25)
@given(ROWS, st.data())
def test_every_row_written_twice_changes_no_risk_where_there_is_a_subject(rows, data):
    once = space_of(rows, subject="who")
    known = [row for row in rows if row[2] is not None]
    twice = space_of(rows + known, subject="who")
    bits = drawn(data, once)
    for own, its in zip(once.evaluate(bits[None]), twice.evaluate(bits[None]), strict=True):
        assert own == pytest.approx(its)
    assert once.disclosure(once.policy(bits)) == pytest.approx(twice.disclosure(twice.policy(bits)))


@settings(deadline=None, max_examples=25)
@given(ROWS)
def test_subjects_are_counted_and_a_row_without_one_is_a_person(rows):
    people = {row[2] for row in rows} - {None}
    nobody = sum(row[2] is None for row in rows)
    assert space_of(rows, subject="who").counts.subjects == pytest.approx(len(people) + nobody)
    assert space_of(rows).counts.subjects == len(rows)


@settings(deadline=None, max_examples=25)
@given(ROWS, st.data())
def test_groups_equal_a_naive_count(rows, data):
    space = space_of(rows, constraints=Constraints(k=2))
    bits = drawn(data, space)
    policy = space.policy(bits)
    naive = {}
    for row in rows:
        key = tuple(
            int(policy.interval_of(d)[d.code(cell)])
            for d, cell in zip(space.domains, row[:2], strict=True)
        )
        naive[key] = naive.get(key, 0) + 1
    groups, classes, kept = space.groups(policy)
    assert dict(zip(map(tuple, groups.tolist()), classes.sample.tolist(), strict=True)) == naive
    assert kept.tolist() == [naive[tuple(g)] >= 2 for g in groups.tolist()]


def test_each_rule_forbids_its_groups():
    sample = pa.table({"x": [0, 0, 1, 1, 2], "ill": ["flu", "flu", "flu", "gout", "flu"]})
    people = pa.table({"x": [0, 1, 2], "people": [20, 4, 20]})

    def allowed(**rules):
        space = PolicySpace.of(
            sample, people, ["x"], sensitive="ill", constraints=Constraints(**rules)
        )
        return space.groups(space.policy(space.bottom))[2].tolist()

    assert allowed() == [True, True, True]
    assert allowed(k=2) == [True, True, False]
    assert allowed(max_risk=0.1) == [True, False, True]
    assert allowed(l_diversity=2) == [False, True, False]


def test_nothing_is_forbidden_where_nothing_is_asked_though_a_subject_is_spread_thin():
    rows = [(0, "f", 1), (1, "m", 1), (2, "f", 2), (2, "f", 3)]
    space = space_of(rows, subject="who")
    policy = space.policy(space.bottom)
    assert space.groups(policy)[2].all()
    assert space.disclosure(policy)["expected_matches"] == pytest.approx(2)
    assert space.disclosure(policy)["mean_risk"] == pytest.approx(2 / 3)


def test_cuts_are_kept_and_dropped_as_the_settings_say():
    sample = pa.table({"age": [0, 1, 2, 3], "sex": ["f", "m", "f", "m"]})

    def space(**settings):
        return PolicySpace.of(sample, quasi=["age", "sex"], settings={"age": settings})

    rules = space(keep_cuts=[1], drop_cuts=[0, "2"]).constraints
    assert rules.required.tolist() == [False, True, False, False]
    assert rules.forbidden.tolist() == [True, False, True, False]
    assert space(keep_cuts="all").constraints.required.tolist() == [True] * 3 + [False]
    assert space().constraints.required is None
    with pytest.raises(RequestError, match="both to keep and to drop"):
        space(keep_cuts=[1], drop_cuts=[1])
    for wrong in (3, 9):
        with pytest.raises(RequestError, match="column age: a cut is asked for after a value"):
            space(keep_cuts=[wrong])


def test_whole_numbers_are_cut_below_multiples_alone():
    sample = pa.table({"age": [8, 9, 10, 12, 15, None], "sex": ["f", "m", "f", "m", "f", "m"]})
    settings = {"age": {"cut_every": 5, "fill": False}}
    rules = PolicySpace.of(sample, quasi=["age", "sex"], settings=settings).constraints
    # between 8 and 9, 9 and 10, 10 and 12, 12 and 15, 15 and null
    assert rules.forbidden.tolist() == [True, False, True, False, False, False]
    with pytest.raises(RequestError, match="column sex: cut_every takes whole numbers"):
        PolicySpace.of(sample, quasi=["age", "sex"], settings={"sex": {"cut_every": 5}})


def test_a_population_is_one_table_several_or_none():
    sample = pa.table({"age": [0, 1, 1], "sex": ["f", "m", "m"]})
    both = pa.table({"age": [0, 1], "sex": ["f", "m"], "n": [10, 20]})
    known = PolicySpace.of(sample, both, ["age", "sex"], people="n")
    assert known.people_by_value("age").tolist() == [10, 20]
    ages = pa.table({"age": [0, 1], "people": [10, 20]})
    sexes = pa.table({"sex": ["f", "m"], "people": [10, 20]})
    margins = PolicySpace.of(
        sample, [ages, sexes], ["age", "sex"], settings={"sex": {"order": "natural"}}
    )
    by_sex = dict(zip(margins.domains[1].values, margins.people_by_value("sex"), strict=True))
    assert by_sex == pytest.approx({"f": 10, "m": 20})
    assert PolicySpace.of(sample, quasi=["age", "sex"]).people_by_value("age").tolist() == [1, 2]


def test_records_that_the_population_lacks_are_refused_or_counted_by_the_sample():
    sample = pa.table({"age": [0, 1, 1]})
    people = pa.table({"age": [0], "people": [10]})
    with pytest.raises(RequestError, match="2 records in 1 groups have no people"):
        PolicySpace.of(sample, people, ["age"])
    space = PolicySpace.of(sample, people, ["age"], population_gap="sample")
    assert space.people_by_value("age").tolist() == [10, 2]


def test_columns_that_are_not_there_are_refused():
    sample = pa.table({"age": [0, 1], "name": ["a", "b"]})
    with pytest.raises(RequestError, match="subject nam is not a column; did you mean name"):
        PolicySpace.of(sample, quasi=["age"], subject="nam")
    with pytest.raises(RequestError, match="sensitive column ill"):
        PolicySpace.of(sample, quasi=["age"], sensitive="ill")


PATIENTS = pa.table(
    {
        "who": [1, 1, 2, 3, 4],
        "age": [30, 30, 30, 31, 32],
        "ill": ["flu", "flu", "flu", None, "cold"],
        "home": ["a", "b", "a", "b", "b"],
    }
)


def test_outcomes_are_counted_by_combination_and_by_subject():
    space = PolicySpace.of(
        PATIENTS,
        pa.table({"age": [29, 30, 31, 32], "people": [5, 9, 9, 9]}),
        quasi=["age"],
        subject="who",
        loss="mutual-information",
        outcomes=["ill", "home"],
    )
    ill, home = space.counts.outcomes
    assert space.counts.sample.tolist() == [0, 2, 1, 1]
    assert [sorted(row) for row in ill.tolist()] == [[0, 0, 0], [0, 0, 2], [0, 0, 1], [0, 0, 1]]
    assert [sorted(row) for row in home.tolist()] == [[0, 0], [0.5, 1.5], [0, 1], [0, 1]]


def test_mutual_information_is_asked_for_by_name():
    space = PolicySpace.of(PATIENTS, quasi=["age"], loss="mutual-information", outcomes=["ill"])
    policies = np.array([[1, 1], [0, 1], [0, 0]], dtype=bool)
    risk, loss = space.evaluate(policies)
    plain = PolicySpace.of(PATIENTS, quasi=["age"])
    # Rows 3, 1, 1 with an illness each: merging the first two loses what tells 3 from 1.
    source = -(0.6 * np.log(0.6) + 0.4 * np.log(0.2))
    left = -(0.8 * np.log(0.8) + 0.2 * np.log(0.2))
    np.testing.assert_allclose(loss, [0, 1 - left / source, 1], atol=1e-12)
    np.testing.assert_allclose(risk, plain.evaluate(policies)[0])


def test_an_error_in_a_measure_names_the_column():
    grows = GroupMeasure(
        "grows", "", "", "", generalising="falls", each=lambda groups: groups.group**2
    )
    space = PolicySpace.of(PATIENTS, quasi=["age"], risk=grows)
    with pytest.raises(RequestError, match=r"grows declares .* when cut \d of age was merged"):
        space.evaluate(space.top[None])


@pytest.mark.parametrize(
    ("more", "says"),
    [
        ({"loss": "mutual-information"}, "needs an outcome column"),
        ({"loss": "mutual-information", "outcomes": ["il"]}, "did you mean ill"),
        ({"loss": "mutual-information", "outcomes": ["age"]}, "is a quasi-identifier as well"),
        ({"outcomes": ["ill"]}, "neither risk nor loss looks at them"),
        ({"loss": "informatin"}, "did you mean information"),
        ({"risk": "information"}, "no risk is called information"),
    ],
)
def test_refuses_measures_and_outcomes(more, says):
    with pytest.raises(RequestError, match=says):
        PolicySpace.of(PATIENTS, quasi=["age"], **more)


def test_refuses_an_outcome_of_too_many_values():
    rows = pa.table({"age": [1, 2] * 60, "id": list(range(120))})
    with pytest.raises(RequestError, match="id has 120 values and at most 100 are counted"):
        PolicySpace.of(rows, quasi=["age"], loss="mutual-information", outcomes=["id"])


@settings(deadline=None, max_examples=25)
@given(ROWS, st.data())
def test_the_distribution_lost_is_the_paper_s_loss_and_the_ends_lose_all_and_nothing(rows, data):
    space = space_of(rows)
    bits = drawn(data, space)
    loss = float(space.evaluate(bits[None])[1][0])
    assert space.losses(space.policy(bits))["distribution"] == pytest.approx(loss, abs=1e-9)
    assert set(space.losses(space.policy(space.bottom)).values()) == {0.0}
    top = space.losses(space.policy(space.top))
    assert (top["resolution"], top["ncp"]) == pytest.approx((1.0, 1.0))


@settings(deadline=None, max_examples=25)
@given(ROWS, st.data())
def test_a_more_general_policy_loses_no_less_of_any_kind(rows, data):
    space = space_of(rows)
    bits, other = drawn(data, space), drawn(data, space)
    finer, coarser = (space.losses(space.policy(one)) for one in (bits, bits & other))
    assert all(finer[name] <= coarser[name] + 1e-9 for name in finer)


def test_a_population_of_some_columns_is_estimated_in_counted_boxes():
    """Groups of 7 and 5 women and of 6 men; 300 women and 100 men are counted."""
    table = pa.table({"sex": ["f"] * 12 + ["m"] * 6, "job": ["a"] * 7 + ["b"] * 5 + ["a"] * 6})
    counted = pa.table({"sex": ["f", "m"], "people": [300, 100]})

    def space(**more):
        return PolicySpace.of(table, counted, ["sex", "job"], **more)

    plain, declared = space(), space(sampled=True)
    assert plain.estimated_matches(plain.policy(plain.bottom)) is None
    assert plain.counts.population.tolist() == plain.counts.sample.tolist()
    assert declared.people_by_value("sex").tolist() == [300, 100]
    assert declared.estimated_matches(declared.policy(declared.bottom)) == estimate_matches(
        np.array([7.0, 5, 6]), np.array([12.0, 12, 6]), np.array([300.0, 300, 100])
    )
    assert declared.estimated_matches(declared.policy(declared.top)) == estimate_matches(
        np.array([18.0]), np.array([18.0]), np.array([400.0])
    )
