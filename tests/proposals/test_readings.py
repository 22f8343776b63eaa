"""What inspect proposes for readings."""

from __future__ import annotations

import numpy as np
import pyarrow as pa
import pytest

from voile.data import open_source
from voile.data.roles import Roles
from voile.proposals.readings import examine_readings

RNG = np.random.default_rng(1)
N = 300
TABLE = {
    "patient_id": np.repeat(np.arange(N // 3), 3),
    "taken": np.array("2024-01-01", "M8[D]") + np.arange(N) % 90,
    "email": [f"a{i}@example.org" for i in range(N)],
    "weight": np.round(RNG.normal(70, 9, N), 1),
    "pulse": RNG.integers(50, 100, N),
    "steps": [str(x) for x in RNG.integers(0, 9000, N)],
    "diagnosis": RNG.choice(["asthma", "gout"], N),
    "age": RNG.integers(20, 90, N),
    "ward": RNG.choice(["north", "south"], N),
}
PROPOSED = {
    "patient_id": "identifier",
    "taken": "drop",
    "email": "identifier",
    "weight": "reading",
    "pulse": "reading",
    "steps": "reading",
    "diagnosis": "private",
    "age": "drop",
    "ward": "drop",
}


def test_numbers_are_readings_and_what_could_tell_the_class_is_dropped(tmp_path):
    found = examine_readings(open_source(pa.table(TABLE)))
    assert found.subject == "patient_id"
    assert {column.name: column.role for column in found.columns} == PROPOSED
    (tmp_path / "roles.toml").write_text(found.to_toml())
    assert Roles.read(tmp_path / "roles.toml").of("reading") == ["weight", "pulse", "steps"]


def test_an_id_of_one_row_each_is_the_subject_where_it_is_the_only_one():
    one = {**TABLE, "patient_id": np.arange(N)}
    found = examine_readings(open_source(pa.table(one)))
    assert found.subject == "patient_id"
    assert "repeats" not in found.to_toml()
    two = pa.table({**one, "visit_id": np.arange(N)})
    assert examine_readings(open_source(two)).subject is None


@pytest.mark.parametrize("readings", [1, 4])
def test_a_column_of_texts_called_as_people_is_the_subject(readings):
    one = {"patient": [f"p{i // readings}" for i in range(N)], **TABLE}
    del one["patient_id"]
    assert examine_readings(open_source(pa.table(one))).subject == "patient"


def test_whole_numbers_of_one_row_each_are_an_id_whatever_they_are_called():
    named = {"SEQN": np.arange(62161, 62161 + N), **TABLE}
    del named["patient_id"]
    found = examine_readings(open_source(pa.table(named)))
    assert found.subject == "SEQN"
    two = pa.table({**named, "visit_id": np.arange(N)})
    assert examine_readings(open_source(two)).subject is None


def test_two_columns_that_could_be_the_class_are_left_to_the_steward():
    two = pa.table({**TABLE, "outcome": RNG.choice(["yes", "no"], N)})
    roles = {column.role for column in examine_readings(open_source(two)).columns}
    assert "private" not in roles


def test_a_class_and_a_time_are_proposed_by_their_values():
    """A text of few values, one for each person, and a number that rises within each."""
    whose = [f"p{i // 7}" for i in range(700)]
    table = {
        "patient": whose,
        "group": ["a" if int(one[1:]) % 3 else "b" for one in whose],
        "step": [i % 7 for i in range(700)],
        "x": [60 + (i * 37 % 101) / 10 for i in range(700)],
    }
    found = {one.name: one for one in examine_readings(open_source(table)).columns}
    assert found["group"].role == "private"
    assert found["step"].role == "drop"
    assert "--time" in found["step"].why
    assert found["x"].role == "reading"
    table["step"] = [(i * 3) % 7 for i in range(700)]
    found = {one.name: one for one in examine_readings(open_source(table)).columns}
    assert "--time" not in found["step"].why
