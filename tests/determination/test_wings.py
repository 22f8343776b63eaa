"""Every wing's releases are determined, and each verdict follows when it is judged again."""

from __future__ import annotations

import re
from collections import Counter
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from tests.determination.conftest import CONTEXT, DAY, NOON

from voile import tables
from voile.core.errors import RequestError
from voile.core.rounding import StatingRules, round_number
from voile.determination import determine, verify
from voile.determination.context import Context
from voile.face.enough import is_it_enough
from voile.face.report import report_of
from voile.release.criteria import TITLES, AttackedFigure, CertifiedFigure
from voile.release.evidence import AttackResults
from voile.tables.verbs.criteria import SmallestGroup

ANSWERED = {
    "tables": {"re-identification", "singling-out", "linkability", "inference", "kept-columns"},
    "documents": {"re-identification", "singling-out", "text-left"},
    "itemsets": {"re-identification", "singling-out", "inference"},
    "signals": {"inference"},
}


RISK = CertifiedFigure("re-identification", "max_risk", "largest risk of a record")


@pytest.mark.parametrize(
    ("risk", "groups", "met"),
    [(0.05, 0, (True, True)), (0.05, 30, (True, False)), (0.0905, 0, (False, True))],
)
def test_a_report_says_which_thresholds_of_a_name_a_release_meets(
    risk: float, groups: int, met: tuple[bool, ...]
) -> None:
    never = AttackedFigure("linkability", lambda *_: True)
    figures = {"max_risk": risk, "groups_under_11": groups, "people_under_11": 140 * (groups > 0)}
    figures |= {} if groups else {"k": 12}
    public = {"figures": figures, "constraints": {"k": 5}}
    section = is_it_enough(public, (RISK, SmallestGroup(), never), ())
    said = section.blocks[0].paragraphs[0]
    sources = ("EMA Policy 0070", "groups of at least 11")
    met_by, _, missed = said.partition("does not meet ")
    assert tuple(source not in missed for source in sources) == met
    assert tuple(source in met_by for source in sources) == met
    few = "groups of fewer than 11: 30 groups, 140 people"
    assert (few in missed) == ("no released group has fewer than 11 people" not in met_by)
    assert "Not measured: linkability. An attack measures it." in section.blocks[0].paragraphs[1]


def small_groups(release: Any) -> tuple[int, int]:
    """Count the groups of fewer than 11 rows, one a person, and their people, by a dictionary."""
    rows = pq.read_table(release.path).to_pylist()
    sizes = Counter((row["age"], row["town"]) for row in rows)
    few = [size for size in sizes.values() if size < 11]
    return len(few), sum(few)


@pytest.mark.parametrize("k", [5, 11])
def test_groups_of_11_are_claimed_from_the_released_groups(k: int, tmp_path: Path) -> None:
    rng = np.random.default_rng(k)
    people = pa.table({"age": rng.integers(20, 60, 400), "town": rng.choice(list("abcd"), 400)})
    census = pa.table(
        {
            "age": np.repeat(np.arange(20, 60), 4),
            "town": list("abcd") * 40,
            "people": np.full(160, 1000),
        }
    )
    people = people.append_column("ill", pa.array(rng.integers(0, 300, 400).astype(str)))
    held_to = {"columns": {"age": "quasi", "town": "quasi", "ill": "sensitive"}}
    kit = tables.fit(people, roles=held_to, population=census, k=k, seed=1)
    release = kit.apply(kit.choose(least_loss=True), people, tmp_path / "r.parquet")
    groups, held = small_groups(release)
    assert (groups > 0) == (k == 5)
    page = release.report().html
    enough, risks = (page[page.index(f'<section id="{one}"') :] for one in ("enough", "risk"))
    enough, risks = (one[: one.index("</section>")] for one in (enough, risks))
    if groups:
        assert "does not meet groups of at least 11" in enough
        groups, held = round_number(groups), StatingRules(people=frozenset({"n"}))(held, "n")
        assert f"groups of fewer than 11: {groups} groups, {held} people" in enough
        assert re.search(r"smallest group of the release.*?>5 to 10<", risks, re.DOTALL)
    else:
        assert "meets EMA Policy 0070" in enough
        assert "no released group has fewer than 11 people" in enough
    assert "Not measured: unique on all" not in enough
    assert TITLES["kept-columns"] in enough
    threshold = {"standard": "k-11"}
    given = {**CONTEXT, "thresholds": {**CONTEXT["thresholds"], "re-identification": threshold}}
    one = determine(release, given, tmp_path / "d", pdf=False, on=DAY)
    judged = next(each for each in one.criteria if each.name == "re-identification")
    assert judged.verdict == ("does not meet" if groups else "meets")


def test_a_threshold_of_groups_does_not_bound_the_mean() -> None:
    wrong = {"standard": "k-11", "bounds": "mean", "why": "the recipient is trusted"}
    given = {**CONTEXT, "thresholds": {**CONTEXT["thresholds"], "re-identification": wrong}}
    with pytest.raises(RequestError, match="bounds the smallest group"):
        Context.read_context(given, today=DAY)


def test_a_release_of_any_kind_is_determined(case: Any, tmp_path: Path) -> None:
    kit = case.fit(case.table, how="held out")
    release = case.apply(tmp_path / "release.csv", kit=kit)
    found = AttackResults(release, case.attack(release))
    one = determine(release, CONTEXT, tmp_path / "d", evidence=found, pdf=False, on=DAY)
    answered = {each.name for each in one.criteria if each.figure is not None}
    assert answered >= ANSWERED[case.kind]
    page = report_of(release, case.module, found, "public", "release.csv").html
    first = [page.index(f'<section id="{one}"') for one in ("summary", "frontier", "enough")]
    assert first == sorted(first)
    asked = page[first[-1] : page.index("<section id=", first[-1] + 1)]
    assert all(TITLES[name] in asked for name in answered)
    verified = verify(tmp_path / "d", now=NOON)
    assert [check.says for check in verified.checks if check.holds is False] == []
