"""What a release holds, and what stops it."""

from __future__ import annotations

import csv
import json
import re
import shutil
from pathlib import Path
from typing import Any

import pyarrow.parquet as pq
import pytest
from tests.cli.documents.ward import (
    FIRST,
    HARMLESS,
    QUICK,
    WORD,
    Notes,
    put_lines,
    refused,
    released,
    roles_of,
    texts_of,
)


def test_apply_puts_marks_where_its_removals_say(voile: Any, notes: Notes, tmp_path: Path) -> None:
    out = tmp_path / "a release.jsonl"
    ran = voile(*notes.apply(out), "--keep-order", "--json")
    assert ran.code == 0
    assert ran.json["counts"]["released"] == 24
    removals = pq.read_table(tmp_path / "a release.jsonl.private" / "removals.parquet").to_pylist()
    for row, (text, found) in enumerate(zip(texts_of(notes), released(out), strict=True)):
        made, at = "", 0
        for one in (one for one in removals if one["row"] == row):
            made += text[at : one["start"]] + f"[{one['label']}]"
            assert found[one["published_start"] : one["published_end"]] == f"[{one['label']}]"
            at = one["end"]
        assert found == made + text[at:]
        assert found.endswith("\r\n[NAME] will come again.\r\n")
    assert not [text for text in released(out) if WORD.sub("", text) != text.replace(HARMLESS, "")]
    assert {(by["kind"], by["number"]) for one in removals for by in one["by"]} >= {("pass", 1)}


def test_a_release_has_another_order(voile: Any, notes: Notes, tmp_path: Path) -> None:
    orders = set()
    for name in ("a.jsonl", "b.jsonl"):
        assert voile(*notes.apply(tmp_path / name), "--quiet").code == 0
        orders.add(tuple(released(tmp_path / name)))
    assert len(orders) == 2
    assert len({tuple(sorted(order)) for order in orders}) == 1


def test_a_kit_is_applied_to_plain_text(voile: Any, notes: Notes, tmp_path: Path) -> None:
    new = tmp_path / "new notes"
    new.mkdir()
    for path in notes.source.glob("*.txt"):
        shutil.copy(path, new)
    for source, out in ((notes.source, "a.jsonl"), (new, "b.jsonl")):
        words = notes.apply(tmp_path / out, source)
        assert voile(*words, "--keep-order", "--quiet").code == 0
    assert released(tmp_path / "a.jsonl") == released(tmp_path / "b.jsonl")


def test_surrogates_follow_the_secret(
    voile: Any, notes: Notes, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    found = []
    for number, secret in enumerate(["a" * 32, "a" * 32, "b" * 32]):
        monkeypatch.setenv("VOILE_SECRET", secret)
        words = notes.apply(tmp_path / f"{number}.jsonl")
        ran = voile(*words, "--keep-order", "--replace", "surrogate")
        assert ran.code == 0
        assert secret not in ran.out + ran.err
        found.append(released(tmp_path / f"{number}.jsonl"))
    assert found[0] == found[1] != found[2]
    for text, source in zip(found[0], texts_of(notes), strict=True):
        assert "[NAME]" not in text
        assert not set(WORD.findall(text)) - {HARMLESS}
        first, again = re.findall(r"Patient: (\w+)|(\w+) will come", text)
        assert first[0] == again[1]
        assert len(text.splitlines()) == len(source.splitlines())


def test_surrogates_need_a_secret(
    voile: Any, notes: Notes, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    words = [*notes.apply(tmp_path / "a.jsonl"), "--replace", "surrogate"]
    monkeypatch.delenv("VOILE_SECRET", raising=False)
    assert "VOILE_SECRET: the secret has 0 bytes" in refused(voile, *words)
    monkeypatch.setenv("VOILE_SECRET", "short")
    assert "VOILE_SECRET: the secret has 5 bytes" in refused(voile, *words)
    file = tmp_path / "secret"
    file.write_text("s" * 32)
    file.chmod(0o644)
    assert "other users may read" in refused(voile, *words, "--key-file", file)


def test_lists_say_what_goes_and_what_stays(voile: Any, notes: Notes, tmp_path: Path) -> None:
    deny, allow = tmp_path / "deny.txt", tmp_path / "allow.txt"
    deny.write_text(f"{HARMLESS}\n")
    allow.write_text(f"{FIRST[0]}\r\n{FIRST[1]}\r\n")
    out = tmp_path / "release.jsonl"
    words = [*notes.apply(out), "--keep-order", "--deny", deny, "--allow", allow, "--quiet"]
    assert voile(*words).code == 0
    for source, text in zip(texts_of(notes), released(out), strict=True):
        assert HARMLESS not in text
        assert ("[LISTED]" in text) == (HARMLESS in source)
        for name in FIRST[:2]:
            assert text.count(name) == source.count(name)
    assert "the list cannot be read" in refused(
        voile, *words, "--force", "--deny", tmp_path / "none"
    )


def test_a_note_that_is_no_text_is_set_aside(voile: Any, notes: Notes, tmp_path: Path) -> None:
    source = tmp_path / "notes"
    shutil.copytree(notes.source, source)
    bad = source / "note 05.txt"
    bad.write_bytes(bad.read_bytes() + b"caf\xe9")
    out = tmp_path / "a.jsonl"
    ran = voile(*notes.apply(out, source), "--json")
    assert ran.code == 1
    assert ran.json["counts"]["set_aside"] == 1
    assert "voile: 1 row set aside: 1 row in column " in ran.err
    assert not WORD.search(ran.err)
    assert len(released(out)) == 23
    with (tmp_path / "a.jsonl.private" / "set-aside.csv").open() as file:
        (row,) = csv.DictReader(file)
    assert (row["row"], row["column"], row["id"]) == ("5", "text", "note 05")
    words = notes.apply(tmp_path / "b.jsonl", source)
    assert voile(*words, "--encoding", "windows-1252", "--quiet").code == 0
    assert len(released(tmp_path / "b.jsonl")) == 24


def test_empty_documents_stay_empty(voile: Any, lines: Path, tmp_path: Path) -> None:
    roles, kit = roles_of(voile, lines, tmp_path / "roles.toml"), tmp_path / "kit"
    fit = ["documents", "fit", lines, "--roles", roles, "--out", kit, *QUICK, "--miss-cost", 5]
    assert voile(*fit, "--quiet").code == 0
    policy = tmp_path / "policy.toml"
    assert voile("documents", "choose", kit, "--policy", 0, "--out", policy, "--quiet").code == 0
    row = {"patient": "p1", "marks": [], "ward": "south"}
    few = put_lines(
        tmp_path / "few.jsonl",
        [{**row, "note": x} for x in ("", None, " \n", "The patient had a fever.")],
    )
    out = tmp_path / "release.jsonl"
    words = ["documents", "apply", kit, few, "--policy", policy, "--out", out, "--keep-order"]
    assert voile(*words, "--quiet").code == 0
    made = [json.loads(line).get("note") for line in out.read_text().splitlines()]
    assert made == ["", None, " \n", "The patient had a fever."]
    other = put_lines(tmp_path / "other.jsonl", [{"note": "The patient had a fever."}])
    said = refused(voile, *words[:3], other, *words[4:], "--force")
    assert "there are no columns patient, ward" in said


def test_a_policy_without_a_pass_is_warned_of(voile: Any, notes: Notes, tmp_path: Path) -> None:
    policy = tmp_path / "policy.toml"
    text, section, own = notes.policy.read_text().partition("[policy]")
    policy.write_text(text + section + re.sub(r"passes = \d+", "passes = 0", own))
    words = [*notes.apply(tmp_path / "a.jsonl"), "--policy", policy, "--keep-order"]
    ran = voile(*words)
    assert ran.code == 0
    assert "voile: warning: the policy has no pass: the committee removes nothing" in ran.err
    assert released(tmp_path / "a.jsonl") == texts_of(notes)
    assert "warning" not in voile(*notes.apply(tmp_path / "b.jsonl")).err


def test_a_policy_of_another_kit_is_refused(voile: Any, notes: Notes, tmp_path: Path) -> None:
    assert voile(*notes.fit(tmp_path / "kit"), "--seed", 2, "--quiet").code == 0
    words = notes.apply(tmp_path / "a.jsonl")
    words[2] = tmp_path / "kit"
    assert "choose a policy from this kit" in refused(voile, *words)


def test_a_policy_that_the_kit_cannot_do_is_refused(
    voile: Any, notes: Notes, tmp_path: Path
) -> None:
    policy = tmp_path / "policy.toml"
    words = [*notes.apply(tmp_path / "a.jsonl"), "--policy", policy]
    for old, new, what in (
        (r"passes = \d+", "passes = 99", "has no 99 passes; use 0 to"),
        (r"miss_cost = \d+\.0", "miss_cost = 7.0", "for a miss_cost of 7; use one of 5, 20"),
    ):
        text, section, own = notes.policy.read_text().partition("[policy]")
        policy.write_text(text + section + re.sub(old, new, own))
        assert what in refused(voile, *words)
