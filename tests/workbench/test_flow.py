"""From a table to a signed release through the page's requests, and the same by its history."""

from __future__ import annotations

import json
import shutil
import subprocess
import sys
from pathlib import Path

import pytest
from tests.workbench.county import CHANGED, CONTEXT, make_key, make_table
from tests.workbench.served import Workbench, opened

NAMES = ("project.toml", "roles.toml", "context.toml", "policy.toml")


@pytest.fixture(scope="module")
def project(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A project that a person took from the table to a signature, in the page alone."""
    folder = tmp_path_factory.mktemp("county") / "county"
    table, key = make_table(folder), make_key(folder)
    with opened(table) as page:
        page.enter()
        release(page, key)
    return folder / "patients-project"


def release(page: Workbench, key: Path) -> None:
    page.act("data.inspect", **page.form("data"))
    page.act("roles.save", roles=CHANGED)
    page.act("adversary.fit", **page.form("adversary") | CONTEXT)
    page.act("frontier.choose", policy=385)
    page.act("release.apply")
    page.act("attack.run")
    page.act("decide.determine")
    signer = {"as": "officer@county.org", "key": str(key)}
    state = page.act("decide.sign", **page.form("decide") | signer)
    assert [one["state"] for one in state["steps"]] == ["done"] * 7 + ["open"]


def voile(*words: str, cwd: Path) -> dict[str, object]:
    command = [sys.executable, "-m", "voile", *words, "--json"]
    done = subprocess.run(command, cwd=cwd, capture_output=True, text=True)
    assert done.returncode == 0, done.stderr
    return dict(json.loads(done.stdout))


def test_the_signed_release_verifies(project: Path) -> None:
    signers = ["--signers", "../signers"]
    assert voile("verify", "determination", *signers, cwd=project)["ok"]
    assert voile("verify", "release.csv", "--key-file", "private/key", cwd=project)["ok"]


@pytest.mark.parametrize("script", ["history.sh", "history.py"])
def test_a_history_makes_the_same_files_in_an_empty_folder(project: Path, script: str) -> None:
    again = project.with_name(f"again-{script[-2:]}")
    (again / "private").mkdir(parents=True)
    shutil.copy(project / "private/key", again / "private/key")
    runner = ["sh"] if script.endswith("sh") else [sys.executable]
    path = f"{Path(sys.executable).parent}:/usr/bin:/bin"
    done = subprocess.run(
        [*runner, str(project / script)], cwd=again, env={"PATH": path}, capture_output=True
    )
    assert done.returncode == 0, done.stderr
    kit = [f"patients.kit/{one.name}" for one in (project / "patients.kit").iterdir()]
    for name in (*NAMES, *kit, "release.csv.private/control.parquet"):
        assert (again / name).read_bytes() == (project / name).read_bytes(), name
    # apply draws the order of rows from entropy
    rows = [sorted((one / "release.csv").read_text().splitlines()) for one in (project, again)]
    assert rows[0] == rows[1]
