"""Every verb on a small county, and what stops it."""

from __future__ import annotations

import io
import json
import shutil
import signal
from pathlib import Path
from typing import Any

import pytest

from voile.cli.run import run
from voile.data.roles import Roles
from voile.modules import MODULES
from voile.release.choice import Chosen
from voile.release.kit import StoredKit


@pytest.fixture
def release(voile: Any, files: Any, tmp_path: Path) -> Path:
    out: Path = tmp_path / "release.csv"
    assert voile(*files.apply(out), "--quiet").code == 0
    return out


def attack(files: Any, release: Path) -> list[object]:
    known = ["--original", files.patients, "--register", files.register]
    return ["tables", "attack", release, *known, "--population", files.population]


def test_inspect_writes_roles_that_read_back(voile: Any, files: Any, tmp_path: Path) -> None:
    out = tmp_path / "roles.toml"
    ran = voile("inspect", files.patients, "--out", out)
    assert (ran.code, ran.out) == (0, "")
    roles = Roles.read(out)
    assert roles.of("quasi")[:2] == ["birth_date", "age"]
    assert voile("inspect", files.patients).out == out.read_text()
    assert voile("inspect", files.patients, "--json").json["subject"] == "person_id"


def test_a_terminal_and_an_editor_obey_nothing_of_a_name(voile: Any, tmp_path: Path) -> None:
    name, source, out = "a\x1b[2J\u202eb\nc\u2066", tmp_path / "s.csv", tmp_path / "roles.toml"
    source.write_text(f'person_id,"{name}"\n' + "".join(f"{i // 2},{i % 3}\n" for i in range(40)))
    ran = voile("inspect", source, "--out", out)
    assert ran.code == 0
    assert all(line.isprintable() for line in ran.err.split("\n"))
    assert [line for line in ran.err.splitlines() if line.startswith("c")] == []
    assert all(line.isprintable() for line in out.read_text(encoding="utf-8").split("\n"))
    assert name in Roles.read(out).columns


def test_fit_says_what_it_found(voile: Any, files: Any, tmp_path: Path) -> None:
    ran = voile(*files.fit(tmp_path / "kit"), "--seed", "5", "--json")
    assert ran.code == 0
    kit = StoredKit.load(tmp_path / "kit")
    assert ran.json["id"] == kit.id
    assert ran.json["policies"] == kit.facts["policies"]


def test_frontier_lists_every_policy_in_json_and_lines(voile: Any, files: Any) -> None:
    ran = voile("tables", "frontier", files.kit, "--json")
    policies = ran.json["policies"]
    assert [p["number"] for p in policies] == list(range(len(policies)))
    assert {"risk", "loss"} <= set(policies[0])
    lines = voile("tables", "frontier", files.kit, "--all").out.splitlines()
    assert len(lines) == len(policies) + 1
    assert lines[0].split("\t")[:3] == ["number", "risk", "loss"]


@pytest.mark.parametrize(
    "how",
    [
        ["--max-risk", ".5"],
        ["--max-relative-risk", ".5"],
        ["--max-loss", ".5"],
        ["--policy", "1"],
        ["--knee"],
    ],
)
def test_choose_writes_a_policy(voile: Any, files: Any, tmp_path: Path, how: list[str]) -> None:
    out = tmp_path / "policy.toml"
    ran = voile("tables", "choose", files.kit, *how, "--out", out, "--json")
    assert ran.code == 0
    number = Chosen.read(out).number
    assert ran.json["number"] == number
    assert ran.err.count(f"policy {number}") == 1


def test_the_largest_risk_is_the_same_limit_in_choose_as_in_fit(
    voile: Any, files: Any, tmp_path: Path
) -> None:
    limit, policy, kit = ["--max-risk", ".1"], tmp_path / "policy.toml", tmp_path / "kit"
    assert voile("tables", "choose", files.kit, *limit, "--out", policy).code == 0
    assert Chosen.read(policy).figures["max_risk"] <= 0.1
    assert voile(*files.fit(kit), *limit, "--method", "steepest").code == 0
    policies = voile("tables", "frontier", kit, "--json").json["policies"]
    assert max(one["max_risk"] for one in policies) <= 0.1
    open_ = ["tables", "choose", files.kit, "--max-relative-risk", "1", "--out", policy]
    assert voile(*open_, "--force").code == 0
    assert Chosen.read(policy).figures["max_risk"] > 0.1


def test_a_release_that_was_changed_is_not_reported(
    voile: Any, release: Path, tmp_path: Path
) -> None:
    release.write_text(release.read_text() + "\n")
    ran = voile("report", release, "--out", tmp_path / "page.html")
    assert (ran.code, "bytes" in ran.err, (tmp_path / "page.html").exists()) == (1, True, False)
    assert "restore it, or apply again" in ran.err


def test_choose_takes_exactly_one_way(voile: Any, files: Any, tmp_path: Path) -> None:
    ran = voile("tables", "choose", files.kit, "--out", tmp_path / "policy.toml")
    assert ran.code == 2
    assert "exactly one" in ran.err


def test_apply_attack_report_verify(voile: Any, files: Any, release: Path) -> None:
    ran = voile(*attack(files, release), "--seed", "3", "--json")
    assert ran.code == 0
    attacks = {evidence["attack"] for evidence in ran.json["evidence"]}
    assert "linkage" in attacks
    page = release.with_name("report.html")
    told = voile("report", release, "--out", page, "--json").json
    assert set(told["attacks"]) == attacks
    assert "<html" in page.read_text()
    inside = voile("report", release, "--out", page, "--internal", "--force", "--json").json
    assert inside["audience"] == "internal"
    checks = voile("verify", release, "--json").json
    assert checks["ok"]
    said = {line[:11].strip() for line in voile("verify", release).out.splitlines()}
    assert said == {"ok", "not checked"}


def test_a_kit_has_a_report_too(voile: Any, files: Any, tmp_path: Path) -> None:
    page = tmp_path / "kit.html"
    assert voile("report", files.kit, "--out", page).code == 0
    assert StoredKit.load(files.kit).id not in page.read_text()
    assert voile("report", files.kit, "--out", page, "--evidence", page, "--force").code == 2


def test_a_touched_release_does_not_verify(voile: Any, release: Path) -> None:
    with release.open("a") as file:
        file.write("\n")
    ran = voile("verify", release, "--json")
    assert (ran.code, ran.json["ok"]) == (1, False)
    assert voile("verify", release).out.startswith("FAILED")


def test_a_touched_figure_does_not_verify(voile: Any, release: Path) -> None:
    place = release.with_name(f"{release.name}.manifest.json")
    manifest = json.loads(place.read_text())
    manifest["figures"]["mean_risk"] /= 2
    place.write_text(json.dumps(manifest))
    ran = voile("verify", release, "--json")
    failed = [check["check"] for check in ran.json["checks"] if check["ok"] is False]
    told = ["the public manifest is as seal.json has it", "the public figures are the private ones"]
    assert (ran.code, failed) == (1, told)


def test_a_release_of_an_unknown_kind_is_refused(voile: Any, release: Path) -> None:
    place = release.with_name(f"{release.name}.manifest.json")
    place.write_text(place.read_text().replace('"kind": "tables"', '"kind": "songs"'))
    ran = voile("verify", release)
    assert (ran.code, ran.err) == (
        2,
        f"voile: there is no kind of data songs; use {', '.join(MODULES)}\n",
    )


def test_a_missing_folder_stops_before_any_work(voile: Any, files: Any, tmp_path: Path) -> None:
    out = tmp_path / "no" / "out"
    for words in (["inspect", "none"], ["tables", "fit", "none", "--roles", "none"]):
        ran = voile(*words, "--out", out)
        said = f"voile: {out}: the folder {out.parent} does not exist; create the folder first\n"
        assert (ran.code, ran.err) == (2, said)


def test_a_release_that_was_received_is_checked_and_not_verified(voile: Any, release: Path) -> None:
    shutil.rmtree(release.with_name(f"{release.name}.private"))
    ran = voile("verify", release, "--json")
    assert (ran.code, ran.json["ok"]) == (1, False)
    assert not any(check["ok"] is False for check in ran.json["checks"])


def test_evidence_of_another_release_is_refused(
    voile: Any, files: Any, release: Path, tmp_path: Path
) -> None:
    assert voile(*attack(files, release), "--out", tmp_path / "e.json", "--quiet").code == 0
    other = tmp_path / "other.csv"
    voile(*files.apply(other), "--keep-order")
    page = tmp_path / "report.html"
    ran = voile("report", other, "--out", page, "--evidence", tmp_path / "e.json")
    assert ran.code == 2
    assert "another release" in ran.err
    assert not page.exists()


def test_an_existing_output_stops_before_any_work(voile: Any, files: Any, tmp_path: Path) -> None:
    out = tmp_path / "there"
    out.write_text("mine")
    none = tmp_path / "none"
    for words in (
        ["inspect", none],
        ["tables", "fit", none, "--roles", none],
        ["tables", "choose", none, "--knee"],
        ["tables", "apply", none, none, "--policy", none],
        ["report", none],
        ["demo"],
    ):
        ran = voile(*words, "--out", out)
        assert ran.code == 2
        assert ran.err.startswith(f"voile: {out}: the file exists, and is not a ")
        assert ran.err.endswith(" that voile wrote; choose another name, or remove it yourself\n")
    assert out.read_text() == "mine"


def test_the_source_is_never_overwritten(voile: Any, files: Any, tmp_path: Path) -> None:
    source = tmp_path / "patients.csv"
    shutil.copy(files.patients, source)
    before = source.read_bytes()
    for named in (source, tmp_path / "pat*.csv"):
        words = ["tables", "apply", files.kit, named, "--policy", files.policy, "--force"]
        ran = voile(*words, "--out", source)
        assert (ran.code, ran.err) == (
            2,
            f"voile: {source}: the command reads this file as its input; write to another path\n",
        )
    assert source.read_bytes() == before


def strange(files: Any, tmp_path: Path) -> Path:
    """Return the patients with one ZIP code that the kit has never seen."""
    lines = files.patients.read_text().splitlines()
    place = lines[0].replace('"', "").split(",").index("zip")
    cells = lines[1].split(",")
    cells[place] = "CANARY"
    path = tmp_path / "strange.csv"
    path.write_text("\n".join([lines[0], ",".join(cells), *lines[2:], ""]))
    return path


def test_rows_set_aside_are_told_and_fail_unless_allowed(
    voile: Any, files: Any, tmp_path: Path
) -> None:
    kit = tmp_path / "kit"
    assert voile(*files.fit(kit), "--quiet").code == 0
    policy = tmp_path / "policy.toml"
    assert voile("tables", "choose", kit, "--knee", "--out", policy, "--quiet").code == 0
    words = ["tables", "apply", kit, strange(files, tmp_path), "--policy", policy, "--quiet"]
    words += ["--no-pseudonyms"]
    ran = voile(*words, "--out", tmp_path / "a.csv", "--json")
    assert ran.code == 1
    assert ran.json["counts"]["set_aside"] == 1
    assert ran.err.startswith("voile: 1 row set aside: 1 row in column zip: ")
    assert "CANARY" not in ran.out + ran.err
    assert voile(*words, "--out", tmp_path / "b.csv", "--allow-set-aside").code == 0


def test_what_is_not_there_is_said_with_what_to_do(voile: Any, files: Any, tmp_path: Path) -> None:
    none = tmp_path / "none.csv"
    out = tmp_path / "out"
    for words in (
        ["inspect", none, "--out", out],
        ["tables", "fit", files.patients, "--roles", none, "--out", out],
        ["tables", "frontier", none],
        ["tables", "apply", files.kit, files.patients, "--policy", none, "--out", out],
        ["tables", "attack", none, "--original", files.patients],
        ["report", none, "--out", out],
        ["verify", none],
    ):
        ran = voile(*words)
        assert ran.code == 2, words
        assert len(ran.err.splitlines()) == 1
        assert "none.csv" in ran.err
    assert list(tmp_path.iterdir()) == []


def test_all_wrong_options_are_told_at_once(voile: Any, files: Any, tmp_path: Path) -> None:
    ran = voile(*files.fit(tmp_path / "kit"), "--k", "0", "--hold-out", "2")
    assert ran.code == 2
    assert "--k: " in ran.err
    assert "--hold-out: " in ran.err


def test_a_kit_of_another_kind_is_refused(voile: Any, files: Any, tmp_path: Path) -> None:
    other = tmp_path / "kit"
    shutil.copytree(files.kit, other)
    index = json.loads((other / "kit.json").read_text())
    (other / "kit.json").write_text(json.dumps({**index, "kind": "signals"}))
    ran = voile("tables", "frontier", other)
    assert (ran.code, ran.err) == (
        2,
        f"voile: {other}: this is a kit of signals; use voile signals\n",
    )


def test_a_source_may_be_a_table_of_a_database(voile: Any, files: Any, tmp_path: Path) -> None:
    import duckdb

    with duckdb.connect(str(tmp_path / "county.duckdb")) as connection:
        connection.execute("CREATE TABLE visits AS SELECT 1 AS age, 'F' AS sex")
        connection.execute("CREATE TABLE wards AS SELECT 'north' AS ward")
    source = tmp_path / "county.duckdb"
    assert list(voile("inspect", f"{source}::visits", "--json").json["columns"]) == ["age", "sex"]
    assert list(voile("inspect", source, "--table", "wards", "--json").json["columns"]) == ["ward"]


class Interrupting(io.StringIO):
    """A standard error whose reader presses Ctrl-C when a task is under way."""

    def __init__(self, task: str, *, after: int = 1) -> None:
        super().__init__()
        self.task = task
        self.left = after

    def write(self, text: str) -> int:
        if self.task in text:
            self.left -= 1
            if self.left == 0:
                signal.raise_signal(signal.SIGINT)
        return super().write(text)


def test_an_interrupted_fit_keeps_what_it_has(
    files: Any, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    kit = tmp_path / "kit"
    monkeypatch.setattr("voile.cli.screen.LINE_EVERY", 0.0)
    monkeypatch.setattr("sys.stderr", err := Interrupting("searching", after=3))
    search = ["--method", "random-chain", "--evaluations", "1000000000"]
    assert run([str(word) for word in (*files.fit(kit), *search)]) == 130
    told = "voile: interrupted; the kit contains the policies found so far"
    assert err.getvalue().splitlines()[-1] == told
    assert StoredKit.load(kit).facts["stopped"] == "interrupted"


def test_an_interrupted_apply_leaves_nothing(
    files: Any, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("voile.cli.screen.LINE_EVERY", 0.0)
    monkeypatch.setattr("sys.stderr", err := Interrupting("applying"))
    assert run([str(word) for word in files.apply(tmp_path / "release.csv")]) == 130
    assert err.getvalue().splitlines()[-1] == "voile: interrupted; no output is half-written"
    assert list(tmp_path.iterdir()) == []


def test_a_kit_with_a_proof_is_applied_and_the_report_says_what_was_proved(
    voile: Any, files: Any, tmp_path: Path
) -> None:
    kit, policy, out, page = (tmp_path / name for name in ("kit", "p.toml", "r.csv", "page.html"))
    proof = ["--method", "steepest", "--loss", "information", "--seed", "5"]
    proof += ["--lower-bound-seconds", "1", "--family", "global"]
    choose = ["tables", "choose", kit, "--knee", "--out", policy]
    apply = ["tables", "apply", kit, files.patients, "--policy", policy, "--out", out]
    apply += ["--no-pseudonyms"]
    report = ["report", out, "--out", page]
    for words in ([*files.fit(kit), *proof], choose, apply, report):
        assert voile(*words).code == 0
    assert "No policy of its risk or less loses less than" in page.read_text()
