"""The report's section on an export: every row and all content once, without counts in public."""

from __future__ import annotations

import pyarrow.parquet as pq
import pytest

from voile.demo.clinic import AS_OF, make_clinic
from voile.demo.omop import write_omop
from voile.report.sections import Grid
from voile.study import Study
from voile.study.verbs.export import OTHER_NAME
from voile.study.verbs.init import init
from voile.study.verbs.report_export import write_section


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
