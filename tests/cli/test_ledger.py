"""`voile ledger` on the command line: init, show, verify."""

from __future__ import annotations

import json
import re
from pathlib import Path

import numpy as np
import pyarrow as pa
import pytest
from pyarrow import csv
from tests.ledger.conftest import INTENT

from voile.cli.run import run
from voile.data.files.outputs import MANIFEST
from voile.keys.seal import file_sha256
from voile.ledger.ledger import Ledger, open_ledger


@pytest.fixture
def key_file(tmp_path: Path) -> Path:
    path = tmp_path / "key"
    path.write_text("a key known to the tests alone")
    path.chmod(0o600)
    return path


@pytest.fixture
def place(tmp_path: Path, key_file: Path) -> Path:
    path = tmp_path / "county.ledger"
    promise = ["--expected-matches", "130", "--k", "5", "--quiet"]
    assert run(["ledger", "init", str(path), *promise, "--key-file", str(key_file)]) == 0
    return path


def told(capsys: pytest.CaptureFixture[str], *words: object) -> tuple[int, dict[str, object]]:
    code = run([*map(str, words), "--json"])
    return code, json.loads(capsys.readouterr().out)


def test_a_ledger_shows_its_promise(place, capsys):
    code, shown = told(capsys, "ledger", "show", place)
    assert code == 0
    assert shown["promise"] == {"expected_matches": 130.0, "k": 5}
    assert shown["recipients"] == "may collude"
    assert place.stat().st_mode & 0o077 == 0


def test_recipients_apart_stand_in_the_ledger(tmp_path, key_file, capsys):
    place = tmp_path / "l"
    words = ["ledger", "init", place, "--k", "5", "--key-file", key_file]
    assert run([*map(str, words), "--apart", "Site A", "Site A"]) == 2
    assert not place.exists()
    code, made = told(capsys, *words, "--apart", "Site A", "Site B")
    assert (code, made["apart"]) == (0, [["Site A", "Site B"]])
    assert run(["ledger", "show", str(place)]) == 0
    assert "these pairs share no releases: Site A and Site B" in capsys.readouterr().err


def test_a_ledger_is_a_page_for_the_holder_and_shows_no_markup_of_a_reason(
    place, key_file, tmp_path
):
    page = tmp_path / "page.html"
    assert run(["ledger", "show", str(place), "--out", str(page), "--quiet"]) == 0
    assert "Nothing was released yet." in page.read_text()
    assert run(["ledger", "show", str(place), "--out", str(page), "--quiet"]) == 2
    with open_ledger(place, key_file) as opened:
        opened.append("intent", {**INTENT, "override": "<b>the board</b>", "recipient": "Site A"})
        opened.append("done", {"of": 1})
        opened.append("intent", {**INTENT, "joint": {}, "alone": {}})
        opened.append("erase", {"who": "0" * 16, "reason": "asked"})
    assert run(["ledger", "show", str(place), "--out", str(page), "--force", "--quiet"]) == 0
    html = page.read_text()
    for said in ("for the data holder only", "130 promised", "no bound", "Site A", "counts as"):
        assert said in html
    assert "&lt;b&gt;the board" in html
    assert "<b>the board" not in html
    assert "0" * 16 not in html


def test_a_promise_is_needed_and_a_ledger_not_replaced(place, key_file, tmp_path, capsys):
    assert run(["ledger", "init", str(tmp_path / "other"), "--key-file", str(key_file)]) == 2
    assert run(["ledger", "init", str(place), "--k", "3", "--key-file", str(key_file)]) == 2
    assert run(["ledger", "show", str(tmp_path / "none")]) == 2


def publish(place: Path, key_file: Path, folder: Path) -> Path:
    """Leave a release and its intent, as a run killed before *done* would."""
    release, manifest = folder / "r.csv", folder / f"r.csv{MANIFEST}"
    with open_ledger(place, key_file) as opened:
        chain = opened.ledger.chain
        line = {"id": opened.ledger.id, "line": len(chain.lines), "head": chain.head}
        release.write_text("age\n")
        manifest.write_text(json.dumps({"ledger": line, "made in": folder.name}))
        hashes = {"release": file_sha256(release), "manifest": file_sha256(manifest)}
        where = opened.keys.hash("folder", str(folder.resolve()))
        opened.append("intent", {**INTENT, **hashes, "folder": where})
    return manifest


def test_an_intent_is_closed_by_what_lies_in_its_folder(place, key_file, tmp_path, capsys):
    folder = tmp_path / "out"
    folder.mkdir()
    verify = ["ledger", "verify", place, "--key-file", key_file, "--releases"]
    manifest = publish(place, key_file, folder)
    assert told(capsys, *verify, tmp_path)[1]["closed"] == []
    assert told(capsys, *verify, folder)[1]["closed"] == [{"line": 1, "act": "done"}]
    publish(place, key_file, folder)
    manifest.with_name("r.csv").unlink()
    assert told(capsys, *verify, folder)[1]["closed"] == [{"line": 3, "act": "void"}]
    assert [line.number for line in Ledger.read_file(place).released_lines] == [1]
    assert told(capsys, *verify, folder)[1]["closed"] == []


def test_a_cut_ledger_is_found_by_a_later_manifest_alone(place, key_file, tmp_path, capsys):
    before = place.read_bytes()
    manifest = publish(place, key_file, tmp_path)
    verify = ["ledger", "verify", place, "--manifests", manifest]
    code, found = told(capsys, *verify)
    assert code == 0
    assert [check["ok"] for check in found["checks"]] == [True, None, True]
    place.write_bytes(before)
    code, found = told(capsys, *verify)
    assert code == 1
    assert "ends before line 1" in found["checks"][-1]["check"]
    assert run([*map(str, verify), "--key-file", str(key_file)]) == 1


def test_a_fork_is_found_where_two_manifests_meet(place, key_file, tmp_path, capsys):
    heads = key_file.with_name("key.ledgers")
    older, older_heads = place.read_bytes(), heads.read_bytes()
    (tmp_path / "one").mkdir()
    (tmp_path / "two").mkdir()
    publish(place, key_file, tmp_path / "one")
    place.write_bytes(older)
    heads.write_bytes(older_heads)
    publish(place, key_file, tmp_path / "two")
    verify = ["ledger", "verify", place, "--key-file", key_file, "--manifests"]
    assert told(capsys, *verify, tmp_path / "two")[0] == 0
    code, found = told(capsys, *verify, tmp_path / "two", "--manifests", tmp_path / "one")
    assert code == 1
    assert [check["ok"] for check in found["checks"]] == [True, True, True, False]


def test_a_changed_line_is_named(place, capsys):
    place.write_bytes(place.read_bytes().replace(b"130", b"999"))
    assert run(["ledger", "verify", str(place)]) == 0  # alone in its chain: nothing else says so
    place.write_bytes(place.read_bytes().replace(b'":0', b'": 0'))
    assert run(["ledger", "verify", str(place)]) == 1
    assert "line 0 is not as it was written" in capsys.readouterr().err


@pytest.mark.parametrize(
    ("family", "suppress"), [("global", "0"), ("global", "0.05"), ("tree", "0")]
)
def test_choose_judge_and_apply_print_one_risk_and_one_loss(
    tmp_path, key_file, voile, monkeypatch, family, suppress
):
    monkeypatch.chdir(tmp_path)
    rng = np.random.default_rng(1)
    jobs = rng.choice(list("uvwxyz"), 600, p=[0.4, 0.2, 0.2, 0.1, 0.05, 0.05])
    people = pa.table(
        {"age": rng.integers(20, 60, 600), "town": rng.choice(list("abc"), 600), "job": jobs}
    )
    csv.write_csv(people, "people.csv")
    Path("roles.toml").write_text('[columns]\nage = "quasi"\ntown = "quasi"\njob = "quasi"\n')
    keys = ("--key-file", key_file)
    limits = ("--family", family, "--k", "4", "--suppress", suppress, "--seed", "1")
    assert (
        voile("tables", "fit", "people.csv", "--roles", "roles.toml", *limits, "--out", "k").code
        == 0
    )
    assert voile("ledger", "init", "l", "--joint-risk", ".9", *keys).code == 0
    ran = [
        voile("tables", "choose", "k", "--least-loss", "--out", "policy.toml"),
        voile(
            "tables", "choose", "k", "--after", "l", "--joint-risk", ".9", *keys, "--out", "p2.toml"
        ),
        voile("ledger", "judge", "l", "k", "--policy", "policy.toml", *keys),
        voile(
            *("tables", "apply", "k", "people.csv", "--policy", "policy.toml"),
            *("--out", "release.csv", "--ledger", "l", *keys),
        ),
    ]
    assert [one.code for one in ran] == [0, 0, 0, 0]
    printed = [re.search(r"relative risk [\d.]+%, loss ([\d.]+)%", one.err) for one in ran]
    assert len({match and match.group() for match in printed}) == 1
    scored = json.loads(Path("release.csv.private/manifest.json").read_text())["chosen"]["figures"]
    loss = (scored["distribution"] + scored["resolution"]) / 2
    assert scored["loss"] == pytest.approx(loss)
    assert printed[0].group(1) == f"{100 * loss:.1f}".removesuffix(".0")
