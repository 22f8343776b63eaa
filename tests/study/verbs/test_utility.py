"""Plans keep bands of ages, and the report compares counts before and after."""

from __future__ import annotations

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from voile.data import open_source
from voile.data.roles import Roles
from voile.demo.clinic import AS_OF, make_clinic
from voile.demo.fhir import write_fhir
from voile.release.choice import Choice
from voile.study import Study
from voile.study.carriers import FhirCarrier
from voile.study.verbs.init import _people_proposal, init
from voile.study.verbs.init_columns import keep_age_bands
from voile.tables.module import TABLES
from voile.tables.verbs.options import FitOptions

K, FEW = 5, 0.05
WIDEST = 20


@pytest.fixture(scope="module")
def people(tmp_path_factory):
    folder = tmp_path_factory.mktemp("people")
    (folder / "export").mkdir()
    write_fhir(make_clinic(1, 500), folder / "export")
    FhirCarrier(folder / "export", AS_OF).unpack(folder)
    return open_source(folder / "people.parquet")


def policy_of(people, columns):
    roles = {one.name: {"role": one.role, **one.settings} for one in columns}
    roles["sex"]["keep_cuts"] = "all"  # as a study keeps them whose notes say he and she
    read = Roles.model_validate({"subject": "person_id", "columns": roles})
    options = FitOptions(k=K, suppress=FEW, promise="row")
    kit = TABLES.fit(people, read, options, seed=1, progress=lambda *_: None)
    return TABLES.choose(kit, Choice(least_loss=True)).policy


def widths(policy):
    return [int(last) - int(first) + 1 for first, last in policy["age"]]


def test_a_plan_with_notes_keeps_ages_in_bands_of_twenty_years(people):
    proposed = _people_proposal(people).columns
    assert max(widths(policy_of(people, proposed))) > 4 * WIDEST  # what the search prefers alone
    kept = keep_age_bands(people, proposed, "person_id", "sex", K, FEW)
    assert max(widths(policy_of(people, kept))) <= WIDEST


@pytest.mark.parametrize(("n", "cuts"), [(200, [19, 39, 59, 79]), (9, None)])
def test_bands_are_as_narrow_as_the_people_allow(tmp_path, n, cuts):
    ages = np.linspace(0, 99, n).astype(int) if n < 100 else np.arange(n) % 100
    table = pa.table(
        {"who": [*map(str, range(n))], "age": ages, "sex": ["F", "M"] * (n // 2) + ["F"] * (n % 2)}
    )
    pq.write_table(table, tmp_path / "people.parquet")
    source = open_source(tmp_path / "people.parquet")
    proposed = [one for one in _proposal(source) if one.role == "quasi"]
    kept = keep_age_bands(source, proposed, "who", "sex", K, FEW)
    assert next(one for one in kept if one.name == "age").settings.get("keep_cuts") == cuts


def _proposal(source):
    from voile.study.verbs.init_columns import propose_table

    return propose_table(source, "who").columns


def test_counts_before_and_after_are_those_of_the_files(tmp_path):
    rng, n = np.random.default_rng(1), 300
    (tmp_path / "export").mkdir()
    who = [f"P{i}" for i in range(n)]
    table = {
        "patient_id": who,
        "age": rng.integers(0, 90, n),
        "sex": rng.choice(["F", "M"], n),
        "zip": rng.choice([f"{i:05}" for i in range(10_000, 14_000, 100)], n),
    }
    days = np.datetime64("2012-01-01") + rng.integers(0, 60, n)
    pq.write_table(pa.table(table), tmp_path / "export" / "people.parquet")
    visits = {"patient_id": who, "visit_date": days}
    pq.write_table(pa.table(visits), tmp_path / "export" / "visits.parquet")
    study = Study.open(init(str(tmp_path / "export"), tmp_path / "study.toml").plan)
    study.fit()
    release = study.apply()
    found = release.private["utility"]
    counts = {(one["of"], one["value"]): (one["before"], one["after"]) for one in found}
    for decade in range(9):
        true = int(((table["age"] // 10) == decade).sum())
        assert counts["age", f"{10 * decade}-{10 * decade + 9}"][0] == true
    released = release.counts["people"]["released"]
    for of, total in {"age": n, "sex": n, "zip": n, "year": n}.items():
        own = [both for (name, _), both in counts.items() if name == of]
        assert sum(before for before, _ in own) == total
        assert sum(after for _, after in own) == pytest.approx(n if of == "year" else released)
    assert counts["year", "2012"][0] == n
    written = pq.read_table(release.path / "visits.parquet")["visit_date"].to_pylist()
    assert counts["year", "2011"][1] == sum(day.year == 2011 for day in written)
    page = study.report(tmp_path / "own.html", internal=True).read_text()
    assert "Counts before and after" in page
    assert "Rows by age" in page
    public = study.report(tmp_path / "public.html").read_text()
    assert "Rows by age" not in public
