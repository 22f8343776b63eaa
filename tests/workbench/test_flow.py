"""A project that was made in the page: its figures are the verbs', and its history replays."""

from __future__ import annotations

import json
import re
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest
from tests.workbench.replayed import SCRIPTS, check_replay
from tests.workbench.served import Workbench, opened


def voile(*words: str, cwd: Path) -> dict[str, object]:
    command = [sys.executable, "-m", "voile", *words, "--json"]
    done = subprocess.run(command, cwd=cwd, capture_output=True, text=True)
    assert done.returncode == 0, done.stderr
    return dict(json.loads(done.stdout))


def test_the_signed_release_verifies(finished: Path) -> None:
    signers = ["--signers", "../signers"]
    assert voile("verify", "determination", *signers, cwd=finished)["ok"]
    assert voile("verify", "release.csv", "--key-file", "private/key", cwd=finished)["ok"]


@pytest.mark.parametrize("script", SCRIPTS)
def test_a_history_makes_the_same_files_in_an_empty_folder(finished: Path, script: str) -> None:
    check_replay(finished, script)


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


def test_the_columns_the_groups_and_the_contributors_are_those_of_the_verb(
    served: Workbench, finished: Path
) -> None:
    shown = show(finished)
    recoding, groups, drivers = list_recoding(served)
    for drawn, one in zip(recoding["columns"], shown["columns"], strict=True):
        names = ("values", "people")
        assert [drawn[x] for x in names] == [one[x] for x in names]
        labels = [[x["label"], f"{x['people']:,.0f}"] for x in one["labels"]]
        assert drawn["labels"] == labels[: len(labels) - drawn["more"]]
    sizes = zip(shown["groups_before"], shown["groups"], strict=True)
    assert [row[1:] for row in groups["rows"]] == [
        [f"{before['people']:,.0f}", f"{after['people']:,.0f}"] for before, after in sizes
    ]
    without = {x["column"]: x["expected_matches_without_it"] for x in shown["columns"]}
    assert dict(drivers["rows"]) == {name: f"{value:.3g}" for name, value in without.items()}
    leaves = [(x["labels"], f"{x['people']:,.0f}", str(x["merges_into"])) for x in shown["leaves"]]
    assert all((x["labels"], x["people"], x["node"]) in leaves for x in recoding["leaves"])


def test_edits_by_hand_are_the_verbs_and_both_histories_repeat_them(project: Path) -> None:
    answer = voile("tables", "frontier", "patients.kit", cwd=project)
    families = {x["family"]: x["number"] for x in answer["policies"]}  # type: ignore[attr-defined]
    with opened(project) as page:
        page.enter()
        page.act("frontier.choose", policy=families["tree"])
        node = list_recoding(page)[0]["leaves"][0]["node"]
        page.act("frontier.edit", merge=node)
        check_edited(page, project)
        page.act("frontier.choose", policy=families["global"])
        age, *_ = list_recoding(page)[0]["columns"]
        first = age["values"][age["starts"][0]]
        page.act("frontier.edit", merge=f"age={first}")
        check_edited(page, project)
        page.act("frontier.edit", split=f"age={age['values'][40]}")
        check_edited(page, project)
        age, *_ = list_recoding(page)[0]["columns"]
        assert first not in [age["values"][x] for x in age["starts"]]
        assert 40 in age["starts"]
        page.act("release.apply")
        assert page.get("/state")["steps"][4]["state"] == "done"
        page.act("frontier.edit", merge=f"age={age['values'][40]}")
        check_edited(page, project)
        for place in ("age=none", "none=1", "age", 3):
            assert page.post("/act", act="frontier.edit", form={"split": place})[0] == 400
        scripts = page.get("/history")
    policy = (project / "policy.toml").read_bytes()
    head = scripts["python"][: scripts["python"].index("# 1 ")]
    edits = scripts["python"][scripts["python"].index("# 12 frontier") :]
    subprocess.run([sys.executable, "-W", "ignore", "-c", head + edits], cwd=project, check=True)
    assert (project / "policy.toml").read_bytes() == policy


def check_edited(page: Workbench, project: Path) -> None:
    """Compare the edited policy's figures on the page with those of the verb."""
    figures, edited = show(project)["figures"], page.block("frontier", "frontier")["edited"]
    assert (edited["x"], edited["loss"]) == (figures["expected_matches"], figures["loss"])
    assert edited["figures"][0][0] == f"{figures['expected_matches']:.3g}"
    assert isinstance(edited["began"], int)
    state = page.get("/state")["steps"]
    assert (state[3]["state"], state[4]["state"]) == ("done", "stale")


def show(project: Path) -> dict[str, Any]:
    return voile("tables", "show", "patients.kit", "--policy", "policy.toml", cwd=project)


def list_recoding(page: Workbench) -> list[dict[str, Any]]:
    """Return the columns, the groups and the contributors of the Frontier step."""
    return [x for x in page.screen("frontier")["blocks"] if x["block"] in ("recoding", "table")]


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


def test_the_progress_of_a_verb_is_its_own(project: Path) -> None:
    with opened(project) as page:
        page.enter()
        assert page.post("/act", act="adversary.fit", form=page.form("adversary"))[0] == 204
        progress: dict[str, Any] = {}
        while progress.get("task") != "growing trees":
            job = page.get("/state")["job"]
            assert job["state"] == "running"
            progress = job["progress"] or progress
        page.post("/stop")
        assert progress.keys() == {"task", "done", "total", "seconds_left"}
        assert page.wait()["job"]["state"] in ("done", "stopped")


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
