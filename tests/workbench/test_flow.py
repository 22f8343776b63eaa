"""A project that was made in the page: its figures are the verbs', and its history replays."""

from __future__ import annotations

import json
import re
import shutil
import subprocess
import sys
from pathlib import Path

import pytest
from tests.workbench.served import Workbench, opened

NAMES = ("project.toml", "roles.toml", "context.toml", "policy.toml")


def voile(*words: str, cwd: Path) -> dict[str, object]:
    command = [sys.executable, "-m", "voile", *words, "--json"]
    done = subprocess.run(command, cwd=cwd, capture_output=True, text=True)
    assert done.returncode == 0, done.stderr
    return dict(json.loads(done.stdout))


def test_the_signed_release_verifies(finished: Path) -> None:
    signers = ["--signers", "../signers"]
    assert voile("verify", "determination", *signers, cwd=finished)["ok"]
    assert voile("verify", "release.csv", "--key-file", "private/key", cwd=finished)["ok"]


@pytest.mark.parametrize("script", ["history.sh", "history.py"])
def test_a_history_makes_the_same_files_in_an_empty_folder(finished: Path, script: str) -> None:
    again = finished.with_name(f"again-{script[-2:]}")
    (again / "private").mkdir(parents=True)
    shutil.copy(finished / "private/key", again / "private/key")
    runner = ["sh"] if script.endswith("sh") else [sys.executable, "-W", "ignore"]
    path = f"{Path(sys.executable).parent}:/usr/bin:/bin"
    done = subprocess.run(
        [*runner, str(finished / script)], cwd=again, env={"PATH": path}, capture_output=True
    )
    assert done.returncode == 0, done.stderr
    kit = [f"patients.kit/{one.name}" for one in (finished / "patients.kit").iterdir()]
    for name in (*NAMES, *kit, "release.csv.private/control.parquet"):
        assert (again / name).read_bytes() == (finished / name).read_bytes(), name
    # apply draws the order of rows from the system's entropy
    rows = [sorted((one / "release.csv").read_text().splitlines()) for one in (finished, again)]
    assert rows[0] == rows[1]
    assert (again / "determination/statements/01.json.sig").exists()


def test_the_frontier_shows_the_figures_of_the_verb(served: Workbench, finished: Path) -> None:
    answer = voile("tables", "frontier", "patients.kit", cwd=finished)
    block = served.block("frontier", "frontier")
    names = {"number": "number", "x": "expected_matches", "loss": "loss", "risk": "max_risk"}
    for shown, policy in zip(block["policies"], answer["policies"], strict=True):  # type: ignore[call-overload]
        assert {n: shown[n] for n in names} == {n: policy[x] for n, x in names.items()}
    said = choose_in_words(finished, block["chosen"])
    expected, risk, loss = (one[0] for one in block["policies"][block["chosen"]]["figures"])
    assert f"loss {loss}," in said
    assert f"({risk})" in said
    assert f"expected matches {expected}" in said
    assert "at least 60 people of the population" in block["policies"][block["chosen"]]["says"]


def choose_in_words(project: Path, number: int) -> str:
    """Return what `voile tables choose` prints about a policy."""
    way = ["--policy", str(number), "--out", "../shown.toml", "--force"]
    command = [sys.executable, "-m", "voile", "tables", "choose", "patients.kit", *way]
    return subprocess.run(command, cwd=project, capture_output=True, text=True).stderr


def test_the_attacks_show_the_figures_of_the_evidence(served: Workbench, finished: Path) -> None:
    evidence = json.loads((finished / "release.csv.private/evidence.json").read_text())["evidence"]
    stories = served.block("attack", "stories")["stories"]
    assert len(stories) == len(evidence)
    for story, one in zip(stories, evidence, strict=True):
        rates = [x["rate"] for x in one["findings"] if x["rate"]["trials"]]
        shown = [x["found"]["value"] for x in story["findings"]]
        assert shown == [x["successes"] / x["trials"] for x in rates]


def test_the_decision_shows_the_figures_of_the_determination(
    served: Workbench, finished: Path
) -> None:
    facts = json.loads((finished / "determination/determination.json").read_text())
    block = served.block("decide", "criteria")
    assert block["verdict"] == facts["verdict"]
    for shown, one in zip(block["criteria"], facts["criteria"], strict=True):
        figure = one["figure"] or {"shown": "–", "interval": ""}
        assert (shown["shown"], shown["interval"]) == (figure["shown"], figure["interval"])
        assert (shown["verdict"], shown["limit"]) == (one["verdict"], one["limit"])


def test_the_release_shows_the_figures_of_the_manifest(served: Workbench, finished: Path) -> None:
    manifest = json.loads((finished / "release.csv.private/manifest.json").read_text())
    shown = {x["label"]: x["big"] for x in served.block("release", "figures")["figures"]}
    assert shown["Riskiest record"] == "1.7% (1 in 60)"
    assert shown["Smallest group"] == f"{manifest['figures']['k']:.0f}"
    lede = served.screen("release")["lede"]
    assert re.findall(r"[\d,]+\d", lede) == [
        f"{manifest['counts'][name]:,}" for name in ("released", "read", "held_out")
    ]


def test_the_commands_for_a_ledger_run_as_the_page_prints_them(project: Path) -> None:
    with opened(project) as page:
        page.enter()
        blocks = [one for one in page.screen("again")["blocks"] if one["block"] == "commands"]
        script = "set -e\n" + "\n".join(blocks[-1]["commands"])
        env = {"PATH": f"{Path(sys.executable).parent}:/usr/bin:/bin"}
        done = subprocess.run(["sh", "-c", script], cwd=project, env=env, capture_output=True)
        assert done.returncode == 0, done.stderr
        states = [one["state"] for one in page.get("/state")["steps"]]
        assert states[3:6] == ["done", "done", "open"]
