"""What boxes say: of made cases as much as can be, and nothing where they look at nobody."""

from __future__ import annotations

import numpy as np
import pytest

from voile.core.evidence import difference
from voile.tables.attack.absences import absences, outside
from voile.tables.attack.downcoding import downcoding
from voile.tables.attack.exact import ExactRows
from voile.tables.attack.faces import faces

RNG = np.random.default_rng(0)


def spans_of(*ends):
    return np.array(ends, np.int64).reshape(len(ends), -1, 2)


def read(box, values, spans, inner=None, seed=0):
    box, values = np.array(box), np.array(values).reshape(len(box), -1)
    inner = np.ones(spans.shape, bool) if inner is None else inner
    columns = [f"column {i}" for i in range(values.shape[1])]
    rng = np.random.default_rng(seed)
    return faces(box, values, spans, inner, columns=columns, rng=rng).findings[0]


def test_boxes_cut_back_to_their_records_publish_least_and_greatest():
    found = read([0, 0, 1, 1], [20, 29, 50, 69], spans_of((20, 29), (50, 69)))
    assert (found.rate.successes, found.rate.trials) == (4, 4)
    assert found.baseline.successes <= 1


def test_boxes_that_end_in_gaps_publish_what_nobody_has():
    values = [22, 23, 24, 25, 26, 27]
    found = read([0] * 6, values, spans_of((20, 29)))
    assert found.rate.successes == 0
    assert read([0] * 6, values, spans_of((20, 29)), seed=1).baseline.trials == 2


def test_ends_that_look_at_nobody_are_a_persons_value_as_often_as_any_other():
    rng = np.random.default_rng(5)
    box = np.repeat(np.arange(2000), 3)
    values = box * 100 + rng.integers(0, 10, len(box))
    found = read(box, values, spans_of(*((100 * b, 100 * b + 9) for b in range(2000))))
    _, low, high = difference(found.rate, found.baseline)
    assert low <= 0 <= high
    assert found.rate.value == pytest.approx(1 - 0.9**3, abs=0.03)


def test_one_value_and_the_ends_of_the_release_are_no_faces():
    inner = np.array([[[True, True]], [[False, True]]])
    assert read([0, 1], [5, 7], spans_of((5, 5), (6, 9)), inner).rate.trials == 1


def test_a_face_is_a_value_of_its_own_box_and_column():
    spans = spans_of((0, 4, 0, 4), (5, 9, 0, 4))
    found = read([0, 1], [[3, 4], [5, 0]], spans)
    assert found.rate.successes == 3  # 4 of the second column; 5, and 0 of the second column


RELEASED = np.array([[0, 0], [1, 1]], np.int32)


def test_people_in_no_released_box_are_proved_absent():
    codes = np.array([[0, 0], [0, 1], [1, 0], [2, 0]], np.int32)
    claimed = outside(codes, RELEASED)
    people, present = np.array([10, 20, 30, 40]), np.array([5, 0, 0, 0])
    apart = np.array([False, False, False, True])
    shown, true = absences(claimed, apart, people, present, columns=["age", "zip"]).findings
    assert (shown.rate.successes, shown.rate.trials) == (90, 100)
    assert shown.baseline.successes == 40
    assert true.rate.value == 1
    assert true.baseline.value == 0.95


def test_a_release_with_room_for_everybody_proves_nobody_absent():
    codes = np.array([[0, 0], [1, 1], [0, -1]], np.int32)
    claimed = outside(codes, RELEASED)
    ones = np.ones(3, int)
    shown, true = absences(claimed, claimed, ones, 0 * ones, columns=["age"]).findings
    assert shown.rate.successes == shown.baseline.successes == 0
    assert true.rate.trials == 0


def test_suppressed_people_make_claims_of_absence_false():
    claimed = outside(np.array([[0, 1]], np.int32), RELEASED)
    found = absences(claimed, claimed, np.array([4]), np.array([1]), columns=["age"])
    assert found.findings[1].rate.value == 0.75


def boxes(places, groups):
    places = np.array(places, np.int32).reshape(len(places), -1)
    return ExactRows(places, np.repeat(np.arange(groups), len(places) // groups))


def test_an_uncut_box_of_many_shares_one_value():
    """Ten people, k = 3: at least six of them have one age; most of the population is 40."""
    people = boxes([30, 30, *[40] * 6, 50, 50] * 8, 8)
    register = boxes([30, 40, 40, 50] * 8, 8)
    [found] = downcoding(
        people, register, np.ones(32, int), least=3, columns=["age"], rng=RNG
    ).findings
    assert (found.rate.successes, found.rate.trials) == (48, 80)
    assert found.baseline.value == 0.5


@pytest.mark.parametrize("least", [6, 4])
def test_a_box_that_k_keeps_whole_or_that_the_population_explains_says_nothing(least):
    """Under twice k; or six of ten would be no more than the population's share."""
    people = boxes([30, 30, *[40] * 6, 50, 50], 1)
    register = boxes([30, 40, 40, 40, 40, 50], 1)
    found = downcoding(people, register, np.ones(6, int), least=least, columns=["age"], rng=RNG)
    assert found.findings[0].rate.trials == 0


def test_a_box_pruned_for_less_risk_misleads_her():
    people = boxes(list(range(30, 40)) * 30, 30)
    register = boxes(list(range(30, 40)) * 30, 30)
    [found] = downcoding(
        people, register, np.ones(300, int), least=2, columns=["age"], rng=RNG
    ).findings
    low, high = found.rate.interval()
    assert low <= found.baseline.value <= high
