import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from hypothesis.extra.numpy import arrays

from voile.core.errors import RequestError
from voile.tables.attack.records import IntervalRecords, distinct_pairs, distinct_rows, same_columns


@settings(deadline=None)
@given(
    arrays(
        np.int32,
        st.tuples(st.integers(0, 20), st.integers(0, 3)),
        elements=st.integers(-1, 3) | st.just(2**31 - 2),
    )
)
def test_distinct_rows_equal_a_sorted_set(codes):
    rows, place = distinct_rows(codes)
    assert [tuple(r) for r in rows] == sorted({tuple(r) for r in codes})
    assert (rows[place] == codes).all()


@settings(deadline=None)
@given(st.lists(st.tuples(st.integers(0, 4), st.integers(0, 4))))
def test_distinct_pairs_equal_a_sorted_set(pairs):
    a = np.array([p[0] for p in pairs], dtype=np.int64)
    b = np.array([p[1] for p in pairs], dtype=np.intp)
    assert list(zip(*map(list, distinct_pairs(a, b)), strict=True)) == sorted(set(pairs))


def test_rows_that_do_not_match_are_refused():
    with pytest.raises(RequestError, match="same rows"):
        IntervalRecords(np.zeros((3, 2), dtype=np.int32), np.arange(2))
    with pytest.raises(RequestError, match="row 1, column 0: a code below -1"):
        IntervalRecords(np.array([[0], [-7]], dtype=np.int32), np.arange(2))
    with pytest.raises(RequestError, match="2 columns of codes for 1 column names"):
        same_columns(["age"], None, IntervalRecords(np.zeros((3, 2), dtype=np.int32), np.arange(3)))
