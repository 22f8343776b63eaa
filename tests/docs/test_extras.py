"""The extras that messages and pages name are those that there are."""

from __future__ import annotations

import re
import tomllib
from pathlib import Path

ROOT = Path(__file__).parents[2]
PROJECT = tomllib.loads((ROOT / "pyproject.toml").read_text("utf-8"))
EXTRAS = PROJECT["project"]["optional-dependencies"]
OLD = {name for name, needs in EXTRAS.items() if needs[0].startswith("voile[")}


def named(pattern: str, *paths: str) -> set[str]:
    files = (path for glob in paths for path in ROOT.glob(glob))
    return {name for file in files for name in re.findall(pattern, file.read_text("utf-8"))}


def test_errors_and_pages_name_extras_that_there_are() -> None:
    errors = named(r'install\([\'"](\w+)[\'"]\)', "src/voile/[!c]*/**/*.py")
    errors |= named(r'library\(["\']\w+["\'], "(\w+)"\)', "src/voile/documents/**/*.py")
    pages = named(r"voile\[([\w,]+)\]", "README.md", "docs/*.md")
    assert errors == {*EXTRAS} - OLD
    assert pages == {*EXTRAS} - OLD


def test_an_old_name_installs_what_the_new_one_does() -> None:
    for name in OLD:
        assert all(one.removeprefix("voile[").removesuffix("]") in EXTRAS for one in EXTRAS[name])
