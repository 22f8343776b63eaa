"""Releases in an object store: published whole, verified from there, refused where they must be."""

from __future__ import annotations

import hashlib
import json
import os
import subprocess
import sys
from collections import Counter
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
import pytest
import tomli_w
from tests.data.stores.server import DENIED, KEY, SECRET, Server, served
from tests.determination.conftest import CONTEXT, DAY, NOON
from tests.spark import JAVA, require_spark

import voile.tables
from voile.cli.run import run
from voile.core.errors import TamperedError, VoileError
from voile.determination import determine, verify
from voile.ledger.ledger import create
from voile.ledger.promise import LedgerPromise
from voile.opening import open_release

CANARY = "CANARYWARD"
ROLES = {
    "subject": "person",
    "columns": {"age": "quasi", "ward": "keep", "person": "identifier", "note": "drop"},
}
TO = "s3://clinic/2024/visits"


def table(rows: int = 600) -> pa.Table:
    rng = np.random.default_rng(3)
    return pa.table(
        {
            "person": [f"{CANARY}{i}" for i in range(rows)],
            "age": rng.integers(20, 60, rows),
            "ward": rng.integers(0, 4, rows),
            "note": [f"{CANARY} {i}" for i in range(rows)],
        }
    )


@pytest.fixture(scope="module")
def server() -> Iterator[Server]:
    with served() as server:
        yield server


@pytest.fixture
def here(server: Server, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Path]:
    """A working folder, and the bucket."""
    monkeypatch.chdir(tmp_path)
    with server.bucket(monkeypatch):
        yield tmp_path


@pytest.fixture(scope="module")
def kit() -> Any:
    return voile.tables.fit(table(), roles=ROLES, k=5, seed=1, method="steepest")


def apply(kit: Any, to: str = f"{TO}.parquet", *, force: bool = False, **how: Any) -> Any:
    return kit.apply(kit.choose(policy=1), table(), to, no_pseudonyms=True, force=force, **how)


def failed(address: str) -> list[str]:
    return [check.says for check in open_release(address).verify() if check.holds is False]


def test_a_release_is_its_parts_and_then_its_manifest(server: Server, here: Path, kit: Any) -> None:
    release = apply(kit)
    puts = [path for method, path in server.asked if method == "PUT"]
    assert server.objects() == ["2024/visits.parquet", "2024/visits.parquet.manifest.json"]
    assert puts[-1].startswith("/clinic/2024/visits.parquet.manifest.json")
    assert len(puts) == len(server.versions()) == 2  # nothing else was ever there
    assert server.uploads() == []
    manifest = json.loads(server.read("2024/visits.parquet.manifest.json"))
    sha256 = hashlib.sha256(server.read("2024/visits.parquet")).hexdigest()
    assert manifest["parts"] == {"visits.parquet": sha256}
    assert [one.name for one in here.iterdir()] == ["visits.parquet.private"]
    assert (here / "visits.parquet.private").stat().st_mode & 0o777 == 0o700
    assert failed(f"{TO}.parquet") == []
    assert release.frame.num_rows == release.private["counts"]["released"]
    found = release.attack(table(), seed=1, register=table())
    assert release.report(found)


def test_the_commands(server: Server, here: Path, capsys: pytest.CaptureFixture[str]) -> None:
    pq.write_table(table(), "v.parquet")
    server.put("source/part-0.parquet", Path("v.parquet").read_bytes())
    Path("roles.toml").write_text(tomli_w.dumps(ROLES))
    source = "s3://clinic/source/"
    assert run(["inspect", source, "--quiet"]) == 0
    fit = ["tables", "fit", source, "--roles", "roles.toml", "--k", "5", "--out", "kit"]
    assert run([*fit, "--method", "steepest", "--seed", "1"]) == 0
    assert run(["tables", "choose", "kit", "--policy", "1", "--out", "policy.toml"]) == 0
    capsys.readouterr()
    words = ["tables", "apply", "kit", "s3://clinic/source", "--out", f"{TO}.csv"]
    words += ["--policy", "policy.toml", "--no-pseudonyms", "--json"]
    assert run(words) == 0
    assert json.loads(capsys.readouterr().out)["release"] == f"{TO}.csv"
    attack = ["tables", "attack", f"{TO}.csv", "--original", source, "--register", source]
    assert run(attack) == 0
    assert run(["verify", f"{TO}.csv"]) == 0
    assert run(["report", f"{TO}.csv", "--out", "page.html"]) == 0
    capsys.readouterr()
    assert run(words) == 2
    assert "the output exists already; replace it with --force" in capsys.readouterr().err
    assert run([*words, "--force"]) == 0
    over = [*words[:3], "s3://clinic/source", "--out", "s3://clinic/source/x.csv"]
    assert run(over) == 2
    assert "which this command reads" in capsys.readouterr().err


def test_a_recipient_verifies_without_the_private_folder(
    server: Server, here: Path, kit: Any, tmp_path_factory: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    apply(kit)
    monkeypatch.chdir(tmp_path_factory.mktemp("recipient"))
    received = open_release(f"{TO}.parquet")
    assert received.private is None
    assert failed(f"{TO}.parquet") == []


@pytest.mark.parametrize("name", ["2024/visits.parquet", "2024/visits.parquet.manifest.json"])
def test_what_was_changed_in_the_store_is_noticed(
    server: Server, here: Path, kit: Any, name: str
) -> None:
    apply(kit)
    body = server.read(name)
    server.put(name, body.replace(b"voile-release", b"voile-release ", 1)[:-1] + b"x")
    if name.endswith(".json"):
        with pytest.raises(VoileError, match="is not valid JSON"):
            open_release(f"{TO}.parquet")
    else:
        assert "visits.parquet is the part that the manifest names" in failed(f"{TO}.parquet")
        with pytest.raises(TamperedError, match=r"s3://clinic/2024/visits\.parquet"):
            open_release(f"{TO}.parquet").report()


def test_a_release_without_its_manifest_is_none(server: Server, here: Path, kit: Any) -> None:
    apply(kit)
    server.client.delete_object(Bucket="clinic", Key="2024/visits.parquet.manifest.json")
    with pytest.raises(VoileError, match="the release has no manifest next to it"):
        open_release(f"{TO}.parquet")


def test_what_is_there_is_replaced_only_if_it_is_a_release(
    server: Server, here: Path, kit: Any
) -> None:
    apply(kit)
    with pytest.raises(VoileError, match="the output exists already; replace it with"):
        apply(kit)
    before = server.read("2024/visits.parquet.manifest.json")
    apply(kit, force=True)
    assert server.read("2024/visits.parquet.manifest.json") != before
    assert failed(f"{TO}.parquet") == []
    server.put("2024/mine.csv", b"mine")
    server.put("2024/own/mine.csv", b"mine")
    for name in ("mine.csv", "own"):
        with pytest.raises(VoileError, match="is not a release that voile wrote"):
            apply(kit, f"s3://clinic/2024/{name}", force=True)
    assert server.read("2024/mine.csv") == b"mine"


def test_the_private_folder_of_another_release_stays(server: Server, here: Path, kit: Any) -> None:
    apply(kit)
    with pytest.raises(VoileError, match="is the private folder of another release"):
        apply(kit, "s3://clinic/2025/visits.parquet", force=True)
    assert failed(f"{TO}.parquet") == []


@pytest.mark.parametrize(
    ("to", "said"),
    [
        ("s3://nowhere/v.csv", "s3://nowhere: the bucket does not exist"),
        ("s3://clinic", "the address contains a bucket and no name of a release"),
        (
            "https://h.example/v.csv",
            "voile does not write to https addresses; write a file, and upload",
        ),
        ("ftp://h/v.csv", "ftp addresses cannot be written here"),
        ("s3://a:canary@clinic/v.csv", "s3://clinic/v.csv: the address contains a user or a key"),
        ("s3://clinic/v.exe", "cannot be written"),
    ],
)
def test_where_nothing_can_be_published(here: Path, kit: Any, to: str, said: str) -> None:
    with pytest.raises(VoileError) as caught:
        apply(kit, to)
    assert said in str(caught.value)
    assert "canary" not in str(caught.value)
    assert list(here.iterdir()) == []


@pytest.mark.parametrize("stop", ["visits.parquet", ".manifest.json"])
def test_a_store_that_refuses_keeps_nothing(
    server: Server, here: Path, kit: Any, stop: str
) -> None:
    server.answer = lambda method, path: (
        ("403 Forbidden", DENIED)
        if method == "PUT" and path.partition("?")[0].endswith(stop)
        else None
    )
    with pytest.raises(VoileError, match="these credentials have no right to it") as caught:
        apply(kit)
    assert not any(canary in str(caught.value) for canary in (KEY, SECRET, "canary"))
    assert server.objects() == []
    assert list(here.iterdir()) == []
    server.answer = lambda method, path: None
    apply(kit)
    assert failed(f"{TO}.parquet") == []


def test_what_another_run_published_meanwhile_stays(
    server: Server, here: Path, kit: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    from voile.release import writing

    sent = writing.hashes_of

    def meanwhile(release: Path) -> dict[str, str]:
        server.put("2024/visits.parquet", b"of another")
        server.put("2024/visits.parquet.manifest.json", other)
        return sent(release)

    other = json.dumps({"format": "voile-release", "parts": {"visits.parquet": "0"}}).encode()
    monkeypatch.setattr(writing, "hashes_of", meanwhile)
    with pytest.raises(VoileError, match="the output exists already; replace it with"):
        apply(kit)
    assert server.read("2024/visits.parquet") == b"of another"
    assert server.read("2024/visits.parquet.manifest.json") == other


def test_nothing_secret_and_nothing_raw_is_published(
    server: Server, here: Path, kit: Any, caplog: Any, capfd: Any
) -> None:
    apply(kit, f"{TO}.csv")
    said = capfd.readouterr()
    everything = [server.read(key) for key in server.objects()]
    everything += [path.read_bytes() for path in here.rglob("*") if path.is_file()]
    everything += [said.out.encode(), said.err.encode(), caplog.text.encode()]
    for held in everything:
        assert not any(one.encode() in held for one in (KEY, SECRET, server.url))
    for key in server.objects():
        assert CANARY.encode() not in server.read(key)
        assert b"s3://" not in server.read(key)


def test_a_determination_is_of_a_release_in_a_store_too(
    server: Server, here: Path, kit: Any
) -> None:
    release = apply(kit)
    found = release.attack(table(), seed=1, register=table())
    made = determine(release, CONTEXT, "determined", evidence=found, pdf=False, on=DAY)
    assert made.sha256 == release.public["sha256"]
    manifest = server.read("2024/visits.parquet.manifest.json")
    assert Path("determined/release.manifest.json").read_bytes() == manifest
    held = {
        given: [
            check.holds
            for check in verify("determined", release=given, now=NOON).checks
            if check.says.startswith(("release: ", "the release's manifest"))
        ]
        for given in (f"{TO}.parquet", None)
    }
    assert len(held[f"{TO}.parquet"]) > 2
    assert False not in held[f"{TO}.parquet"]
    assert held[None] == []  # it is not beside the folder
    server.put("2024/visits.parquet", server.read("2024/visits.parquet")[:-1] + b"x")
    failed = [
        check.says
        for check in verify("determined", release=f"{TO}.parquet", now=NOON).checks
        if check.holds is False
    ]
    assert any(says.startswith("release: ") for says in failed)


def test_a_ledger_writes_down_what_is_published_in_a_store(
    server: Server, here: Path, kit: Any
) -> None:
    key = here / "key"
    key.touch(mode=0o600)
    key.write_text("a secret that is long enough for anybody")
    create(here / "county.ledger", LedgerPromise(expected_matches=1000), key)
    apply(kit, ledger=here / "county.ledger", key_file=key)
    kinds = [
        json.loads(one).get("event") for one in (here / "county.ledger").read_text().splitlines()
    ]
    assert len(kinds) == 3
    assert failed(f"{TO}.parquet") == []


def test_workers_read_from_a_store_and_the_driver_publishes(
    server: Server, here: Path, kit: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The tasks that Spark would run, in this process."""
    for name, rows in (("a", table().slice(0, 300)), ("b", table().slice(300))):
        pq.write_table(rows, "v.parquet", row_group_size=100)
        server.put(f"source/{name}.parquet", Path("v.parquet").read_bytes())
    monkeypatch.setattr("voile.release.apply.on_spark", lambda work, n: [*map(work, range(n))])
    monkeypatch.setattr("voile.release.options.ApplyOptions.begin", lambda options: None)
    policy, source = kit.choose(policy=1), "s3://clinic/source"
    spread = kit.apply(policy, source, TO, engine="spark", no_pseudonyms=True)
    alone = kit.apply(policy, source, "alone.parquet", no_pseudonyms=True)
    rows = [Counter(map(repr, one.rows().read().to_pylist())) for one in (spread, alone)]
    assert rows[0] == rows[1]
    assert spread.public["figures"] == alone.public["figures"]
    parts = [f"2024/visits/{name}" for name in sorted(spread.public["parts"])]
    assert [one for one in server.objects() if "2024" in one] == [
        "2024/visits.manifest.json",
        *parts,
    ]
    assert failed(TO) == []


@pytest.mark.spark
def test_spark_reads_from_a_store_and_publishes_there(server: Server, here: Path, kit: Any) -> None:
    """A process of its own, as Spark's workers have the environment that it began with."""
    require_spark()
    for name, rows in (("a", table().slice(0, 300)), ("b", table().slice(300))):
        pq.write_table(rows, "v.parquet", row_group_size=100)
        server.put(f"source/{name}.parquet", Path("v.parquet").read_bytes())
    Path("v.parquet").unlink()
    policy, source = kit.choose(policy=1), "s3://clinic/source"
    kit.save(here / "kit")
    policy.save(here / "policy.toml")
    server.asked.clear()
    words = ["tables", "apply", "kit", source, "--policy", "policy.toml", "--out", TO]
    words += ["--no-pseudonyms", "--engine", "spark", "--spark-conf", "spark.master=local[2]"]
    words += ["--spark-conf", f"spark.driver.extraJavaOptions={JAVA}", "--quiet"]
    done = subprocess.run(
        [sys.executable, "-m", "voile", *words],
        env={**os.environ, "SPARK_LOCAL_IP": "127.0.0.1"},
        capture_output=True,
        text=True,
        timeout=240,
    )
    assert done.returncode == 0, done.stderr
    assert done.stderr.splitlines() == ["WARNING: Using incubator modules: jdk.incubator.vector"]
    for word in (KEY, SECRET, server.url, CANARY):
        assert word not in done.stdout + done.stderr
    puts = [path.partition("?")[0] for method, path in server.asked if method in ("PUT", "POST")]
    spread = open_release(TO)
    parts = [f"2024/visits/{name}" for name in sorted(spread.public["parts"])]
    assert sorted(puts[:-1]) == [f"/clinic/{one}" for one in parts]
    assert puts[-1] == "/clinic/2024/visits.manifest.json"  # nothing else was ever there
    assert server.uploads() == []
    assert sorted(one.name for one in here.iterdir()) == ["kit", "policy.toml", "visits.private"]
    alone = kit.apply(policy, source, "alone.parquet", no_pseudonyms=True)
    rows = [Counter(map(repr, one.rows().read().to_pylist())) for one in (spread, alone)]
    assert sum(rows[0].values()) > 300
    assert rows[0] == rows[1]
    assert spread.public["figures"] == alone.public["figures"]
    assert failed(TO) == []
