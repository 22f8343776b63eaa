"""Side columns on their grids, and frames that depend on them, beside slow twins."""

from __future__ import annotations

from fractions import Fraction

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from voile.core.errors import RequestError
from voile.signals.model.codec.conditional import OCTAVE, UNIT, ConditionalFrame, SideTables
from voile.signals.model.codec.lattice import ValueLattice
from voile.signals.model.codec.place import ReadingPlace
from voile.signals.model.codec.side import NameLevels, NumberGrid, read_levels
from voile.signals.model.codec.steps import AffineMap

AGE = NumberGrid(ValueLattice(1, 1), first=2, width=3, nodes=6)
SEX = NameLevels(np.array(["f", "m"]))
TERMS = [(0, -1), (1, -1), (0, 1)]


def frame(seed, d=2, columns=(AGE, SEX), terms=TERMS):
    rng = np.random.default_rng(seed)
    sizes = [columns[a].levels * (columns[b].levels if b >= 0 else 1) for a, b in terms]
    tables = [rng.integers(-(2**20), 2**20, (d * (d + 2), size)).astype(float) for size in sizes]
    for table in tables:
        table[d : 2 * d] = rng.integers(-200, 200, (d, table.shape[1]))
    order = rng.permutation(d).astype(np.int64)
    return ConditionalFrame.of(order, SideTables.of(columns, terms, tables))


def twin(step, cells):
    """Sum the tables for one row, cell by cell, in fractions."""

    def corners(column, cell):
        if isinstance(column, NameLevels):
            level = column.read_levels(np.array([cell], dtype=object), ReadingPlace())[0]
            return [(int(level[0]), Fraction(1))]
        if cell is None:
            return [(column.nodes, Fraction(1))]
        at = Fraction(min(max(int(cell) - column.first, 0), (column.nodes - 1) * column.width))
        left = int(at // column.width)
        share = at / column.width - left
        return [(left, 1 - share), *([(left + 1, share)] if share else [])]

    columns, first = (AGE, SEX), 0
    total = [0] * len(step.tables)
    for (a, b), size in zip(step.terms.tolist(), step.side.cells, strict=True):
        m = columns[b].levels if b >= 0 else 1
        others = corners(columns[b], cells[b]) if b >= 0 else [(0, Fraction(1))]
        for row, table in enumerate(step.tables[:, first : first + size].tolist()):
            parts = [
                x * y * table[i * m + j]
                for i, x in corners(columns[a], cells[a])
                for j, y in others
            ]
            total[row] += sum(parts) // 1
        first += size
    return total


CELLS = st.tuples(
    st.one_of(st.none(), st.integers(-5, 40)), st.sampled_from(["f", "m", "other", None, ""])
)


@given(st.integers(0, 50), st.lists(CELLS, min_size=1, max_size=5))
@settings(max_examples=60, deadline=None)
def test_tables_are_read_as_fractions_rounded_down(seed, cells):
    step = frame(seed)
    levels = read_levels(np.array(cells, dtype=object).reshape(-1, 2), (AGE, SEX), len(cells))
    read = step.side.look_up_sums(levels)
    for row, one in enumerate(cells):
        assert read[:, row].tolist() == twin(step, one)


@given(st.integers(0, 50), st.floats(0, 1))
@settings(max_examples=40, deadline=None)
def test_a_frame_is_undone_row_by_row(seed, strength):
    step = frame(seed, d=3).towards(AffineMap(np.eye(3), np.ones(3)), strength)
    cells = np.array([[3, "f"], [None, "m"], [17, None], [9, "unseen"]], dtype=object)
    rows = step.at(read_levels(cells, (AGE, SEX), 4))
    W = np.random.default_rng(seed).normal(size=(3, 4))
    assert np.allclose(rows.inverse(rows.forward(W)), W, atol=1e-9)
    turned = step.turn().at(read_levels(cells, (AGE, SEX), 4))
    assert np.array_equal(turned.inverse(W), rows.forward(W))


def test_a_spread_is_a_power_of_two_in_256_steps():
    step = frame(0, d=1, columns=(SEX,), terms=[(0, -1)])
    tables = np.zeros_like(step.tables)
    tables[1] = [0, OCTAVE, -OCTAVE, 128]  # f, m, others, missing
    tables[0] = 1 / UNIT
    step = ConditionalFrame.of(step.order, SideTables.of((SEX,), [(0, -1)], [tables.astype(float)]))
    rows = step.at(read_levels(np.array(["f", "m", "x", None], dtype=object), (SEX,), 4))
    assert np.allclose(rows.forward(np.ones((1, 4))), [[2, 3, 1.5, 1 + 2**0.5]])


def test_missing_unseen_and_beyond_have_levels():
    age, share, exact = AGE.read_levels(
        np.array([None, np.nan, "", 1, 3, 99], dtype=object), ReadingPlace()
    )
    assert age.tolist() == [6, 6, 6, 0, 0, 5]
    assert share.tolist() == [0, 0, 0, 0, 1, 0]
    assert exact[3:].tolist() == [1, 3, 99]  # of relations, also beyond the grid
    assert np.isnan(exact[:3]).all()
    assert SEX.read_levels(np.array(["f", "x", None], dtype=object), ReadingPlace())[
        0
    ].tolist() == [0, 2, 3]


@pytest.mark.parametrize(
    ("known", "said"),
    [
        (None, "takes 2 side columns, and none are given"),
        (np.array([[3.0], [4.0]]), "takes 2 side columns, and 1 are given"),
        (np.array([[3.0, 1.0]]), "2 readings and 1 rows"),
        (np.array([["x", "f"], ["3", "f"]], dtype=object), "numbers holds text"),
        (np.array([[3.5, "f"], [3, "f"]], dtype=object), "contradict the resolution"),
        (np.array([[np.inf, "f"], [3, "f"]], dtype=object), "infinite"),
    ],
)
def test_other_side_columns_are_refused(known, said):
    with pytest.raises(RequestError, match=said):
        read_levels(known, (AGE, SEX), 2)


def test_damaged_tables_are_refused():
    step = frame(1)
    arrays = step.to_arrays()
    for name, wrong in (
        ("tables", step.tables[:, :-1]),
        ("ladder", np.zeros_like(step.ladder)),
        ("order", np.array([0, 0])),
        ("terms", step.terms + 5),
    ):
        with pytest.raises((ValueError, IndexError)):
            ConditionalFrame(**{**arrays, name: wrong})
