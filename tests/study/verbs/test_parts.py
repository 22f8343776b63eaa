"""A study of more than a table and notes: each part under one pseudonym, judged with the others."""

from __future__ import annotations

import shutil

import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from hypothesis import given
from hypothesis import strategies as st

from voile.core.errors import RequestError, TamperedError
from voile.keys.pseudonyms import Secret, date_shift, pseudonym
from voile.study import Study
from voile.study.adversary.acquaintance import Index
from voile.study.study_release import StudyRelease

SECRET = Secret(b"k" * 64)


def test_every_row_of_every_part_has_the_pseudonym_of_its_person(whole):
    release = StudyRelease.open(whole.plan.release)
    assert {*release.public["parts"]} == {"visits", "wards", "drugs", "pulses", "notes"}
    for name, part in release.public["parts"].items():
        table = pq.read_table(release.path / part["file"])
        numbers = pq.read_table(release.folder / name / "rows.parquet")["row"]
        source = pq.read_table(whole.plan.source(whole.plan.parts[name].source))
        people = source["person_id"].take(numbers).to_pylist()
        column = "pseudonym" if part["kind"] == "signals" else "person_id"
        assert table[column].to_pylist() == [pseudonym(SECRET, one) for one in people]
        if "visit_date" in table.column_names:
            true = source["visit_date"].take(numbers).to_pylist()
            moved = [
                (new - old).days
                for new, old in zip(table["visit_date"].to_pylist(), true, strict=True)
            ]
            assert moved == [date_shift(SECRET, one, days=30) for one in people]
    assert all(holds is not False for _, holds in whole.verify())


def test_an_acquaintance_who_knows_more_parts_reaches_more(whole):
    release = StudyRelease.open(whole.plan.release)
    reached = {one["knows"]: one for one in release.private["known"]}
    parts = [reached[name]["matches"] for name in ("visits", "wards", "drugs")]
    people = reached["all parts"]["people"]
    assert max(parts) <= reached["all parts"]["matches"] <= people
    assert reached["wards"]["matches"] == pytest.approx(1.0)  # one ward is all that it shows
    risk = release.public["figures"]["all_parts_known_mean_risk"]
    assert risk >= reached["all parts"]["matches"] / people


@given(st.lists(st.frozensets(st.integers(0, 5)), min_size=1, max_size=12))
def test_candidates_are_the_people_who_have_all_facts(sets):
    people = [str(n) for n in range(len(sets))]
    facts = {one: {(fact,) for fact in own} for one, own in zip(people, sets, strict=True)}
    index = Index(facts, people)
    for number, own in enumerate(sets):
        held = [n for n, other in enumerate(sets) if own <= other]
        assert index.candidates(number).tolist() == held


def test_parts_without_pseudonyms_are_joined_by_dates_that_move_together(whole, tmp_path):
    folder = shutil.copytree(whole.plan.release.parent, tmp_path / "whole")
    plan = folder / "study.toml"
    plan.write_text(plan.read_text().replace("seed = 1", "seed = 1\njoin = false", 1))
    study = Study.open(plan)
    study.fit(force=True)
    study.apply(force=True)
    found = {one.part: one for one in study.attack().rejoined}
    assert found["notes"].by == found["wards"].by == ("dates",)
    assert found["notes"].matches > 0.5 * found["notes"].rows
    assert found["drugs"].by == ()
    assert found["drugs"].matches == 0


def test_people_of_a_part_must_be_those_of_the_table(whole, tmp_path):
    folder = shutil.copytree(whole.plan.release.parent, tmp_path / "whole")
    wards = pq.read_table(folder / "wards.parquet")
    other = pa.array([f"other-{one}" for one in wards["person_id"].to_pylist()])
    pq.write_table(wards.set_column(0, "person_id", other), folder / "wards.parquet")
    with pytest.raises(RequestError, match=r"parts\.wards: nobody in it has a released row"):
        Study.open(folder / "study.toml").apply(force=True)


def test_two_tables_never_generalise_one_column(whole, tmp_path):
    folder = shutil.copytree(whole.plan.release.parent, tmp_path / "whole")
    wards = folder / "wards.toml"
    wards.write_text(wards.read_text().replace('ward = "quasi"', 'ward = "drop"\nage = "quasi"'))
    table = pq.read_table(folder / "wards.parquet")
    age = pq.read_table(folder / "visits.parquet")["age"]
    pq.write_table(table.append_column("age", age), folder / "wards.parquet")
    with pytest.raises(RequestError, match=r"age is a quasi-identifier of parts\.visits, too"):
        Study.open(folder / "study.toml").fit(force=True)


def test_the_report_leads_with_the_joint_figures_and_has_each_part(whole, tmp_path):
    for internal in (False, True):
        page = whole.report(tmp_path / f"{internal}.html", internal=internal).read_text()
        places = [page.index(f'id="{key}-title"') for key in ("joint", "part-visits-summary")]
        assert places == sorted(places)
        assert all(f"part-{name}-summary" in page for name in whole.plan.parts)
        assert ("knowing" in page) == ("Which sentence reveals what" in page) == internal
    assert "She" in page or "He" in page  # a sentence that says the sex, for the holder alone


def test_a_changed_release_is_not_reported(whole, tmp_path):
    folder = shutil.copytree(whole.plan.release.parent, tmp_path / "whole")
    (folder / "study.release" / "drugs.parquet").write_bytes(b"PAR1")
    with pytest.raises(TamperedError):
        Study.open(folder / "study.toml").report(tmp_path / "page.html")
    assert not (tmp_path / "page.html").exists()
