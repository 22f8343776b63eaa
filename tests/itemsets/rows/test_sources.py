"""What a source becomes as rows of features, for each shape it may come in."""

from __future__ import annotations

import numpy as np
import pyarrow as pa
import pytest
from hypothesis import given
from hypothesis import strategies as st

from voile.core.errors import RequestError
from voile.data import open_source
from voile.data.hold_out import HoldOut
from voile.data.roles import Roles
from voile.itemsets.rows.forms import BinaryForm, CategoriesForm, IntervalsForm, WordsForm
from voile.itemsets.rows.sources import RowReader
from voile.itemsets.rows.stored import form_of, released_form


def read(columns, table, *, subject=None, without_label="refuse", share=0.0):
    roles = Roles.model_validate({"columns": columns, "subject": subject})
    reading = RowReader(roles, HoldOut(share, b"key", subject), without_label)
    source = open_source(pa.table(table))
    reading.check(source)
    return reading.read_rows(source, reading.learn(source))


def held(rows):
    """Give the features of each row, in the source's order."""
    x = rows.incidence
    return [
        {x.features[i] for i in x.items[slice(*x.starts[p : p + 2])]}
        for p in x.pattern[np.argsort(rows.number)]
    ]


def test_every_kind_of_column_gives_its_features():
    rows = read(
        {
            "fever": "items",
            "sick": "items",
            "area": "items",
            "age": {"role": "items", "cuts": [30, 45]},
            "note": {"role": "items", "as": "words"},
            "bought": "items",
        },
        {
            "fever": ["1", "0", "true"],
            "sick": [False, True, False],
            "area": ["north", None, "south"],
            "age": [29, 30, None],
            "note": ["No fever, no", "", None],
            "bought": pa.array([[3, 3, 12], [], None], pa.list_(pa.int64())),
        },
    )
    assert held(rows) == [
        {
            "fever", "area=north", "age=below 30", "note=no", "note=fever",
            "bought=3", "bought=12",
        },
        {"sick", "age=30 to below 45"},
        {"fever", "area=south"},
    ]  # fmt: skip


def test_quantiles_cut_numbers_into_equal_parts():
    rows = read({"pay": {"role": "items", "quantiles": 4}}, {"pay": list(range(100))})
    assert rows.incidence.supports.tolist() == [24, 25, 25, 26]


@pytest.mark.parametrize(
    ("columns", "table", "said"),
    [
        ({"a": "items"}, {"a": [0, 2, 3, 1]}, "row 2, column a: 2 cells hold a value other than"),
        ({"a": "items"}, {"a": [0.0, float("nan")]}, "row 2, column a: 1 cell holds"),
        ({"a": "items"}, {"a": [0, None]}, "row 2, column a"),
        ({"a": {"role": "items", "cuts": [1]}}, {"a": ["5", "x"]}, "row 2, column a: 1 cell holds"),
        ({"a": {"role": "items", "cuts": [2, 1]}}, {"a": [1]}, "cuts do not rise"),
        ({"a": {"role": "items", "cats": 3}}, {"a": [1]}, "column a: cats"),
        ({"a": {"role": "items", "as": "words"}}, {"a": [1]}, "cannot be read as words"),
        ({"a": "items", "y": "label"}, {"a": [1, 0], "y": ["p", None]}, "row 2, column y"),
        ({"a": "items", "z": "quasi"}, {"a": [1, 0], "z": [1, 2]}, "column z has the role quasi"),
        ({"a": "keep"}, {"a": [1, 0]}, "no column has the role items"),
        ({"a": "items"}, {"a": pa.array([], pa.int64())}, "there are no rows to learn from"),
    ],
)
def test_what_cannot_be_read_is_refused_by_its_place(columns, table, said):
    with pytest.raises(RequestError, match=said):
        read(columns, table)


def test_rows_without_a_label_are_left_out_when_asked():
    table = {"a": [1, 0, 1], "y": ["p", None, "q"]}
    rows = read({"a": "items", "y": "label"}, table, without_label="drop")
    assert sorted(rows.number.tolist()) == [0, 2]
    assert sorted(rows.labels.tolist()) == ["p", "q"]


def test_rows_of_one_subject_are_one_person_and_nobodys_row_is_its_own():
    table = {"who": ["x", "x", None, None], "a": [1, 1, 1, 1]}
    rows = read({"who": "identifier", "a": "items"}, table, subject="who")
    assert rows.incidence.n_subjects == 3


@given(st.data())
def test_the_order_of_rows_changes_nothing(data):
    """Neither the rows' order, nor the labels' and the subjects' beside them."""
    cells = st.tuples(*[st.integers(0, 1)] * 3, st.sampled_from("pq"), st.sampled_from("uvw"))
    bits = data.draw(st.lists(cells, min_size=1, max_size=12))
    other = data.draw(st.permutations(bits))
    roles = {**dict.fromkeys("abc", "items"), "y": "label", "who": "identifier"}
    names = ["a", "b", "c", "y", "who"]
    first, second = (
        read(roles, dict(zip(names, zip(*rows, strict=True), strict=True)), subject="who")
        for rows in (bits, other)
    )
    one, two = first.incidence, second.incidence
    assert one.items.tolist() == two.items.tolist()
    assert one.pattern.tolist() == two.pattern.tolist()
    assert first.labels.tolist() == second.labels.tolist()
    for rows, source in ((first, bits), (second, other)):
        assert rows.labels.tolist() == [source[x][3] for x in rows.number]
    people = [
        [source[x][4] for x in rows.number] for rows, source in ((first, bits), (second, other))
    ]
    assert people[0] == people[1]


texts = st.lists(st.one_of(st.none(), st.text("ab c,.É1", max_size=8)), min_size=1, max_size=8)


@given(texts, st.data())
def test_a_released_column_reads_back_as_what_was_kept(cells, data):
    """Round trip: the features of the column as written are those kept of the column as read."""
    array = pa.array(cells, pa.string())
    words = sorted({w for c in cells if c for w in "".join(
        x if x.isalnum() else " " for x in c.lower()).split()})  # fmt: skip
    values = sorted({c for c in cells if c is not None})
    for form in (WordsForm("t", tuple(words)), CategoriesForm("t", tuple(values))):
        kept = np.array([data.draw(st.booleans()) for _ in form.values], dtype=bool)
        cells_kept = form.cells(array).only(kept)
        again = released_form(form.to_data(kept)).cells(form.write_column(cells_kept))
        names = [v for v, k in zip(form.values, kept, strict=True) if k]
        assert [names[c] for c in again.code] == [form.values[c] for c in cells_kept.code]
        assert again.row.tolist() == cells_kept.row.tolist()
        if isinstance(form, WordsForm):
            naive = [
                {w for w in words if w in "".join(
                    x if x.isalnum() else " " for x in (c or "").lower()).split()}
                for c in cells
            ]  # fmt: skip
            found = form.cells(array)
            pairs = {(r, words[w]) for r, w in zip(found.row, found.code, strict=True)}
            assert pairs == {(r, w) for r, has in enumerate(naive) for w in has}


def test_intervals_are_released_by_name_and_read_back():
    form = form_of(IntervalsForm.between("age", (30.0, 45.5)).to_data())
    cells = form.cells(pa.array(["29.9", "30", " 1e2", None]))
    shown = form.write_column(cells.only(np.array([True, False, True])))
    assert shown.to_pylist() == ["below 30", None, "45.5 and above", None]
    back = released_form(form.to_data(np.array([True, False, True])))
    assert back.cells(shown).code.tolist() == [0, 1]


def test_a_column_of_zeros_and_ones_is_spelt_one_way():
    form = BinaryForm("a", ("",))
    shown = form.write_column(form.cells(pa.array(["TRUE", "0", "false", "1"])))
    assert shown.to_pylist() == [1, 0, 0, 1]
