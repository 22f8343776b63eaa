"""The README's commands run as printed, on a county of its own."""

from __future__ import annotations

import os
import re
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

from voile.demo.county import make_county, write_county

README = Path(__file__).parents[2] / "README.md"
DROPPED = ("birth_date", "visit_date", "ward", "insurance", "length_of_stay")


def commands() -> tuple[str, str]:
    """Return the shell lines before the roles are corrected, and those after."""
    section = README.read_text(encoding="utf-8").split("## In a shell")[1].split("\n## ")[0]
    before, after = re.findall(r"(?:^    .*\n)+", section, flags=re.MULTILINE)
    return before, after


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
def test_the_commands_run_as_printed_once_the_roles_are_corrected(tmp_path: Path) -> None:
    folder = tmp_path / "a folder"
    (folder / "demo-out").mkdir(parents=True)
    write_county(make_county(people=10_000), folder / "demo-out" / "county")
    before, after = commands()

    run(before, folder)
    roles = folder / "roles.toml"
    named = "|".join(DROPPED)
    corrected, edits = re.subn(
        rf"(?m)^({named}) .*", r'\1 = "drop"', roles.read_text(encoding="utf-8")
    )
    assert edits == len(DROPPED)
    roles.write_text(corrected, encoding="utf-8")
    run(after, folder)

    assert (folder / "report.html").exists()
    assert (folder / "release.csv.manifest.json").exists()
