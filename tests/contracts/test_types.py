"""Test that mypy rejects a verb with another signature than the contract, or a missing module."""

from __future__ import annotations

import shutil
import subprocess
import sys
from pathlib import Path

ROOT = Path(__file__).parents[2]
KINDS = ("documents", "itemsets", "signals", "tables")
ATTACK = "def attack(\n"
OWN_VERB = "_enrol_options,\n        _load_enrol"
WRONG_OWN_VERB = "_enrol_options,\n        _load_send"
WRONG_ATTACK = "def attack(\n    verbosity: int,\n"


def test_a_wrong_signature_and_a_wrong_name_fail_the_type_check(tmp_path: Path) -> None:
    """One run for all faults: a required argument in each attack, and a name in each module."""
    copy = tmp_path / "copy"
    ignored = shutil.ignore_patterns("__pycache__")
    shutil.copytree(ROOT / "src", copy / "src", ignore=ignored)
    shutil.copy2(ROOT / "pyproject.toml", copy)
    if (ROOT / ".mypy_cache").is_dir():  # what was checked before is not checked again
        shutil.copytree(ROOT / ".mypy_cache", copy / ".mypy_cache")
    for kind in KINDS:
        _replace(copy / f"src/voile/{kind}/verbs/attack.py", ATTACK, WRONG_ATTACK)
        _replace(copy / f"src/voile/{kind}/module.py", "verbs.report import", "verbs.reprot import")
    _replace(copy / "src/voile/signals/verbs/own.py", OWN_VERB, WRONG_OWN_VERB)
    _replace(copy / "src/voile/modules.py", "voile.tables.module", "voile.tabels.module")
    words = [sys.executable, "-m", "mypy", "--config-file", "pyproject.toml"]
    done = subprocess.run(words, cwd=copy, capture_output=True, text=True, check=False)
    said = done.stdout
    assert done.returncode == 1, done.stderr
    for kind in KINDS:
        wrong = f"src/voile/{kind}/module.py"
        assert any("Incompatible return value" in x for x in said.splitlines() if wrong in x), said
        assert f'named "voile.{kind}.verbs.reprot"' in said
    assert 'named "voile.tabels.module"' in said
    assert any("incompatible type" in x for x in said.splitlines() if "own.py" in x), said


def _replace(path: Path, old: str, new: str) -> None:
    text = path.read_text("utf8")
    assert text.count(old) == 1, path
    path.write_text(text.replace(old, new), "utf8")
