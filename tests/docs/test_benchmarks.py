"""Every benchmark has its place on a page, and writes there and nowhere else."""

from __future__ import annotations

import re
from pathlib import Path

import pytest
from benchmarks import tables

ROOT = Path(__file__).parents[2]
PLACE = re.compile(r"^<!-- (\w+) -->\n\n.+?\n\n<!-- end of \1 -->$", re.DOTALL | re.MULTILINE)


def test_what_is_saved_has_one_place() -> None:
    pages = [page.read_text("utf-8") for page in (ROOT / "docs/benchmarks").glob("*.md")]
    places = sorted(name for page in pages for name in PLACE.findall(page))
    scripts = {path.stem: path.read_text("utf-8") for path in (ROOT / "benchmarks").glob("*.py")}
    saving = sorted(name for name, text in scripts.items() if "tables import save" in text)
    assert places == saving
    assert len(pages) <= 13


def test_a_table_replaces_the_one_before_it(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setattr(tables, "DOCS", tmp_path)
    page = tmp_path / "speed.md"
    page.write_text("# Speed\n\n<!-- a -->\n\nold\n\n<!-- end of a -->\n\n<!-- b -->\n\nb\n")
    for _ in range(2):
        tables.save("a", r"Caption \1.", ("x", "y"), [("1", "2")], "Notes.")
    made = page.read_text().split("<!-- a -->\n\n")[1]
    assert made == (
        "Caption \\1.\n\n| x | y |\n| --- | --- |\n| 1 | 2 |\n\nNotes.\n\n"
        "Made by `python -m benchmarks.a`.\n\n<!-- end of a -->\n\n<!-- b -->\n\nb\n"
    )
    capsys.readouterr()
    tables.save("c", "Caption.", ("x",), [("1",)])
    assert "has a place for c" in capsys.readouterr().out
