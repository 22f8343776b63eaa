"""A standard is claimed from its own figures alone, and is not measured without them."""

from __future__ import annotations

from typing import Any

import pytest

from voile.core.evidence import Evidence, Finding, Note, Rate
from voile.release.claims import SAFE_HARBOR_CATEGORIES, STANDARDS, find_claims, threshold
from voile.release.criteria import AttackedFigure, CertifiedFigure
from voile.study.determined import CRITERIA as STUDY
from voile.tables.verbs.criteria import CRITERIA as TABLES

CENSUS = {"population": "counted by age, sex and zip"}


def statuses(figures: dict[str, float], measures: Any = TABLES, **public: Any) -> dict[str, str]:
    given = {"figures": figures, "parts": {}, "constraints": {"k": 5}, **public}
    names = {one.title: name for name, one in STANDARDS.items()}
    return {names[one.standard.title]: one.status for one in find_claims(given, measures, ())}


def test_a_claim_without_its_figure_is_not_measured() -> None:
    assert set(statuses({}).values()) == {"not measured"}
    assert statuses({"max_risk": 0.05})["k-11"] == "not measured"  # a risk is no released group
    assert statuses({"safe_harbor_found": 0})["safe-harbor"] == "not measured"
    assert statuses({"groups_under_11": 0, "k": 12})["ema-0070"] == "not measured"


@pytest.mark.parametrize(
    ("k", "ema", "k11"), [(10, "not met", "not met"), (11, "not met", "met"), (12, "met", "met")]
)
def test_groups_of_11_miss_the_limit_of_ema(k: int, ema: str, k11: str) -> None:
    """.09 < 1/11: the two standards differ at k = 11."""
    figures = {"max_risk": 1 / k, "groups_under_11": float(k < 11), "k": k}
    found = statuses(figures)
    assert (found["ema-0070"], found["k-11"]) == (ema, k11)
    assert 1 / 11 - STANDARDS["ema-0070"].limit == pytest.approx(0.0009, abs=1e-4)
    assert ".0009" in STANDARDS["ema-0070"].note


@pytest.mark.parametrize("promised", [5, 12])
@pytest.mark.parametrize("groups", [0.0, 1.0, 2100.0])
def test_one_group_of_fewer_than_11_refutes_the_claim_whatever_a_population_promises(
    groups: float, promised: int
) -> None:
    figures = {"max_risk": 1 / 12, "groups_under_11": groups, "k_map": 12.0}
    found = statuses(figures, promised_people=promised, **CENSUS)["k-11"]
    assert found == ("not met" if groups else "met")


def test_a_k_map_is_stated_with_its_population() -> None:
    [one] = [
        x
        for x in find_claims({"figures": {"k_map": 20.0}, **CENSUS}, TABLES, ())
        if x.standard is STANDARDS["k-map"]
    ]
    assert one.status == "stated"
    assert one.says == (
        "at least 20 people of the population fit each released combination; "
        "population: counted by age, sex and zip"
    )


def test_safe_harbor_takes_both_searches() -> None:
    assert len(SAFE_HARBOR_CATEGORIES) == 18
    both = {"safe_harbor_found": 0.0, "values_found": 0.0}
    assert statuses(both)["safe-harbor"] == "met"
    assert statuses({**both, "values_found": 1.0})["safe-harbor"] == "not met"


def test_one_search_refutes_safe_harbor_and_the_absent_figure_alone_is_named() -> None:
    assert statuses({"safe_harbor_found": 3.0})["safe-harbor"] == "not met"
    [claim] = [
        one
        for one in find_claims({"figures": {"safe_harbor_found": 0.0}}, (), ())
        if one.standard is STANDARDS["safe-harbor"]
    ]
    assert (claim.status, claim.says) == ("not measured", "no figure of values_found")


def test_a_figure_that_the_standard_does_not_list_allows_nothing() -> None:
    other = CertifiedFigure("re-identification", "mean_risk", "mean risk over the records")
    assert statuses({"mean_risk": 0.01}, (other,))["ema-0070"] == "not measured"


def test_an_attack_over_the_limit_refutes_a_certified_risk() -> None:
    found = Evidence("linkage", "linkability", Note("."), findings=(Finding("x", Rate(50, 100)),))
    measures = (*TABLES, AttackedFigure("re-identification", lambda _, one: one.quantity == "x"))
    [ema, *_] = find_claims({"figures": {"max_risk": 0.02}}, measures, (found,))
    assert ema.status == "not met"


def test_a_study_claims_groups_by_all_linked_rows() -> None:
    """Each part has groups of at least 11, and the numbers of rows single people out."""
    part = {"kind": "tables", "figures": {"groups_under_11": 0.0, "k": 19.0}}
    given = {"parts": {"people": part}}
    assert statuses({"all_parts_group_risk": 1.0}, STUDY, **given)["k-11"] == "not met"
    assert statuses({"all_parts_group_risk": 0.06}, STUDY, **given)["k-11"] == "met"


def test_thresholds_of_a_name_are_written_exactly() -> None:
    own = STANDARDS["ema-0070"]
    assert threshold("re-identification", 0.09, own.source) == (
        "EMA Policy 0070 (at most 0.09, 1 in 11.1)"
    )
    assert (
        threshold("re-identification", 0.09, "The officer") == "The officer (at most 9.0%, 1 in 11)"
    )
