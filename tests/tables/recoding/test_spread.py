"""Intervals cut where runs end: each value is in the piece of its interval and its run."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from tests.tables.recoding.test_boxes import DOMAINS, people, policy_of, publish, raw

from voile.tables.domains.domain import to_ordinal
from voile.tables.domains.parser import CellParser
from voile.tables.recoding.codebook import CodebookEntry, CodedColumn
from voile.tables.recoding.marginals import ColumnMarginal, ReleasedCounts, least_implied
from voile.tables.recoding.published_boxes import PublishedBoxes
from voile.tables.recoding.spread import IntervalSpread


def published(codes, least=3):
    """Publish boxes with marginals, of as few people as `least`."""
    plain = publish(policy_of(codes), codes)
    policy, stands = plain.policy, plain.policy.pruned_tree.leaves
    own = np.bincount(policy.box_of(codes), minlength=policy.n_groups)
    values = [np.bincount(c, minlength=len(d)) for c, d in zip(codes.T, DOMAINS, strict=True)]
    seen = [counts > 0 for counts in values]
    used = np.where(own > 0, stands, -1)
    return PublishedBoxes.of(policy, seen, used, counted=ReleasedCounts(own, values, least))


def spreads(codes):
    shown = published(codes)
    rows = shown.codes_of(codes)
    found = {one.column: one for one in shown.marginals}
    for place, column in enumerate(shown.codebook.columns):
        if column.column in found:
            held = np.bincount(rows[:, place], minlength=len(column.entries)).astype(float)
            marginal = found[column.column]
            yield place, marginal, held, IntervalSpread.of(column, marginal, held)


@settings(max_examples=40, deadline=None)
@given(st.integers(0, 10**6))
def test_a_value_is_in_the_piece_of_its_interval_and_its_run(seed):
    codes = people(seed, 150)
    for _, marginal, _, spread in spreads(codes):
        column = spread.column
        cells = raw(codes).column(column.column)
        runs = replace(column, entries=marginal.runs)
        (a, place), (b, _), (made, _) = (
            one.membership(cells, blank_is_unknown=False) for one in (column, runs, spread.pieces)
        )
        assert (b[:, place].sum(axis=0) == 1).all()
        interval = np.repeat(np.arange(len(column.entries)), np.diff(spread.first))
        for piece, of in enumerate(interval):
            inside = a[of] & made[piece]
            assert (inside == made[piece]).all()  # no further than its interval
            assert (b[:, made[piece]].sum(axis=1) > 0).sum() <= 1  # nor than one run
        for of in range(len(column.entries)):
            parts = made[interval == of].sum(axis=0)
            assert (parts == a[of]).all()  # each value in one of its pieces


@settings(max_examples=40, deadline=None)
@given(st.integers(0, 10**6), st.integers(20, 300), st.integers(2, 12))
def test_by_what_names_say_of_boxes_and_runs_no_small_count_is_implied(seed, rows, least):
    codes = people(seed, rows)
    shown = published(codes, least)
    of = shown.codes_of(codes)
    for marginal in shown.marginals:
        column = shown.codebook.column(marginal.column)
        place = shown.codebook.columns.index(column)
        held = np.bincount(of[:, place], minlength=len(column.entries))
        assert least_implied(column, marginal, held) >= least


@settings(max_examples=40, deadline=None)
@given(st.integers(0, 10**6))
def test_shares_of_pieces_give_runs_their_people(seed):
    codes = people(seed, 150)
    for _, marginal, held, spread in spreads(codes):
        reached = marginal.find_reached(spread.column)
        share = np.zeros(reached.shape)
        share[reached] = spread.share
        assert share.sum(axis=1) == pytest.approx(np.ones(len(held)))
        assert held @ share == pytest.approx(np.array(marginal.people), abs=0.02 * len(codes))


@settings(max_examples=40, deadline=None)
@given(st.integers(0, 10**6))
def test_the_expected_number_is_the_mean_of_its_values_by_weight(seed):
    codes = people(seed, 150)
    for place, _, _, spread in spreads(codes):
        if DOMAINS[place].column != "age":
            continue
        for interval, cell in enumerate(spread.expected_cells.to_pylist()):
            nth = np.arange(spread.sizes[interval])
            values, weights = spread.values(np.full(len(nth), interval, np.int32), nth)
            assert weights.sum() == pytest.approx(1)
            assert cell == pytest.approx(np.dot(values.to_numpy(), weights))


def test_days_are_expected_where_the_runs_have_them():
    parser = CellParser("date")
    whole = CodedColumn(
        "born", ("born",), "date", "day", (), (), (CodebookEntry("any", None, None),)
    )
    early, late = (
        CodebookEntry("before 2000-01-11", None, "2000-01-10"),
        CodebookEntry("2000-01-11 and later", "2000-01-11", None),
    )
    ends = CodebookEntry("", "2000-01-01", "2000-01-20")
    whole = replace(whole, entries=(ends,))
    spread = IntervalSpread.of(
        whole, ColumnMarginal("born", (early, late), (90, 10)), np.array([100.0])
    )
    (day,) = spread.expected_cells.to_pylist()
    first = to_ordinal("2000-01-01", parser)
    assert day.toordinal() + day.hour / 24 == pytest.approx(first + 0.9 * 4.5 + 0.1 * 14.5)


def test_what_is_missing_stays_apart():
    entries = (
        CodebookEntry("30 and over|missing", "30", None, missing=True),
        CodebookEntry("under 30", None, "29"),
    )
    runs = (
        CodebookEntry("under 40", None, "39"),
        CodebookEntry("40 and over", "40", None),
        CodebookEntry("missing", None, None, missing=True),
    )
    column = CodedColumn("age", ("age",), "integer", "day", (), (), entries)
    spread = IntervalSpread.of(
        column, ColumnMarginal("age", runs, (60, 20, 20)), np.array([60.0, 40.0])
    )
    assert spread.first.tolist() == [0, 3, 4]
    values, weights = spread.values(np.zeros(12, np.int32), np.arange(12))
    assert values.to_pylist() == [*range(30, 41), None]
    assert weights[-1] == pytest.approx(1 / 3, rel=1e-5)
    assert weights[:10].sum() == pytest.approx(1 / 3, rel=1e-5)
