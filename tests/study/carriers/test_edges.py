"""Days that would move out of an export's extract are left out, and bound nobody's offset."""

from __future__ import annotations

from datetime import date, timedelta
from itertools import repeat

import pyarrow.parquet as pq
import pytest
from tests.study.carriers.exported import resources
from tests.study.made import EXPORT_PLAN, SECRET, write_key

from voile.core.errors import RequestError
from voile.data.fhir.fields import find_references
from voile.data.fhir.rules import read_rules
from voile.demo.clinic import AS_OF, make_clinic
from voile.demo.fhir import write_fhir
from voile.demo.omop import write_omop
from voile.study.carriers import FhirCarrier, OmopCarrier
from voile.study.carriers.carrier import OUTSIDE, ReleasedStudy, extract_between
from voile.study.carriers.omop_rules import table_rules
from voile.study.plan.plan import StudyPlan
from voile.study.verbs.export import mover, unpack_export
from voile.tables.recoding.codebook import CodebookEntry

SHOWN = {"age": CodebookEntry("40-49", "40", "49")}
FIRST = date(2013, 1, 1)


@pytest.fixture(scope="module")
def clinic():
    return make_clinic(3, 60)


@pytest.fixture
def plan(tmp_path):
    text = EXPORT_PLAN.replace("FORM", "fhir").replace("seed = 1", 'edge_dates = "drop"')
    (tmp_path / "study.toml").write_text(text)
    write_key(tmp_path)
    return StudyPlan.read_file(tmp_path / "study.toml")


def packed(carrier, plan, tmp_path):
    """Return the extract, the tallies, and the folder that was written."""
    for name in ("in", "out", "scratch"):
        (tmp_path / name).mkdir()
    carrier.unpack(tmp_path / "in")
    extract = carrier.extract()
    released = ReleasedStudy(SECRET, mover(plan, extract), AS_OF, lambda _: SHOWN, repeat("a text"))
    made = carrier.pack(released, tmp_path / "out", tmp_path / "scratch")
    return extract, made.tallies, tmp_path / "out"


def test_fhir_leaves_out_what_would_move_outside(clinic, plan, tmp_path):
    (tmp_path / "export").mkdir()
    write_fhir(clinic, tmp_path / "export")
    (first, last), tallies, out = packed(FhirCarrier(tmp_path / "export", AS_OF), plan, tmp_path)
    days = [d for one in resources(out) for d in read_rules()[one["resourceType"]].find_days(one)]
    assert days
    assert first <= min(days) <= max(days) <= last
    assert tallies["Encounter"].set_aside[OUTSIDE] > 0
    assert tallies["Patient"].released == len(clinic.people)
    there = {f"{one['resourceType']}/{one['id']}" for one in resources(out)}
    assert all(there.issuperset(find_references(one)) for one in resources(out))


def test_omop_leaves_out_what_would_move_outside(clinic, plan, tmp_path):
    (tmp_path / "export").mkdir()
    write_omop(clinic, tmp_path / "export", "parquet")
    (first, last), tallies, out = packed(
        OmopCarrier(str(tmp_path / "export"), AS_OF), plan, tmp_path
    )
    tables = {path.stem: pq.read_table(path) for path in out.iterdir()}
    spans: dict[int, list[date]] = {}
    for name in tables.keys() - {"location", "person", "observation_period"}:
        rows = tables[name].to_pylist()
        assert tallies[name].set_aside[OUTSIDE] > 0 or name == "death"
        for row in rows:
            own = [row[one] for one in table_rules()[name].days if row[one] is not None]
            assert first <= min(own) <= max(own) <= last
            spans.setdefault(row["person_id"], []).extend(own)
    visits = set(tables["visit_occurrence"]["visit_occurrence_id"].to_pylist())
    for name in ("condition_occurrence", "measurement", "note"):
        assert visits.issuperset(filter(None, tables[name]["visit_occurrence_id"].to_pylist()))
    periods = {
        row["person_id"]: (row[_START], row[_END])
        for row in tables["observation_period"].to_pylist()
    }
    assert periods == {one: (min(days), max(days)) for one, days in spans.items()}


_START, _END = "observation_period_start_date", "observation_period_end_date"


@pytest.mark.parametrize("person", [f"P{n}" for n in range(20)])
def test_which_days_are_left_out(plan, person):
    """An old illness may stay before the first visit; what was within may not come there."""
    move, last = mover(plan, (FIRST, FIRST + timedelta(days=90))), FIRST + timedelta(days=90)
    old = FIRST - timedelta(days=400)
    assert move(person, old) == mover(plan)(person, old)
    for day in (FIRST, FIRST + timedelta(days=45), last):
        moved, free = move(person, day), mover(plan)(person, day)
        assert moved == (free if FIRST <= free <= last else None)


def test_a_day_that_stands_for_never_is_no_end():
    never = date(9999, 12, 31)
    assert extract_between([FIRST, date(1, 1, 1)], [FIRST, never]) == (FIRST, FIRST)
    assert extract_between([], [never]) == (None, None)


def test_no_export_is_opened_where_a_link_leads(clinic, plan, tmp_path):
    (tmp_path / "export").mkdir()
    write_fhir(clinic, tmp_path / "export")
    kept = tmp_path / "other" / "tables" / "kept"
    kept.parent.mkdir(parents=True)
    kept.touch()
    (tmp_path / ".study.kit.export").symlink_to("other")
    with (
        pytest.raises(RequestError, match="that folder is not yours alone"),
        unpack_export(plan),
    ):
        pass
    assert [*kept.parent.iterdir()] == [kept]
