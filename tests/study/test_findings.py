"""Every figure of a study's release is a finding, by name."""

from __future__ import annotations

from typing import Any, get_args

import pytest
from tests.contracts.findings import check_findings, check_measured

from voile.release.inventory import Fate
from voile.release.manifest import INVENTORY
from voile.report.sections import Grid
from voile.study import Study
from voile.study.determined import CRITERIA, open_subject
from voile.study.study_release import StudyRelease
from voile.study.verbs.report import sections


def test_the_findings_of_a_study(whole: Study) -> None:
    release = StudyRelease.open(whole.plan.release)
    private = release.private or {}
    findings = check_findings(private)
    keys = {one.key: one for one in findings}
    for name, value in release.public["figures"].items():
        assert value == pytest.approx(keys[name].value, rel=0.1, abs=1e-12)
        assert value >= keys[name].value - 1e-12  # two digits, rounded up
    for one in release.public["values"]:
        found = keys[one["name"]]
        assert one["found"] == pytest.approx(found.value / (found.n or 1), rel=0.1)
        assert found.expected is not None
    for one in release.public["guesses"]:
        assert keys[f"guessed({one['column']})"].value == one["accuracy"]
    for part, counts in release.public["mentions"].items():
        for kind, labels in counts.items():
            for label, n in labels.items():
                assert keys[f"{kind}({part}.{label})"].value == n
    for name in release.public["parts"]:
        check_findings(release.part(name).private or {})
        assert set((release.part(name).private or {})[INVENTORY].values()) <= set(get_args(Fate))


def test_a_determination_of_a_study_measures_by_findings_and_attacks(whole: Study) -> None:
    release = StudyRelease.open(whole.plan.release)
    keys = {*(release.private or {})["figures"], "guesses"}
    for name in release.public["parts"]:
        keys |= (release.part(name).private or {})["figures"].keys()
    public = open_subject(release.path).public
    own = [one for one in CRITERIA if find_kind(one) != "itemsets"]
    check_measured(own, public, (), keys, kind="study")


def find_kind(measure: Any) -> str:
    return str(getattr(measure, "kind", ""))


def test_the_report_of_a_study_shows_findings(whole: Study) -> None:
    """The bars of an acquaintance, and the table of dates, are findings by name."""
    release = StudyRelease.open(whole.plan.release)
    findings = {one.key: one for one in release.findings}
    shown = sections(release, audience="internal")
    [dates] = [one for one in shown if one.key == "dates"]
    [grid] = [one for one in dates.blocks if isinstance(one, Grid)]
    for known, people, _, alone in grid.rows:
        found = findings[f"people_alone({known})"]
        assert (people, alone) == (f"{found.n:,}", f"{found.value:,.0f}")
