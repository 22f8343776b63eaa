"""The README's commands run as printed, on a county of its own."""

from __future__ import annotations

import os
import re
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

from voile.cli.app import command
from voile.demo.county import make_county, write_county

README = Path(__file__).parents[2] / "README.md"


def commands() -> str:
    """Return the shell lines of the first release."""
    section = README.read_text(encoding="utf-8").split("## First release in a shell")[1]
    (lines,) = re.findall(r"(?:^    .*\n)+", section.split("\n## ")[0], flags=re.MULTILINE)
    return lines


def run(lines: str, folder: Path) -> None:
    """Run lines of a shell, and stop at the first that fails."""
    path = f"{Path(sys.executable).parent}{os.pathsep}{os.environ['PATH']}"
    done = subprocess.run(
        ["bash", "-euo", "pipefail", "-c", lines],
        cwd=folder,
        env={**os.environ, "PATH": path},
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode == 0, done.stderr


@pytest.mark.whole
@pytest.mark.skipif(shutil.which("openssl") is None, reason="needs openssl")
def test_the_commands_run_as_printed(tmp_path: Path) -> None:
    folder = tmp_path / "a folder"
    (folder / "demo-out").mkdir(parents=True)
    write_county(make_county(people=10_000), folder / "demo-out" / "county")
    run(commands(), folder)
    assert (folder / "report.html").exists()
    assert (folder / "release.csv.manifest.json").exists()


@pytest.mark.whole
def test_the_commands_of_the_help_run_as_printed_on_a_table_of_people(tmp_path: Path) -> None:
    """`voile --help` names people.csv; a county's patients lie there, roles as proposed."""
    county = tmp_path / "county"
    write_county(make_county(people=10_000), county)
    (county / "patients.csv").rename(tmp_path / "people.csv")
    lines = re.findall(r"^    (voile .*)$", command.help or "", flags=re.MULTILINE)
    assert len(lines) == 6
    run("\n".join(lines), tmp_path)
    assert (tmp_path / "report.html").exists()
