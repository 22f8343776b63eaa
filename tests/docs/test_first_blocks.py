"""The first block of each guide runs in an empty folder, as a reader pastes it."""

from __future__ import annotations

import os
import re
import subprocess
import sys
from pathlib import Path

import pytest

from voile.demo.__main__ import PEOPLE, main

ROOT = Path(__file__).parents[2]
BLOCK = re.compile(r"^```(\w*)\n(.*?)^```|((?:^    \S.*\n)+)", re.MULTILINE | re.DOTALL)
NEEDS = {
    "installing": "a package index",
    "object-stores": "a bucket; tests/data/stores runs its commands against emulators",
    "on-spark": "Spark and Java; tests/engines runs its commands",
    "readings-in-fhir": "an export; tests/signals/fhir runs its commands",
    "review-notes": "a browser; tests/documents/reviewing opens its page",
    "schedule": "a folder for each day; test_schedule runs the page",
    "workbench": "a browser; tests/workbench opens its page",
}
PROSE = {
    "README",
    "glossary",
    "known-limits",
    "other-systems",
    "papers",
    "reference",
    "threat-model",
}


def guides() -> list[Path]:
    pages = sorted((ROOT / "docs").glob("*.md"))
    return [page for page in pages if page.stem not in PROSE | set(NEEDS)]


def first_block(page: Path) -> tuple[str, str]:
    """Return the language and the lines of a page's first block."""
    found = BLOCK.search(page.read_text("utf-8"))
    assert found is not None, f"{page.name} has no block"
    return found[1] or "sh", found[2] or found[3].replace("\n    ", "\n").strip()


def run(language: str, block: str, folder: Path) -> None:
    command = [sys.executable, "-c"] if language == "python" else ["bash", "-euo", "pipefail", "-c"]
    path = f"{Path(sys.executable).parent}{os.pathsep}{os.environ['PATH']}"
    done = subprocess.run(
        [*command, block],
        cwd=folder,
        env={**os.environ, "PATH": path},
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode == 0, done.stderr


@pytest.mark.whole
@pytest.mark.parametrize("page", guides(), ids=lambda page: page.stem)
def test_the_first_block_runs_in_an_empty_folder(page: Path, tmp_path: Path) -> None:
    language, block = first_block(page)
    run(language, block, tmp_path)
    assert language == "python" or "python -m voile.demo" in block, "made-up data in one line"


def test_each_page_is_run_or_has_a_reason() -> None:
    names = {page.stem for page in (ROOT / "docs").glob("*.md")}
    assert names >= PROSE | set(NEEDS)
    assert len(guides()) >= 18
    for page in guides():
        assert first_block(page)[0] in ("sh", "python"), page.name


def test_a_block_that_fails_is_noticed(tmp_path: Path) -> None:
    with pytest.raises(AssertionError):
        run("sh", "false\ntrue", tmp_path)


@pytest.mark.parametrize("data", sorted(PEOPLE))
def test_made_up_data_replaces_nothing(
    data: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.chdir(tmp_path)
    main([data, "--people", "200"])
    made = {path.name: path.read_bytes() for path in (tmp_path / data).iterdir()}
    assert made
    with pytest.raises(SystemExit):
        main([data])
    assert "exists" in capsys.readouterr().err
    assert made == {path.name: path.read_bytes() for path in (tmp_path / data).iterdir()}
