"""The pages for maintainers name files that exist, and every package of the layers."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]
PAGES = (
    ROOT / "CONTRIBUTING.md",
    *(
        ROOT / "docs/maintainers" / f"{name}.md"
        for name in ("architecture", "decisions", "extending")
    ),
)


@pytest.mark.parametrize("page", PAGES, ids=lambda page: page.stem)
def test_the_files_of_a_page_exist(page):
    named = re.findall(r"`((?:src|tests|docs|\.ci)/[\w./-]+)`", page.read_text("utf-8"))
    of_a_kind = [one.replace("KIND", "itemsets") for one in named if "NAME" not in one]
    assert [one for one in of_a_kind if not (ROOT / one).exists()] == []


def test_a_guide_names_what_it_imports():
    text = (ROOT / "docs/maintainers/extending.md").read_text("utf-8")
    for file, name in (
        ("data/opening.py", "FORMATS"),
        ("tables/scoring/named_measures.py", "NAMES"),
        ("tables/scoring/group_measures.py", "GroupMeasure"),
        ("tables/verbs/attack_tasks.py", "attacks_on"),
        ("modules.py", "MODULES"),
    ):
        assert Path(file).name in text
        assert name in (ROOT / "src/voile" / file).read_text("utf-8")


def test_every_package_is_in_the_picture_and_the_table():
    drawn = (ROOT / "docs/pictures/layers.svg").read_text("utf-8")
    table = (ROOT / "docs/maintainers/architecture.md").read_text("utf-8")
    packages = {one.parent.name for one in (ROOT / "src/voile").glob("*/__init__.py")}
    assert {one for one in packages if f">{one}<" not in drawn} == set()
    assert {one for one in packages if f"`{one}`" not in table} == set()
