"""Who is held out follows from the key and the person, whatever row or batch they are in."""

from __future__ import annotations

import numpy as np
import pyarrow as pa
import pytest

from voile.data import open_source
from voile.data.hold_out import HoldOut, TrainingSource
from voile.engines.counting import count_combinations

PEOPLE = pa.table({"who": [str(i // 2) for i in range(4000)], "age": [i % 7 for i in range(4000)]})


def held(hold_out, table, batch_rows):
    found, first = [], 0
    for batch in table.to_batches(max_chunksize=batch_rows):
        found.append(hold_out.find_held(batch, first))
        first += len(batch)
    return np.concatenate(found)


@pytest.mark.parametrize("subject", ["who", None])
def test_the_share_is_drawn_whatever_the_batches(subject):
    hold_out = HoldOut(0.25, bytes(32), subject)
    found = held(hold_out, PEOPLE, 4000)
    assert 0.2 < found.mean() < 0.3
    assert held(hold_out, PEOPLE, 7).tolist() == found.tolist()
    assert held(HoldOut(0.25, b"1" * 32, subject), PEOPLE, 4000).tolist() != found.tolist()


def test_all_rows_of_a_person_are_held_out_together():
    found = held(HoldOut(0.25, bytes(32), "who"), PEOPLE, 99)
    assert (found[::2] == found[1::2]).all()
    alone = held(HoldOut(0.25, bytes(32), None), PEOPLE, 99)
    assert (alone[::2] != alone[1::2]).any()


def test_a_larger_share_holds_the_same_people_and_more():
    some, more = (held(HoldOut(share, bytes(32), "who"), PEOPLE, 99) for share in (0.1, 0.4))
    assert some.sum() < more.sum()
    assert not (some & ~more).any()


def test_nobody_is_held_out_without_a_share_or_a_name():
    assert not held(HoldOut(0.0, bytes(32), "who"), PEOPLE, 99).any()
    nameless = pa.table({"who": pa.array([None] * 50, pa.string())})
    assert not held(HoldOut(0.99, bytes(32), "who"), nameless, 99).any()


def test_a_subject_is_the_same_as_text_and_as_a_number():
    hold_out = HoldOut(0.5, bytes(32), "who")
    numbers = pa.table({"who": [int(who) for who in PEOPLE["who"].to_pylist()]})
    assert held(hold_out, numbers, 99).tolist() == held(hold_out, PEOPLE, 99).tolist()


@pytest.mark.parametrize("columns", [["age"], ["who", "age"], ["age", "who"]])
def test_what_is_learnt_from_lacks_them_in_every_column_read(columns):
    hold_out = HoldOut(0.25, bytes(32), "who")
    source = open_source(PEOPLE)
    learnt = TrainingSource(source, hold_out)
    kept = PEOPLE.filter(pa.array(~held(hold_out, PEOPLE, 4000)))
    table = pa.Table.from_batches(learnt.batches(columns, batch_rows=100), learnt.schema(columns))
    assert table.equals(kept.select(columns))
    counted = count_combinations(learnt, ["age"], subject="who")
    people = len(set(kept["who"].to_pylist()))
    assert sum(counted.column("count").to_pylist()) == pytest.approx(people)
    assert learnt.fingerprint() == source.fingerprint()


def test_without_a_subject_rows_are_numbered_on_from_batch_to_batch():
    hold_out = HoldOut(0.25, bytes(32), None)
    learnt = TrainingSource(open_source(PEOPLE), hold_out)
    kept = PEOPLE.filter(pa.array(~held(hold_out, PEOPLE, 4000)))
    table = pa.Table.from_batches(learnt.batches(["age"], batch_rows=100), learnt.schema(["age"]))
    assert table.equals(kept.select(["age"]))
