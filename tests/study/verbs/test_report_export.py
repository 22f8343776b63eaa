"""The report's section on an export: every row and all content once, without counts in public."""

from __future__ import annotations

from dataclasses import replace

import pyarrow.parquet as pq
import pytest

from voile.demo.clinic import AS_OF, make_clinic
from voile.demo.omop import write_omop
from voile.report.sections import Grid, Section
from voile.study import Study
from voile.study.study_release import StudyRelease
from voile.study.verbs.export import OTHER_NAME
from voile.study.verbs.init import init
from voile.study.verbs.report import report
from voile.study.verbs.report_export import write_section
from voile.study.verbs.report_summary import summarise


@pytest.fixture(scope="module")
def release(tmp_path_factory):
    """Release an OMOP export without notes, with a table that no rule has."""
    folder = tmp_path_factory.mktemp("omop")
    (folder / "export").mkdir()
    write_omop(make_clinic(3, 40), folder / "export")
    for path in (folder / "export").glob("note.*"):
        path.unlink()
    (folder / "export" / "own_table.csv").write_text("person_id,said\n1,Anna\n2,Ben\n")
    study = Study.open(init(str(folder / "export"), folder / "study.toml", as_of=AS_OF).plan)
    study.fit()
    return study.apply()


def grids(release, audience):
    blocks = write_section(release, audience).blocks
    return {one.columns: one.rows for one in blocks if isinstance(one, Grid)}


def test_rows_of_each_table_are_released_suppressed_or_rejected(release):
    rows = grids(release, "internal")["type", "read", "released", "suppressed", "rejected"]
    for _, *counts in rows:
        read, *fates = (int(one.replace(",", "")) for one in counts)
        assert read == sum(fates)
    source = release.path.parent / "export" / "person.parquet"
    people = {name: counts for name, *counts in rows}["person"]
    assert int(people[0]) == pq.read_table(source).num_rows


def test_the_public_gets_the_unreleased_content_without_rows(release):
    internal = grids(release, "internal")["content", "rows", "why it is not released"]
    assert ("own_table", "2") in {row[:2] for row in internal}
    public = grids(release, "public")
    assert [*public] == [("why it is not released", "content")]
    rows = [(name, why) for why, names in next(iter(public.values())) for name in names.split(", ")]
    named = [(name, why) for name, _, why in internal if name != "own_table"]
    assert {*named} == {row for row in rows if row[0] != OTHER_NAME}
    assert "own_table" not in str(release.public["export"]["unreleased"])


def test_the_page_begins_with_content_disclosure_and_reviews(release):
    answers = {}
    for audience in ("internal", "public"):
        _, grid = summarise(release, audience).blocks
        answers[audience] = dict(grid.rows)
    counts = release.private["export"]["counts"].values()
    read, released = (sum(one[fate] for one in counts) for fate in ("read", "released"))
    own, public = answers["internal"], answers["public"]
    assert own["Released content"].startswith(f"{released:,} of {read:,} rows of the export. ")
    assert "person" in public["Released content"]
    assert f"{read:,}" not in public["Released content"]
    assert (
        "own_table" in own["Unreleased content"] or "name of its own" in own["Unreleased content"]
    )
    assert "by all facts" in public["Disclosure by a person's facts"]
    assert public["Parts that need review"] == "None waits for readers."
    page = report(release, Section("enough", "Is it enough?", ()), audience="public", facts={})
    assert page.index("At a glance") < page.index("What all parts disclose together</h2>")


def test_the_page_lists_the_columns_and_texts_that_wait(whole):
    release = StudyRelease.open(whole.plan.release)
    waiting = replace(release, public={**release.public, "unaccepted": ["notes"]})
    _, grid = summarise(waiting, "internal").blocks
    answers = dict(grid.rows)
    assert answers["Parts that need review"] == "notes: run voile study accept."
    assert "Columns of drugs: drug_3." in answers["Unreleased content"]
