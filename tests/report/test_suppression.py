"""No count that is withheld follows from what is shown and the totals."""

from __future__ import annotations

from itertools import product

import pytest
from hypothesis import given
from hypothesis import strategies as st

from voile.report.suppression import FEW, is_few, withheld

SMALL = 3  # counts of 1 and 2 are few here, so that all small tables can be tried
counts = st.sampled_from([0, 1, 5, 10, 11, 12, 40, 500])
tables = st.integers(1, 3).flatmap(
    lambda width: st.lists(st.lists(counts, min_size=width, max_size=width), max_size=7)
)


def sums(rows):
    return [sum(column) for column in zip(*rows, strict=True)]


def fills(totals, rows):
    """Yield every way to fill so many rows with counts that add up to the totals."""
    if rows == 1:
        yield (totals,)
        return
    for first in product(*(range(total + 1) for total in totals)):
        rest = tuple(total - part for total, part in zip(totals, first, strict=True))
        yield from ((first, *more) for more in fills(rest, rows - 1))


@pytest.mark.whole
@pytest.mark.parametrize(("rows", "columns", "most"), [(2, 2, 4), (3, 1, 6), (3, 2, 3), (4, 1, 4)])
def test_of_every_small_table_a_withheld_count_may_be_none_or_all_of_the_rest(rows, columns, most):
    """Whoever knows the shown rows and the totals can fill in the rest in all these ways."""
    for flat in product(range(most + 1), repeat=rows * columns):
        table = [flat[x * columns : (x + 1) * columns] for x in range(rows)]
        hidden = withheld(table, few=SMALL)
        if hidden is None:
            continue
        shown = [row for x, row in enumerate(table) if x not in hidden]
        assert not any(is_few(count, SMALL) for row in shown for count in row)
        rest = tuple(sums([table[x] for x in hidden]))
        ways = list(fills(rest, len(hidden))) if hidden else []
        for place in range(len(hidden)):
            for column, total in enumerate(rest):
                might = {way[place][column] for way in ways}
                assert might == set(range(total + 1))
                assert total == 0 or total >= SMALL


@given(tables)
def test_shown_counts_are_many_and_so_are_the_sums_of_withheld_ones(table):
    hidden = withheld(table)
    if hidden is None:
        return
    assert not any(is_few(n) for x, row in enumerate(table) if x not in hidden for n in row)
    assert len(hidden) != 1
    assert not any(is_few(total) for total in sums([table[x] for x in hidden]))


@given(tables)
def test_a_table_without_few_is_shown_whole(table):
    many = [[0 if count < FEW else count for count in row] for row in table]
    assert withheld(many) == frozenset()


@given(tables)
def test_nothing_can_be_shown_only_where_the_totals_are_few(table):
    if withheld(table) is None:
        assert any(map(is_few, sums(table))) or sum(map(any, table)) < 2


@given(tables, st.sets(st.integers(0, 6)))
def test_what_is_shown_elsewhere_is_never_counted_on(table, public):
    hidden = withheld(table, public=public)
    assert hidden is None or hidden.isdisjoint(public)
