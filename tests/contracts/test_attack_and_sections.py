"""Test the contract of evidence and reports for every kind of data."""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import fields, is_dataclass
from pathlib import Path
from typing import Any

import pytest
from tests.contracts.people import CANARIES

from voile.core.evidence import Evidence
from voile.release.choice import Choice
from voile.release.kit import StoredKit
from voile.release.manifest import StoredRelease
from voile.report import render
from voile.report.sections import Section

# An expected number, said as "about", is a risk and no count of anybody.
SMALL = r"(?<!about )(?<![\d.,])([1-9]|10)(?![\d.,%])"
COUNT = re.compile(rf"{SMALL} (people|persons|patients|subjects|records|rows)\b|{SMALL} of [\d,]+")


def texts(thing: object) -> Iterator[str]:
    """Yield every text of the public blocks."""
    if isinstance(thing, str):
        yield thing
    elif isinstance(thing, tuple):
        for part in thing:
            yield from texts(part)
    elif is_dataclass(thing) and getattr(thing, "audience", "public") == "public":
        for field in fields(thing):
            yield from texts(getattr(thing, field.name))


def public(
    case: Any, subject: StoredKit | StoredRelease, found: tuple[Evidence, ...] = ()
) -> tuple[Section, ...]:
    return case.module.report(subject, found, audience="public")


@pytest.fixture(scope="module")
def attacked(
    case: Any, tmp_path_factory: pytest.TempPathFactory
) -> tuple[StoredRelease, tuple[Evidence, ...]]:
    kit = case.fit(case.table, how="held out")
    release = case.apply(tmp_path_factory.mktemp("attacked") / "release.csv", kit=kit)
    return release, case.attack(release)


def test_the_same_seed_finds_the_same(case: Any, attacked: Any) -> None:
    release, found = attacked
    assert found
    assert case.attack(release) == found


def test_evidence_read_back_is_the_same(attacked: Any) -> None:
    for evidence in attacked[1]:
        assert Evidence.from_json(evidence.to_json()) == evidence


def test_full_protection_yields_nothing_above_the_baseline(case: Any, tmp_path: Path) -> None:
    closed = case.module.choose(case.kit, Choice(max_loss=1.0))
    release = case.apply(tmp_path / "release.csv", chosen=closed)
    for evidence in case.attack(release):
        for finding in evidence.findings:
            if finding.baseline is not None:
                low = finding.rate.interval()[0]
                assert low <= finding.baseline.interval()[1], (evidence.attack, finding)


def test_a_public_report_holds_no_small_count(case: Any, attacked: Any) -> None:
    release, found = attacked
    for subject, evidence in ((release, found), (case.kit, ())):
        for text in texts(public(case, subject, evidence)):
            assert not COUNT.search(text), text


NUMBER = re.compile(r"(?<![\w.-])\d[\d,]*(?:\.\d+)?(?![\w-])")
DRAWN = re.compile(r"<(style|script|svg|h1|nav)\b.*?</\1>|<[^>]*>", re.S)


def digits(number: str) -> int:
    """Count the significant digits of a number as it is written."""
    return len(number.replace(",", "").replace(".", "").strip("0"))


def test_a_public_report_states_two_significant_digits(case: Any, attacked: Any) -> None:
    release, found = attacked
    released = set(NUMBER.findall(str([release.public[x] for x in ("policy", "columns")])))
    for subject, evidence in ((release, found), (case.kit, ())):
        page = render("report", public(case, subject, evidence), audience="public", facts={})
        figures = NUMBER.findall(DRAWN.sub(" ", page))
        assert len(figures) > 10
        assert {one for one in figures if digits(one) > 2} <= released


def test_a_public_report_tells_no_identifier(case: Any, attacked: Any) -> None:
    release, found = attacked
    for subject, evidence in ((release, found), (case.kit, ())):
        sections = public(case, subject, evidence)
        page = render("report", sections, audience="public", facts={})
        assert not [c for c in CANARIES if c in page]


def test_a_report_needs_no_private_folder(case: Any, attacked: Any) -> None:
    release, found = attacked
    received = StoredRelease(release.path, release.public)
    sections = public(case, received, found)
    assert render("report", sections, audience="public", facts={})
    assert not [c for c in CANARIES if any(c in t for t in texts(sections))]


def test_a_report_says_what_was_not_attacked(case: Any, attacked: Any) -> None:
    release, found = attacked
    for one in {evidence.heading for evidence in found}:
        others = tuple(evidence for evidence in found if evidence.heading != one)
        (section,) = (x for x in public(case, release, others) if x.key == one.replace(" ", "-"))
        assert any(
            said.startswith("No evidence: the attack was not run") for said in texts(section.blocks)
        )
    assert not any("No evidence" in text for text in texts(public(case, case.kit)))
