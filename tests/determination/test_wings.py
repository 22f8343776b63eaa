"""Every wing's releases are determined, and each verdict follows when it is judged again."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest
from tests.determination.conftest import CONTEXT, DAY, NOON

from voile.determination import determine, verify
from voile.face.enough import is_it_enough
from voile.face.report import report_of
from voile.release.criteria import TITLES, Attacked, Certified
from voile.release.evidence import AttackResults

ANSWERED = {
    "tables": {"re-identification", "singling-out", "linkability", "inference", "kept-columns"},
    "documents": {"re-identification", "singling-out", "text-left"},
    "itemsets": {"re-identification", "singling-out", "inference"},
    "signals": {"inference"},
}


RISK = Certified("re-identification", "max_risk", "largest risk of a record")


@pytest.mark.parametrize(
    ("risk", "met"), [(0.05, (True, True)), (0.0905, (False, True)), (0.5, (False, False))]
)
def test_a_report_says_which_thresholds_of_a_name_the_largest_risk_meets(
    risk: float, met: tuple[bool, ...]
) -> None:
    never = Attacked("linkability", lambda *_: True)
    section = is_it_enough({"figures": {"max_risk": risk}}, (RISK, never), ())
    said = section.blocks[0].paragraphs[0]
    sources = ("EMA Policy 0070", "groups of at least 11")
    met_by, _, missed = said.partition("does not meet ")
    assert tuple(source not in missed for source in sources) == met
    assert tuple(source in met_by for source in sources) == met
    assert "Not measured: linkability. An attack measures it." in section.blocks[0].paragraphs[1]


def test_a_release_of_any_kind_is_determined(case: Any, tmp_path: Path) -> None:
    kit = case.fit(case.table, how="held out")
    release = case.apply(tmp_path / "release.csv", kit=kit)
    found = AttackResults(release, case.attack(release))
    one = determine(release, CONTEXT, tmp_path / "d", evidence=found, pdf=False, on=DAY)
    answered = {each.name for each in one.criteria if each.figure is not None}
    assert answered >= ANSWERED[case.kind]
    page = report_of(release, case.module, found, "public", "release.csv").html
    asked, answer = page.index('<section id="enough"'), page.index('<section id="summary"')
    assert asked < answer  # is it enough, before what it is
    assert all(TITLES[name] in page[asked:answer] for name in answered)
    verified = verify(tmp_path / "d", now=NOON)
    assert [check.says for check in verified.checks if check.holds is False] == []
