"""`voile demo --fhir` and `--omop`: an export, a plan, a release of it that verifies."""

from __future__ import annotations

from typing import Any

import pytest

from voile.study import Study


@pytest.mark.whole
@pytest.mark.parametrize(("form", "file"), [("fhir", "Patient.ndjson"), ("omop", "person.parquet")])
def test_the_demo_ends_with_a_release_in_the_form_of_the_export(
    voile: Any, tmp_path: Any, form: str, file: str
) -> None:
    out = tmp_path / "demo"
    ran = voile("demo", f"--{form}", "--patients", "80", "--out", out, "--quiet")
    assert ran.code == 0, ran.err
    study = Study.open(out / "study.toml")
    assert (study.plan.release / "export" / file).is_file()
    assert not [one for one in study.verify() if one.holds is False]


def test_two_forms_at_once_are_refused(voile: Any, tmp_path: Any) -> None:
    ran = voile("demo", "--fhir", "--omop", "--out", tmp_path / "demo")
    assert ran.code == 2
    assert "--fhir and --omop" in ran.err
