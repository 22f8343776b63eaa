"""A release enters a ledger: judged with what is out, refused where they join to too much."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
from dataclasses import replace
from pathlib import Path

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
import pytest

import voile.tables as vt
from voile.cli.run import run
from voile.core.errors import InfeasibleError, RequestError
from voile.face.kit import Kit
from voile.ledger.audience import LedgerAudience
from voile.ledger.ledger import Ledger, create
from voile.ledger.promise import LedgerPromise
from voile.release.choice import Chosen
from voile.release.manifest import StoredRelease, manifest_path

ROLES = {"age": "quasi", "town": {"role": "quasi", "order": "natural"}, "job": "keep"}


def people(seed: int = 1) -> pa.Table:
    rng = np.random.default_rng(seed)
    return pa.table(
        {
            "age": rng.integers(987_000, 987_016, 400),
            "town": [f"CANARY{i}" for i in rng.integers(0, 12, 400)],
            "job": rng.choice(["clerk", "cook"], 400),
        }
    )


@pytest.fixture(scope="module")
def kit() -> Kit:
    return vt.fit(people(), ROLES, family="global", method="steepest", seed=1)


def of_one(kit: Kit, column: str) -> Chosen:
    """The policy of every cut of one column, and none of the other."""
    chosen = kit.choose(least_loss=True)
    values = {
        "age": [[str(x), str(x)] for x in sorted(set(people()["age"].to_pylist()))],
        "town": [[x, x] for x in sorted(set(people()["town"].to_pylist()))],
    }
    merged = {name: [[own[0][0], own[-1][1]]] for name, own in values.items()}
    policy = {**merged, column: values[column]}
    return replace(chosen, policy=policy, number=None)


@pytest.fixture
def key_file(tmp_path: Path) -> Path:
    path = tmp_path / "key"
    path.write_text("a key known to the tests alone")
    path.chmod(0o600)
    return path


@pytest.fixture
def ledger(tmp_path: Path, key_file: Path) -> Path:
    create(tmp_path / "l", LedgerPromise(expected_matches=40), key_file)
    return tmp_path / "l"


@pytest.fixture
def how(ledger: Path, key_file: Path) -> dict[str, Path]:
    return {"ledger": ledger, "key_file": key_file}


def test_two_releases_that_each_cut_another_column_are_refused(kit, how, tmp_path):
    first = kit.apply(of_one(kit, "age"), people(), tmp_path / "a.csv", **how)
    found = first.private["ledger"]
    assert found["alone"]["matches"] == found["high"]["matches"] == pytest.approx(16)
    raw = how["ledger"].read_bytes()
    with pytest.raises(InfeasibleError) as refused:
        kit.apply(of_one(kit, "town"), people(), tmp_path / "b.csv", **how)
    said = str(refused.value)
    assert "with the 1 release that is out, this one breaks the ledger's promise" in said
    assert "of 40 promised" in said
    assert "16 from the best single release" in said
    assert "choose with after the ledger" in said
    assert not list(tmp_path.glob("b.csv*"))
    assert how["ledger"].read_bytes() == raw
    again = kit.apply(of_one(kit, "age"), people(), tmp_path / "c.csv", **how)
    assert again.private["ledger"]["high"]["matches"] == pytest.approx(16)


def test_recipients_that_cannot_collude_are_judged_apart_and_all_others_together(
    kit, key_file, tmp_path
):
    audience = LedgerAudience((("Site A", "Site B"),))
    create(tmp_path / "l", LedgerPromise(expected_matches=40), key_file, audience=audience)
    how = {"ledger": tmp_path / "l", "key_file": key_file}
    age, town = of_one(kit, "age"), of_one(kit, "town")
    kit.apply(age, people(), tmp_path / "a.csv", recipient="Site A", **how)
    found = kit.apply(town, people(), tmp_path / "b.csv", recipient="Site B, May", **how)
    assert found.private["ledger"]["high"]["matches"] == pytest.approx(12)
    assert found.private["ledger"]["recipients"] == ["Site B"]
    again = kit.apply(age, people(), tmp_path / "c.csv", recipient="Site A", **how)
    assert again.private["ledger"]["releases"] == 1
    for recipient in ("Site B", "Site C", None):
        with pytest.raises(InfeasibleError, match="out to Site B and everybody, this one breaks"):
            kit.apply(age, people(), tmp_path / "d.csv", recipient=recipient, **how)
    lines = Ledger.read_file(tmp_path / "l").released_lines
    assert [line.content["recipient"] for line in lines] == ["Site A", "Site B", "Site A"]
    kit.save(tmp_path / "kit")
    (tmp_path / "p.toml").write_text(age.to_toml())
    judge = ["ledger", "judge", how["ledger"], tmp_path / "kit", "--policy", tmp_path / "p.toml"]
    words = [*map(str, [*judge, "--key-file", key_file])]
    assert run([*words, "--recipient", "Site A"]) == 0
    assert run(words) == 2


def test_a_release_alone_that_breaks_the_promise_is_refused(kit, how, tmp_path):
    with pytest.raises(InfeasibleError, match="this release alone breaks"):
        kit.apply(kit.choose(least_loss=True), people(), tmp_path / "a.csv", **how)
    assert not list(tmp_path.glob("a.csv*"))


def test_the_manifest_names_its_line_and_the_ledger_the_manifest(kit, how, tmp_path):
    for name in ("a.csv", "b.csv"):
        kit.apply(of_one(kit, "age"), people(), tmp_path / name, **how)
    found = Ledger.read_file(how["ledger"])
    assert [line.content["act"] for line in found.chain.lines] == [
        *("promise", "intent", "done", "intent", "done")
    ]
    public = StoredRelease.open(tmp_path / "b.csv").public["ledger"]
    assert public == {"id": found.id, "line": 3, "head": found.chain.lines[2].sha256}
    words = ["ledger", "verify", how["ledger"], "--manifests", tmp_path]
    assert run([*map(str, words), "--key-file", str(how["key_file"])]) == 0
    manifest = manifest_path(tmp_path / "a.csv")
    manifest.write_text(manifest.read_text().replace('"k"', '"K"').replace("0", "1", 1))
    assert run([str(word) for word in words]) == 1


def test_no_value_of_the_data_is_in_the_ledger(kit, how, tmp_path):
    kit.apply(of_one(kit, "town"), people(), tmp_path / "a.csv", **how)
    text = how["ledger"].read_text()
    assert "CANARY" not in text
    assert "98700" not in text
    assert str(tmp_path) not in text
    for word in ("town", "age", "job", "clerk"):
        assert f'"{word}"' not in text


def test_other_people_are_refused(kit, how, tmp_path):
    with pytest.raises(RequestError, match="are not those that the kit counts"):
        kit.apply(of_one(kit, "age"), people(2), tmp_path / "a.csv", **how)
    kit.apply(of_one(kit, "age"), people(), tmp_path / "a.csv", **how)
    other = vt.fit(people(2), ROLES, family="global", method="steepest", seed=1)
    with pytest.raises(InfeasibleError, match="line 1 is a release of other rows"):
        other.apply(other.choose(policy=0), people(2), tmp_path / "b.csv", **how)


def test_a_release_in_memory_and_a_ledger_without_its_secret_are_refused(kit, how, ledger):
    with pytest.raises(RequestError, match="a release in memory cannot be entered in a ledger"):
        kit.apply(of_one(kit, "age"), people(), **how)
    with pytest.raises(RequestError, match="next to the file of the secret"):
        kit.apply(of_one(kit, "age"), people(), "a.csv", ledger=ledger)
    assert len(Ledger.read_file(ledger).chain.lines) == 1


def test_a_policy_is_judged_without_a_release(kit, how, tmp_path, capsys):
    kit.save(tmp_path / "kit")
    kit.apply(of_one(kit, "age"), people(), tmp_path / "a.csv", **how)
    judge = ["ledger", "judge", how["ledger"], tmp_path / "kit", "--key-file", how["key_file"]]
    raw = how["ledger"].read_bytes()
    for column, code in (("age", 0), ("town", 2)):
        policy = tmp_path / f"{column}.toml"
        policy.write_text(of_one(kit, column).to_toml())
        words = [*map(str, judge), "--policy", str(policy), "--json"]
        assert run(words) == code
        told = json.loads(capsys.readouterr().out)
        if code == 0:
            assert told["high"]["matches"] == pytest.approx(16)
    assert how["ledger"].read_bytes() == raw


KILLED = """
import os, signal, sys
from pathlib import Path
import pyarrow.parquet as pq
import voile
from voile.release.entering import LedgerEntry
from voile.data import Staging
from voile.release.choice import Chosen
{patch}
folder = Path(sys.argv[1])
kit = voile.open_kit(folder / "kit")
kit.apply(
    Chosen.read(folder / "p.toml"), str(folder / "s.parquet"), folder / "a.csv",
    ledger=folder / "l", key_file=folder / "key",
)
"""
DIE = "lambda *_: os.kill(os.getpid(), signal.SIGKILL)"
STEPS = {
    "before the intent": (f"LedgerEntry.intend = {DIE}", False, None),
    "before it is published": (f"Staging.commit = {DIE}", False, "void"),
    "before it is done": (f"LedgerEntry.finish = {DIE}", True, "done"),
}


@pytest.mark.parametrize("step", STEPS)
def test_a_run_killed_at_any_step_is_counted_and_closed(step, kit, how, tmp_path):
    patch, published, closed = STEPS[step]
    kit.save(tmp_path / "kit")
    of_one(kit, "age").save(tmp_path / "p.toml")
    pq.write_table(people(), tmp_path / "s.parquet")
    code = KILLED.format(patch=patch)
    ended = subprocess.run([sys.executable, "-c", code, tmp_path], env=os.environ, check=False)
    assert ended.returncode == -signal.SIGKILL
    assert (tmp_path / "a.csv").exists() == published
    found = Ledger.read_file(how["ledger"])
    assert len(found.released_lines) == len(found.open) == (closed is not None)
    words = ["ledger", "verify", how["ledger"], "--key-file", how["key_file"]]
    assert run([*map(str, words), "--releases", str(tmp_path)]) == 0
    found = Ledger.read_file(how["ledger"])
    assert list(found.closing_acts.values()) == ([] if closed is None else [closed])
    assert len(found.released_lines) == published
    if not published:
        kit.apply(of_one(kit, "age"), people(), tmp_path / "a.csv", **how)
        assert len(Ledger.read_file(how["ledger"]).released_lines) == 1
