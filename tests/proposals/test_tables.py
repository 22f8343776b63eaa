"""Proposed roles: found by name, type and counts, never by or with values."""

from __future__ import annotations

import datetime as dt
import re
import tomllib
from typing import get_args

import pyarrow as pa
import pytest
from hypothesis import given
from hypothesis import strategies as st

from voile.data import open_source
from voile.data.roles import Role, Roles
from voile.proposals.tables import examine

N = 200
MANY = [f"CANARY{i}" for i in range(N)]
FEW = [f"CANARY{i % 5}" for i in range(N)]
REPEATED = [f"CANARY{i // 2}" for i in range(N)]
TEXT = [f"The CANARY{i} was seen at home and felt well." for i in range(N)]


def role_of(name: str, values: object) -> str:
    return examine(open_source(pa.table({name: values}))).columns[0].role


@pytest.mark.parametrize(
    ("name", "values", "role"),
    [
        ("patient_id", REPEATED, "identifier"),
        ("SSN", MANY, "identifier"),
        ("lastName", FEW, "identifier"),
        ("Email address", MANY, "identifier"),
        ("age", [i % 90 for i in range(N)], "quasi"),
        ("ZIP_code", FEW, "quasi"),
        ("native-country", FEW, "quasi"),
        ("dob", [dt.date(1950, 1, 1 + i % 28) for i in range(N)], "quasi"),
        ("seen_as_text", [f"2020-01-{1 + i % 28:02d}" for i in range(N)], "quasi"),
        ("seen_on", [dt.date(2020, 1, 1 + i % 28) for i in range(N)], "quasi"),
        ("icd10", FEW, "sensitive"),
        ("Income", [float(i // 9) for i in range(N)], "sensitive"),
        ("Income", [float(i) for i in range(N)], "undecided"),
        ("fnlwgt", [i * 7 % 90 for i in range(N)], "drop"),
        ("sampling_weight", [i / 7 for i in range(N)], "drop"),
        ("pweight", FEW, "quasi"),
        ("weight", [50 + i % 60 for i in range(N)], "quasi"),
        ("target", [i % 2 for i in range(N)], "label"),
        ("comment", TEXT, "text"),
        (
            "race",
            ["of one race or of several, but of none that is named here"] * 99 + ["a"],
            "quasi",
        ),
        (
            "mystery",
            ["of one race or of several, but of none that is named here"] * 99 + ["a"],
            "undecided",
        ),
        ("drug_name", FEW, "sensitive"),
        ("ward name", FEW, "quasi"),
        ("score", [i % 7 for i in range(N)], "quasi"),
        ("code", MANY, "identifier"),
        ("reading", [i + 0.5 for i in range(N)], "quasi"),
        ("age", [i % 90 + 0.5 for i in range(N)], "quasi"),
        ("sex", ["CANARY"] * N, "drop"),
        ("nothing", pa.nulls(N), "drop"),
        ("tags", [["CANARY"]] * N, "undecided"),
        ("bytes", [b"CANARY"] * N, "undecided"),
        ("thing", ["CANARY"] * N, "keep"),
        ("thing", ["CANARY", None] * (N // 2), "drop"),
        ("thing", ["CANARY"], "drop"),
        ("thing", ["CANARY"] * 3, "drop"),
    ],
)
def test_roles_by_name_type_and_counts(name: str, values: object, role: str) -> None:
    assert role_of(name, values) == role


def test_dates_are_proposed_by_year() -> None:
    text = examine(
        open_source(pa.table({"dob": [dt.date(1950, 1, 1), dt.date(1960, 1, 1)]}))
    ).to_toml()
    assert Roles.model_validate(tomllib.loads(text)).columns["dob"].settings == {"by": "year"}


@pytest.mark.parametrize(
    ("columns", "subject"),
    [
        ({"patient_id": REPEATED, "visit_id": MANY}, "patient_id"),
        ({"visit_id": MANY}, None),
        ({"hospital_id": FEW, "visit_id": MANY}, None),
        ({"hospital_id": FEW, "person": FEW, "mrn": REPEATED}, "mrn"),
        ({"id": REPEATED}, "id"),
        ({"last_name": REPEATED}, None),
    ],
)
def test_the_subject_is_an_id_that_repeats(columns: dict[str, list[str]], subject: str) -> None:
    assert examine(open_source(pa.table(columns))).subject == subject


def test_no_value_is_told() -> None:
    table = pa.table({"id": REPEATED, "code": MANY, "note": TEXT, "sex": FEW})
    assert "CANARY" not in examine(open_source(table)).to_toml()


def test_only_the_first_rows_are_looked_at() -> None:
    rows = 100_000
    table = pa.table({"code": [i % 10 for i in range(rows)] + list(range(rows))})
    proposal = examine(open_source(table))
    assert proposal.rows == rows
    assert proposal.columns[0].why.startswith("others may know it; int64, 10 distinct")


def test_an_empty_table_has_a_proposal_too() -> None:
    table = pa.table({"age": pa.array([], pa.int64()), "note": pa.array([], pa.string())})
    assert [c.role for c in examine(open_source(table)).columns] == ["drop", "drop"]


NAME = st.text(min_size=1, max_size=12)


@given(st.lists(NAME, min_size=1, max_size=6, unique_by=str.casefold))
def test_a_proposal_reads_back_as_roles(names: list[str]) -> None:
    names = [n for n in names if n.encode("utf-8", "ignore").decode() == n] or ["a"]
    source = open_source(pa.table({name: [1, 2, 3] for name in names}))
    roles = Roles.model_validate(tomllib.loads(examine(source).to_toml()))
    roles.check(source.columns)
    assert list(roles.columns) == names
    assert {column.role for column in roles.columns.values()} <= set(get_args(Role))


@pytest.mark.parametrize(
    ("name", "values"),
    [
        ("postcode", [f"{1011 + i % 20} A{'BKX'[i % 3]}" for i in range(N)]),
        ("postnummer", [f"114 {10 + i % 40}" for i in range(N)]),
        ("postal", [f"K{i % 9}A 0B{i % 5}" for i in range(N)]),
        ("isco_08", [(2211, 22, 2212, 3112)[i % 4] for i in range(N)]),
        ("NACE Code", [("1.11", "1.12", "10", "47.2")[i % 4] for i in range(N)]),
    ],
)
def test_codes_are_proposed_by_what_they_begin_with(name: str, values: list[object]) -> None:
    column = examine(open_source(pa.table({name: values}))).columns[0]
    assert (column.role, column.settings) == ("quasi", {"order": "prefix"})


def test_a_weight_is_not_taken_for_one_unasked():
    """As a population it lowers every risk shown, which only who knows the survey can decide."""
    table = pa.table({"pwgtp": [i % 90 for i in range(N)], "age": [i % 80 for i in range(N)]})
    weight = examine(open_source(table)).columns[0]
    assert weight.role == "drop"
    assert 'its name contains "pwgtp": how many people a row stands for' in weight.why
    assert "the role weight" in weight.why


def test_the_file_names_every_role() -> None:
    head = examine(open_source(pa.table({"age": [1, 2]}))).to_toml().partition("[columns]")[0]
    assert [role for role in get_args(Role) if not re.search(rf"\b{role}\b", head)] == []
