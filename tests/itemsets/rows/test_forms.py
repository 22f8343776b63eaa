"""Each form reads its column as features, and writes the column with those alone."""

from __future__ import annotations

import numpy as np
import pandas as pd
import pyarrow as pa

from voile.itemsets.rows.forms import (
    BinaryForm,
    CategoriesForm,
    IntervalsForm,
    ItemsForm,
    WordsForm,
)
from voile.itemsets.rows.incidence import number_values
from voile.itemsets.rows.labels import unlike


def test_0_and_1_are_the_columns_own_feature_and_2_cannot_be_read():
    form = BinaryForm("fever", ("",))
    assert form.features == ("fever",)
    assert form.cells(pa.array(["0", "1", "2"])).lost.tolist() == [False, False, True]


def test_a_category_that_is_not_published_is_null():
    form = CategoriesForm("race", ("Black", "White"))
    cells = form.cells(pa.array(["White", None, "Black"]))
    assert form.write_column(cells.only(np.array([False, True]))).to_pylist() == [
        "White",
        None,
        None,
    ]


def test_a_cut_belongs_to_the_interval_above_it():
    form = IntervalsForm.between("age", (30, 45))
    assert form.values == ("below 30", "30 to below 45", "45 and above")
    assert form.cells(pa.array([29, 30, None, 99])).code.tolist() == [0, 1, 2]


def test_words_and_items_are_released_once_in_one_order():
    form = WordsForm("note", ("fever", "no"))
    cells = form.cells(pa.array(["No fever, no cough"]))
    assert form.write_column(cells).to_pylist() == ["fever no"]
    items = ItemsForm("items", ("3", "39"), "int64")
    assert items.write_column(items.cells(pa.array([[39, 3, 39], [8]]))).to_pylist() == [
        [3, 39],
        [],
    ]


def test_missing_labels_and_pairs_of_unlike_ones_are_counted():
    for values in (["a", None, float("nan")], [7, None, float("nan")], ["\ud800", None, pd.NA]):
        assert number_values(np.array(values, dtype=object))[1].tolist() == [1, 2]
    assert unlike(np.array([[2, 1], [0, 3]])).tolist() == [2, 0]


def test_values_are_numbered_in_the_order_of_their_texts_whatever_they_are():
    for values in (["b", "a", "b\u00df"], [2, "10", 3.5], [b"b", b"a", b"c"]):
        many = np.array(values * 2, dtype=object)
        number, absent = number_values(many)
        twin = np.unique(many.astype(str), return_inverse=True)[1]
        assert number.tolist() == twin.tolist()
        assert not len(absent)
