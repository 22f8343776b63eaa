"""The plan of a random export runs unedited, or init explains in a sentence why none can."""

from __future__ import annotations

import json

import pytest
from tests.study.worlds import make_world

from voile.cli.run import run
from voile.core.errors import RequestError
from voile.demo.clinic import make_clinic
from voile.demo.fhir import write_fhir
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


def test_rows_that_no_rule_releases_do_not_fail_an_unedited_plan(tmp_path, capsys):
    (tmp_path / "export").mkdir()
    write_fhir(make_clinic(7, 25), tmp_path / "export")
    (tmp_path / "export" / "DocumentReference.ndjson").unlink()
    lines = (tmp_path / "export" / "Condition.ndjson").read_text().splitlines()
    local = {"coding": [{"system": "urn:local", "code": "x1"}]}
    flag = {**json.loads(lines[0]), "resourceType": "Flag", "status": "active", "code": local}
    (tmp_path / "export" / "Flag.ndjson").write_text(json.dumps(flag))
    plan = str(tmp_path / "plan" / "study.toml")
    assert run(["study", "init", str(tmp_path / "export"), "--out", plan]) == 0
    assert run(["study", "fit", plan]) == 0
    assert run(["study", "apply", plan]) == 0
    assert "export, Flag: 1 row rejected: nothing of code" in capsys.readouterr().err
