"""The history of a project in an empty folder: each file comes back, byte by byte."""

from __future__ import annotations

import json
import shutil
import subprocess
import sys
from pathlib import Path

SCRIPTS = ("history.sh", "history.py")
KEYS = ("private/key", "study.key")
STATEMENT = "determination/statements/01.json"
SIGNED = {STATEMENT, f"{STATEMENT}.sig"}
"""Files with a signature or its time."""


def check_replay(project: Path, script: str) -> None:
    """Run a history in an empty folder with the keys, and compare all files."""
    again = project.with_name(f"again-{script[-2:]}")
    (again / "private").mkdir(parents=True)
    for key in KEYS:
        if (project / key).exists():
            shutil.copy(project / key, again / key)
    runner = ["sh"] if script.endswith("sh") else [sys.executable, "-W", "ignore"]
    path = f"{Path(sys.executable).parent}:/usr/bin:/bin"
    done = subprocess.run(
        [*runner, str(project / script)], cwd=again, env={"PATH": path}, capture_output=True
    )
    assert done.returncode == 0, done.stderr
    assert list_files(again) == list_files(project)
    for name in list_files(project) - SIGNED:
        assert (again / name).read_bytes() == (project / name).read_bytes(), name
    made, kept = (json.loads((one / STATEMENT).read_text()) for one in (again, project))
    assert made | {"at": kept["at"]} == kept
    shutil.rmtree(again)  # the register lists all projects of a folder


def list_files(folder: Path) -> set[str]:
    """Return the files of a project, without the histories and the hidden files of the page."""
    files = (one.relative_to(folder) for one in folder.rglob("*") if one.is_file())
    return {str(one) for one in files if not str(one).startswith((".", "history."))}
