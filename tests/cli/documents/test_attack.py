"""What the attack finds, the report tells and verify checks; and that no word gets out."""

from __future__ import annotations

import random
import shutil
from pathlib import Path
from typing import Any

import pytest
from tests.cli.documents.ward import WORD, Notes, attack_on, note, put_brat, refused

from voile.core.evidence import Evidence
from voile.report.wording import name_of


def figures(evidence: dict[str, Any]) -> dict[str, float]:
    """Return an attack's rates by their names."""
    findings = Evidence.from_json(evidence).findings
    return {name_of(one, "internal"): one.rate.value for one in findings if one.rate.trials}


def test_attack_finds_what_is_left(voile: Any, notes: Notes, leaky: Path, tmp_path: Path) -> None:
    told = voile(*attack_on(notes, leaky), "--out", tmp_path / "e.json", "--json").json
    rates = [figures(evidence) for evidence in told["evidence"]]
    assert [evidence["attack"] for evidence in told["evidence"]] == [
        "inspections, other documents labelled",
        "inspections, a part labelled by hand",
        "inspections, ready-made classifier",
    ]
    assert all(rate["identifiers found, 10 inspections"] > 0.5 for rate in rates)
    again = voile(*attack_on(notes, leaky), "--out", tmp_path / "f.json", "--json").json
    assert again["evidence"] == told["evidence"]


def test_attack_finds_nothing_where_all_is_removed(
    voile: Any, notes: Notes, tmp_path: Path
) -> None:
    out = tmp_path / "a.jsonl"
    assert voile(*notes.apply(out), "--quiet").code == 0
    for evidence in voile(*attack_on(notes, out), "--json").json["evidence"]:
        assert figures(evidence)["identifiers found, 10 inspections"] == 0


def test_attack_needs_the_truth_of_the_release(
    voile: Any, notes: Notes, leaky: Path, lines: Path, tmp_path: Path
) -> None:
    few = tmp_path / "notes"
    shutil.copytree(notes.source, few)
    put_brat(few, "note 24", *note(random.Random(5)))
    assert "row" in refused(voile, *attack_on(notes, leaky, few), "--force")
    assert "none of the 5 columns of the roles" in refused(
        voile, *attack_on(notes, leaky, lines), "--force"
    )
    plain = tmp_path / "plain"
    plain.mkdir()
    for path in notes.source.glob("*.txt"):
        shutil.copy(path, plain)
    said = refused(voile, *attack_on(notes, leaky, plain), "--force")
    assert "no identifier is marked in the truth" in said


def test_reports_and_checks(voile: Any, notes: Notes, leaky: Path, tmp_path: Path) -> None:
    page = tmp_path / "a report.html"
    told = voile("report", leaky, "--out", page, "--json").json
    made = ("other documents labelled", "a part labelled by hand", "ready-made classifier")
    assert set(told["attacks"]) == {f"inspections, {one}" for one in made}
    assert "<html" in page.read_text()
    assert voile("report", notes.kit, "--out", tmp_path / "kit.html").code == 0
    assert voile("verify", leaky, "--json").json["ok"]
    copy = tmp_path / leaky.name
    for path in notes.folder.glob("leaky.jsonl*"):
        move = shutil.copytree if path.is_dir() else shutil.copy
        move(path, tmp_path / path.name)
    lines = copy.read_text().splitlines(keepends=True)
    copy.write_text("".join(lines[1:]))
    assert voile("verify", copy).code == 1


def test_no_word_of_a_text_reaches_what_others_see(
    voile: Any, notes: Notes, leaky: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("voile.cli.screen.LINE_EVERY", 0.0)
    assert WORD.search(leaky.read_text())
    kit, out, policy = tmp_path / "kit", tmp_path / "release.csv", tmp_path / "policy.toml"
    allow = notes.folder / "allow.txt"
    said = []
    for words in (
        ["inspect", notes.source, "--out", tmp_path / "roles.toml"],
        ["inspect", notes.source, "--json"],
        notes.fit(kit),
        ["documents", "frontier", kit, "--all"],
        ["documents", "choose", kit, "--max-loss", 1, "--out", policy],
        [
            "documents",
            "apply",
            kit,
            notes.source,
            "--policy",
            policy,
            "--out",
            out,
            "--allow",
            allow,
        ],
        [*attack_on(notes, out), "--out", tmp_path / "evidence.json"],
        [*attack_on(notes, out), "--json"],
        ["report", out, "--out", tmp_path / "release.html"],
        ["report", kit, "--out", tmp_path / "kit.html"],
        ["verify", out],
        ["verify", out, "--json"],
    ):
        ran = voile(*words)
        assert ran.code == 0, ran.err
        said += [ran.out, ran.err]
    assert not WORD.search("".join(said))
    for path in tmp_path.iterdir():
        if path.is_file() and path != out:
            assert not WORD.search(path.read_text()), path.name
