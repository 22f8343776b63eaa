"""Each paper's results can be reproduced, and what is computed from the paper's own data agrees."""

from __future__ import annotations

import re
from pathlib import Path

import pytest
from benchmarks.papers import PAPERS, reproduce, run

ROOT = Path(__file__).parents[2]
PAGE = (ROOT / "docs/papers.md").read_text("utf-8")
SLOW = {"000", "003"}


@pytest.mark.parametrize(
    "number",
    [pytest.param(one, marks=pytest.mark.slow) if one in SLOW else one for one in sorted(PAPERS)],
)
def test_a_paper_is_reproduced_at_the_least_size(number: str) -> None:
    results = reproduce(number, "tiny")
    assert len(results) > 8
    assert all(one.ours for one in results)
    assert [one for one in results if one.exact and one.paper != one.ours] == []


def test_what_is_not_as_printed_is_reported(capsys: pytest.CaptureFixture[str]) -> None:
    run(["002", "--size", "tiny"])
    assert "| Lemma 3 | feature sets with AC of 2 or more (the lemma says 15) | 15 | 19 | no |" in (
        capsys.readouterr().out
    )


def test_the_page_names_a_target_of_each_paper() -> None:
    targets = {f"make paper-{number}" for number in PAPERS}
    assert set(re.findall(r"make paper-\d{3}", PAGE)) == targets
    for target in targets:
        assert target.removeprefix("make ") in (ROOT / "Makefile").read_text("utf-8")


def test_the_page_names_files_that_exist() -> None:
    for module, path in re.findall(r"`(tables|documents|itemsets|signals)/([\w/]+\.py)`", PAGE):
        assert (ROOT / "src/voile" / module / path).is_file(), (module, path)
    for path in re.findall(r"`((?:tests|benchmarks)/[\w/]+\.py)`", PAGE):
        assert (ROOT / path).is_file(), path
