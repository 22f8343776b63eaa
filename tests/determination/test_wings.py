"""Every wing's releases are determined, and each verdict follows when it is judged again."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from tests.determination.conftest import CONTEXT, DAY, NOON

from voile.determination.determine import determine
from voile.determination.verify import verify
from voile.release.evidence import AttackResults

ANSWERED = {
    "tables": {"re-identification", "singling-out", "linkability", "inference", "kept-columns"},
    "documents": {"re-identification", "singling-out", "text-left"},
    "itemsets": {"re-identification", "singling-out", "inference"},
    "signals": {"inference"},
}


def test_a_release_of_any_kind_is_determined(case: Any, tmp_path: Path) -> None:
    kit = case.fit(case.table, how="held out")
    release = case.apply(tmp_path / "release.csv", kit=kit)
    found = AttackResults(release, case.attack(release))
    one = determine(release, CONTEXT, tmp_path / "d", evidence=found, pdf=False, on=DAY)
    answered = {each.name for each in one.criteria if each.figure is not None}
    assert answered >= ANSWERED[case.kind]
    verified = verify(tmp_path / "d", now=NOON)
    assert [check.says for check in verified.checks if check.holds is False] == []
