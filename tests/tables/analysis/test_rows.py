"""What a model reads of a source: whole people, known outcomes, columns kept as they are."""

from __future__ import annotations

import numpy as np
import pyarrow as pa
import pytest
from tests.tables.analysis.patients import MODEL, read, table

from voile.core.errors import RequestError
from voile.tables.analysis import rows as rows_module
from voile.tables.analysis.model import LinearModel


def test_the_source_gives_back_what_made_it():
    _, rows = read(table(20_000))
    found = rows.fit_source()
    assert found.terms[:2] == ("dose", "age")
    truth = np.array([1.0, 0.1])
    assert np.all((found.low[:2] < truth) & (truth < found.high[:2]))


def test_a_release_of_one_group_leaves_what_it_keeps():
    space, rows = read(table())
    first = np.zeros_like(rows.codes)
    last = np.broadcast_to(np.array([len(d) - 1 for d in space.domains], np.int32), first.shape)
    found = rows.fit_release(first, last, np.ones(len(first), np.bool_))
    assert np.isnan(found.value).tolist() == [False, True, True]


def test_rows_without_an_outcome_or_a_kept_value_are_left_out():
    whole = table()
    holes = whole.set_column(4, "sick", pa.array([None, *whole["sick"].to_pylist()[1:]]))
    dose = [*whole["dose"].to_pylist()[:-1], None]
    _, rows = read(holes.set_column(3, "dose", pa.array(dose, pa.float64())))
    assert len(rows.outcome) == len(whole) - 2


def test_people_are_drawn_whole_and_memory_is_bounded(monkeypatch):
    monkeypatch.setattr(rows_module, "MOST_ROWS", 300)
    source = table()
    _, rows = read(source)
    assert 100 <= len(rows.outcome) <= 600
    _, first = np.unique(rows.groups, return_counts=True)
    assert (first % 2 == 0).all()  # each person has two rows


def test_an_outcome_of_one_class_or_of_words_is_refused():
    with pytest.raises(RequestError, match="positive, or none is"):
        read(table(), MODEL.model_copy(update={"positive": "maybe"}))
    with pytest.raises(RequestError, match="is a number"):
        read(table(), LinearModel(outcome="sick", predictors=("age",)))
