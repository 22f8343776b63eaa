from collections import Counter
from itertools import product

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from voile.core.errors import RequestError
from voile.tables.attack.records import IntervalRecords
from voile.tables.attack.singling_out import (
    ALL_ROWS,
    drawn_from_margins,
    fitting,
    singling_out,
    uniques,
)

COLUMNS = ("age", "sex", "race", "zip")
TRUE, GENERAL = (1, 1, 1, 1), (100, 2, 5, 50)


def records(rows, subject):
    return IntervalRecords(np.array(rows, dtype=np.int32), np.array(subject, dtype=np.int64))


rows_of_people = st.lists(
    st.tuples(st.tuples(st.integers(-1, 2), st.integers(0, 2)), st.integers(0, 5)),
    min_size=1,
    max_size=15,
)


@settings(deadline=None)
@given(rows_of_people, rows_of_people)
def test_predicates_and_their_fits_equal_the_naive_ones(released, everybody):
    release = records([r for r, _ in released], [s for _, s in released])
    people = records([r for r, _ in everybody], [s for _, s in everybody])
    predicates, owner = uniques(release)
    naive = {}
    for combination in product([-1, 0, 1, 2], [0, 1, 2]):
        who = {s for r, s in released if r == combination}
        if len(who) == 1:
            naive[combination] = who.pop()
    assert dict(zip(map(tuple, predicates), owner, strict=True)) == naive
    fits = [len({s for r, s in everybody if r == tuple(p)}) for p in predicates]
    assert fitting(predicates, people).tolist() == fits


def test_baseline_predicates_are_as_rare_as_hers(county):
    release = county.records(county.people, county.released, TRUE)
    predicates, _ = uniques(release)
    random = drawn_from_margins(predicates, release, np.random.default_rng(0))

    def weight(rows):
        shares = [np.mean(release.codes[:, j] == rows[:, j, None], axis=1) for j in range(4)]
        return np.log(shares).sum(axis=0)

    assert random.shape == predicates.shape
    assert np.abs(weight(random) - weight(predicates)).mean() < 0.01
    assert len(np.unique(random, axis=0)) > len(random) / 2


def run(county, widths, seed=0, **more):
    everybody = np.arange(len(county.people))
    return singling_out(
        county.records(county.people, county.released, widths),
        county.records(county.people, everybody, widths),
        columns=COLUMNS,
        rng=np.random.default_rng(seed),
        held_out=county.records(county.people, county.held_out, widths),
        **more,
    )


def test_no_protection_singles_out_more_than_chance_and_control(county):
    population, group, unique = run(county, TRUE).findings
    assert population.rate.interval()[0] > population.baseline.interval()[1]
    assert group.rate.interval()[0] > group.control.interval()[1]
    assert unique.rate.trials == len(county.released)
    naive = Counter(map(tuple, county.people.tolist()))
    once = {c for c in map(tuple, county.people[county.released].tolist()) if naive[c] == 1}
    assert population.rate.successes == len(once)


def test_the_control_is_as_large_as_the_group_it_is_compared_with():
    release, others = records([[0], [1]], [0, 1]), records([[0], [1], [2], [3]], [4, 5, 6, 7])
    for held_out in (others, others.select(np.array([0]))):
        group = singling_out(
            release, others, columns=("a",), rng=np.random.default_rng(0), held_out=held_out
        ).findings[1]
        assert group.rate.successes == min(2, len(held_out))
        assert group.rate.trials == group.control.trials == 2


def test_full_protection_singles_out_nobody(county):
    for finding in run(county, GENERAL).findings:
        assert finding.rate.successes == 0


def test_kept_columns_make_everybody_unique(county):
    kept = np.arange(len(county.released), dtype=np.int32)[:, None]
    *_, without, known = run(county, GENERAL, kept=kept).findings
    assert without.rate.value == 0
    assert known.rate.value == 1
    with pytest.raises(RequestError, match="rows of kept columns"):
        run(county, GENERAL, kept=kept[1:])


@settings(deadline=None, max_examples=50)
@given(rows_of_people)
def test_pseudonyms_show_who_is_alone_by_all_rows(released):
    release = records([r for r, _ in released], [s for _, s in released])

    def shown(joined):
        found = singling_out(
            release, release, columns=("a", "b"), rng=np.random.default_rng(0), joined=joined
        )
        return {one.quantity: one.rate for one in found.findings}

    rows = {s: frozenset(r for r, own in released if own == s) for _, s in released}
    alike = Counter(rows.values())
    assert ALL_ROWS not in shown(joined=False)
    if max(map(len, rows.values())) == 1:
        assert ALL_ROWS not in shown(joined=True)
        return
    rate = shown(joined=True)[ALL_ROWS]
    assert (rate.successes, rate.trials) == (sum(n == 1 for n in alike.values()), len(rows))


def test_the_seed_decides_the_baseline(county):
    assert run(county, TRUE, 1) == run(county, TRUE, 1)
    assert run(county, TRUE, 1) != run(county, TRUE, 2)


def test_rows_written_twice_change_nothing(county):
    release = county.records(county.people, county.released, TRUE)
    everybody = county.records(county.people, np.arange(len(county.people)), TRUE)
    once, twice = (
        singling_out(part, everybody, columns=COLUMNS, rng=np.random.default_rng(0))
        for part in (release, release.select(np.repeat(np.arange(len(release)), 2)))
    )
    assert once == twice


def test_empty_and_single():
    none = records(np.zeros((0, 1)), [])
    one = records([[4]], [0])
    for release, population, trials, successes in [
        (none, one, 0, 0),
        (one, none, 1, 0),
        (one, one, 1, 1),
        (none, none, 0, 0),
    ]:
        first = singling_out(
            release, population, columns=("a",), rng=np.random.default_rng(0), held_out=none
        ).findings[0]
        assert (first.rate.successes, first.rate.trials) == (successes, trials)


def test_a_missing_value_is_a_value():
    release = records([[-1], [0], [0]], [0, 1, 2])
    assert uniques(release)[1].tolist() == [0]
