"""Boxes of sets are counted, and rows matched, as trying every pair does."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from voile.core.errors import RequestError
from voile.tables.attack.records import IntervalRecords
from voile.tables.foreign import matching
from voile.tables.foreign.boxes import fits, people_in
from voile.tables.foreign.matching import match_rows
from voile.tables.foreign.overlap import count_fitting, link_by_fit


def random_boxes(seed, *, rows=8, people=30):
    """Make cells, boxes and values at random: two columns of four and three values."""
    rng = np.random.default_rng(seed)
    holds = [rng.random((3, size)) < 0.5 for size in (4, 3)]
    boxes = rng.integers(0, 3, (rows, 2)).astype(np.int32)
    values = np.column_stack([rng.integers(-1, size + 1, people) for size in (4, 3)])
    return rng, holds, boxes, values.astype(np.int32)


def fits_naively(holds, box, value):
    return all(
        v == -1 or (v < held.shape[1] and held[b, v])
        for held, b, v in zip(holds, box, value, strict=True)
    )


@given(st.integers(0, 10_000))
def test_people_who_fit_are_counted_as_one_by_one(seed):
    rng, holds, boxes, values = random_boxes(seed)
    naive = np.array([[fits_naively(holds, b, v) for v in values] for b in boxes])
    found = np.hstack([fit for _, fit in fits(holds, boxes, values)])
    assert (found == naive).all()
    people = rng.integers(0, 9, len(values)).astype(float)
    assert np.allclose(people_in(holds, boxes, values, people), naive @ people)
    subject = rng.integers(0, 20, len(values)).astype(np.int64)
    counted = count_fitting(holds)(boxes, IntervalRecords(values, subject))
    for own, count in zip(naive, counted, strict=True):
        assert len(set(subject[own].tolist())) == count


@settings(max_examples=200)
@given(st.integers(0, 10_000), st.integers(0, 3))
def test_rows_are_matched_one_to_one_to_rows_that_fit(seed, kinds):
    """Released rows are generalised from rows drawn; a matching of all of them exists."""
    rng = np.random.default_rng(seed)
    holds = [rng.random((5, size)) < 0.5 for size in (4, 3)]
    for held in holds:
        held[-1] = True  # a suppressed cell
    original = np.column_stack([rng.integers(0, size, 20) for size in (4, 3)]).astype(np.int32)
    own = rng.integers(0, kinds + 1, 20)
    drawn = rng.permutation(20)[:15]
    released = np.column_stack(
        [
            [rng.choice(np.flatnonzero(held[:, v])) for v in column]
            for held, column in zip(holds, original[drawn].T, strict=True)
        ]
    ).astype(np.int32)
    rows = match_rows(holds, released, original, (own[drawn], own), rng)
    assert len(set(rows.tolist())) == len(rows) == 15
    for box, row, kind in zip(released, rows, own[drawn], strict=True):
        assert fits_naively(holds, box, original[row])
        assert own[row] == kind


def test_rows_for_which_none_is_left_are_not_matched():
    holds = [np.array([[True, False], [False, True]])]
    rng = np.random.default_rng(0)
    released = np.array([[0], [0], [1]], dtype=np.int32)
    original = np.array([[0], [1], [1]], dtype=np.int32)
    alike = np.zeros(3, dtype=np.int64)
    rows = match_rows(holds, released, original, (alike, alike), rng)
    assert sorted(rows[:2].tolist())[0] == -1
    assert rows[2] in (1, 2)


def test_too_many_pairs_ask_for_a_key(monkeypatch):
    monkeypatch.setattr(matching, "MOST_PAIRS", 3)
    codes = np.arange(4, dtype=np.int32)[:, None]
    alike = np.zeros(4, dtype=np.int64)
    everything = [np.ones((4, 4), dtype=np.bool_)]
    with pytest.raises(RequestError, match=r"more than 3 pairs of rows fit .* give --key"):
        match_rows(everything, codes, codes, (alike, alike), np.random.default_rng(0))


def test_one_of_those_who_fit_is_named():
    """Three entries fit the first row, the own among them; one the second; none the third."""
    holds = [np.array([[True, True, False], [False, False, True], [False, False, False]])]
    release = IntervalRecords(np.array([[0], [1], [2]], dtype=np.int32), np.array([0, 1, 2]))
    register = IntervalRecords(
        np.array([[0], [1], [1], [2]], dtype=np.int32), np.array([0, 5, 6, 1])
    )
    found = link_by_fit(
        holds,
        release,
        register,
        columns=["age"],
        rng=np.random.default_rng(1),
        thresholds=(0.0, 0.5),
    )
    always, people, strangers, sure, *_ = found.findings
    assert always.rate.trials == 2
    assert people.rate.trials == 2
    assert strangers.rate.trials == 1
    assert (sure.rate.successes, sure.rate.trials) == (1, 1)
