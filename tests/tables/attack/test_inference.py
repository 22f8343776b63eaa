import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from voile.core.errors import RequestError
from voile.core.evidence import Rate, difference
from voile.tables.attack.inference import SensitiveRecords, class_of, classes, guess, inference
from voile.tables.attack.records import IntervalRecords

COLUMNS = ("age", "sex", "race", "zip")
TRUE, GENERAL = (1, 1, 1, 1), (100, 2, 5, 50)


def cases(rows, subject, values):
    codes = np.array(rows, dtype=np.int32).reshape(len(subject), len(rows[0]) if rows else 2)
    return SensitiveRecords(
        IntervalRecords(codes, np.array(subject, dtype=np.int64)), np.array(values, dtype=np.int32)
    )


def run(release, held_out=None, seed=0, columns=COLUMNS):
    return inference(
        release,
        columns=columns,
        sensitive="diagnosis",
        rng=np.random.default_rng(seed),
        held_out=held_out,
    )


def county_cases(county, who, widths, values):
    return SensitiveRecords(
        county.records(county.people, who, widths), values[who].astype(np.int32)
    )


def test_values_at_random_are_learnt_only_of_released_people(county):
    values = np.random.default_rng(5).integers(0, 6, len(county.people))
    release = county_cases(county, county.released, TRUE, values)
    control = county_cases(county, county.held_out, TRUE, values)
    right, certain = run(release, control).findings
    assert right.rate.interval()[0] > 0.4
    assert right.control.interval()[0] < 1 / 6 < right.control.interval()[1]
    assert right.baseline.value < 0.25
    assert certain.rate.value > certain.control.value


def test_knowledge_about_groups_is_no_advantage(county):
    """Where the value follows from the age, outsiders are guessed as well as insiders."""
    values = county.people[:, 0] // 20
    widths = (20, 2, 5, 50)
    release = county_cases(county, county.released, widths, values)
    right, certain = run(release, county_cases(county, county.held_out, widths, values)).findings
    assert right.rate.value == right.control.value == 1.0
    assert certain.rate.value == certain.control.value == 1.0
    assert right.advantage
    assert difference(right.rate, right.control)[0] == 0
    assert right.baseline.value < 0.3


def test_most_general_release_is_the_baseline(county):
    values = np.random.default_rng(5).choice(3, len(county.people), p=[0.5, 0.3, 0.2])
    right, certain = run(county_cases(county, county.released, GENERAL, values)).findings
    assert right.rate == right.baseline
    assert certain.rate.successes == 0
    assert right.control is None


def naive_guess(targets, release):
    """For each subject: the chance of a right guess, and whether the value is certain."""
    known = {}
    for code, s, v in zip(
        release.records.codes.tolist(), release.records.subject, release.values, strict=True
    ):
        if v >= 0:
            known.setdefault(tuple(code), set()).add((s, v))
    people = {}
    for code, s, v in zip(
        targets.records.codes.tolist(), targets.records.subject, targets.values, strict=True
    ):
        if v >= 0:
            people.setdefault(s, set()).add((tuple(code), v))
    out = []
    for s in sorted(people):
        mine = min(code for code, _ in people[s])
        own = {v for _, v in people[s]}
        if not known:
            out.append((0.0, False))
            continue
        at = min(
            sorted(known),
            key=lambda c: (sum(a != b for a, b in zip(c, mine, strict=True)), -len(known[c])),
        )
        values = [v for _, v in known[at]]
        top = max(values.count(v) for v in values)
        modes = {v for v in values if values.count(v) == top}
        certain = at == mine and len(set(values)) == 1 and set(values) <= own
        out.append((len(modes & own) / len(modes), certain))
    return out


rows = st.lists(
    st.tuples(
        st.tuples(st.integers(-1, 2), st.integers(0, 2)), st.integers(0, 4), st.integers(-1, 2)
    ),
    max_size=12,
)


@settings(deadline=None)
@given(rows, rows)
def test_guesses_equal_the_naive_ones(released, others):
    release = cases(*([x[i] for x in released] for i in range(3)))
    targets = cases(*([x[i] for x in others] for i in range(3)))
    expected = naive_guess(targets, release)
    found = guess(targets, classes(release))
    assert found.right == pytest.approx([p for p, _ in expected])
    assert found.certain.tolist() == [c for _, c in expected]


def test_an_empty_class_is_answered_by_the_nearest_and_largest():
    release = cases([[0, 0], [1, 1], [1, 1], [5, 5]], [0, 1, 2, 3], [0, 1, 1, 0])
    known = classes(release)
    codes = np.array([[0, 1], [5, 9], [8, 8], [0, 0]], dtype=np.int32)
    assert class_of(codes, known).tolist() == [1, 2, 1, 0]


def test_rows_written_twice_change_nothing(county):
    values = np.random.default_rng(5).integers(0, 6, len(county.people))
    once = county_cases(county, county.released, (5, 1, 1, 4), values)
    rows = np.tile(np.arange(len(once.values)), 2)
    assert run(SensitiveRecords(once.records.select(rows), once.values[rows])) == run(once)


def test_ties_are_broken_by_the_generator():
    release = cases([[0]] * 4000, range(4000), [0, 1] * 2000)
    right = run(release, seed=3, columns=("a",)).findings[0].rate
    assert right.interval()[0] < 0.5 < right.interval()[1]
    assert run(release, seed=3, columns=("a",)).findings[0].rate == right
    assert run(release, seed=4, columns=("a",)).findings[0].rate != right


def test_empty_single_and_missing():
    none = cases([[0]], [0], [-1])
    one = cases([[0]], [0], [2])
    for release, control in [(none, none), (none, one), (one, none), (one, one)]:
        right, certain = run(release, control, columns=("a",)).findings
        assert right.rate == certain.rate == Rate(*(2 * [int(release is one)]))
        assert right.control.trials == int(control is one)
        assert right.control.successes == int(control is one and release is one)


def test_values_must_match_rows():
    with pytest.raises(RequestError, match="2 sensitive values for 1 rows"):
        cases([[0]], [0], [1, 2])


@given(st.integers(0, 30), st.integers(0, 30), st.integers(30, 60), st.integers(30, 60))
def test_difference_of_rates(a, b, n, m):
    value, low, high = difference(Rate(a, n), Rate(b, m))
    assert -1 <= low <= value <= high <= 1
    back = difference(Rate(b, m), Rate(a, n))
    assert back == pytest.approx((-value, -high, -low))
