"""The plan of a random export runs unedited, or init explains in a sentence why none can."""

from __future__ import annotations

import pytest
from tests.study.worlds import make_world

from voile.core.errors import RequestError
from voile.study import Study
from voile.study.verbs.init import init

PLANNED = (16, 29, 103, 106, 110, 132)
"""Worlds with a plan: of every form, with odd headers, gaps, constants and few people."""
EXPLAINED = {
    15: "no file has a column that others may know",
    104: "no common column of subjects",
    199: "rows without Patient ID",
}


@pytest.mark.parametrize("seed", PLANNED)
def test_an_unedited_plan_runs(seed, tmp_path):
    (tmp_path / "export").mkdir()
    make_world(seed, tmp_path / "export")
    made = init(str(tmp_path / "export"), tmp_path / "plan" / "study.toml")
    study = Study.open(made.plan)
    study.check()
    study.fit()
    release = study.apply()
    assert all(check.holds is not False for check in study.verify())
    for counts in release.private.get("export", {}).get("counts", {}).values():
        assert counts["read"] == counts["released"] + counts["suppressed"] + counts["rejected"]
    study.report(tmp_path / "report.html", internal=True)


@pytest.mark.parametrize("seed", EXPLAINED)
def test_a_world_without_a_plan_is_explained_and_leaves_nothing(seed, tmp_path):
    (tmp_path / "export").mkdir()
    make_world(seed, tmp_path / "export")
    with pytest.raises(RequestError, match=EXPLAINED[seed]):
        init(str(tmp_path / "export"), tmp_path / "plan" / "study.toml")
    assert not [*tmp_path.glob("plan/*")]
