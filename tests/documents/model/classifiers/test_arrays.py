"""Arrays come back as they were, and what is none is refused, without running anything."""

from __future__ import annotations

import pickle

import numpy as np
import pyarrow as pa
import pytest
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.extra import numpy as npst

from voile.core.errors import TamperedError
from voile.documents.model.classifiers.arrays import SCHEMA, from_table, to_table

DTYPES = st.one_of(
    npst.boolean_dtypes(),
    npst.integer_dtypes(endianness="?"),
    npst.unsigned_integer_dtypes(endianness="?"),
    npst.floating_dtypes(endianness="?"),
    npst.unicode_string_dtypes(endianness="?", max_len=5),
)


@given(DTYPES.flatmap(lambda d: npst.arrays(d, npst.array_shapes(min_dims=0, min_side=0))))
def test_an_array_comes_back_as_it_was(array):
    back = from_table(to_table({"a": array, "b": np.zeros(0)}))
    assert list(back) == ["a", "b"]
    assert back["a"].shape == array.shape
    assert back["a"].dtype == array.dtype.newbyteorder("<")
    np.testing.assert_array_equal(back["a"], array)


@pytest.mark.parametrize("order", ["C", "F"])
def test_a_slice_of_an_array_is_stored_alone(order):
    whole = np.asarray(np.arange(60).reshape(6, 10), order=order)
    np.testing.assert_array_equal(
        from_table(to_table({"a": whole[::2, 1:4]}))["a"], whole[::2, 1:4]
    )


@pytest.mark.parametrize(
    "array", [np.array([{}]), np.zeros(2, "M8[s]"), np.zeros(2, "V3"), np.zeros(2, "c8")]
)
def test_objects_and_the_like_are_not_stored(array):
    with pytest.raises(TypeError, match="which kits do not hold"):
        to_table({"a": array})


GOOD = {"name": "a", "dtype": "<i8", "shape": [2], "data": bytes(16)}


class Runs:
    """What would show that it was unpickled."""

    ran = False

    def __reduce__(self):
        return (setattr, (Runs, "ran", True))


@pytest.mark.parametrize(
    "change",
    [
        {"dtype": "|O", "data": pickle.dumps(Runs())},
        {"dtype": "O"},
        {"dtype": "<M8[s]"},
        {"dtype": "|V8"},
        {"dtype": "<c16", "shape": [1]},
        {"dtype": ">i8"},
        {"dtype": "<i8,<i8", "shape": [1]},
        {"dtype": "(2,)<i8", "shape": [1]},
        {"dtype": "<i0"},
        {"dtype": "<U0"},
        {"dtype": "<i3"},
        {"dtype": "<U99999999999"},
        {"dtype": ""},
        {"dtype": None},
        {"shape": [3]},
        {"shape": [1]},
        {"shape": [-1]},
        {"shape": [2**40, 2**40]},
        {"shape": [2**62, 4]},
        {"shape": [0]},
        {"shape": None},
        {"shape": [None]},
        {"data": bytes(15)},
        {"data": b""},
        {"data": None},
        {"name": None},
    ],
)
def test_what_is_no_array_is_refused(change):
    assert from_table(pa.Table.from_pylist([GOOD], SCHEMA))["a"].tolist() == [0, 0]
    with pytest.raises(TamperedError):
        from_table(pa.Table.from_pylist([{**GOOD, **change}], SCHEMA))
    assert not Runs.ran


def test_a_name_twice_is_refused():
    with pytest.raises(TamperedError):
        from_table(pa.Table.from_pylist([GOOD, GOOD], SCHEMA))
