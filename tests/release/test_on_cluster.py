"""On a cluster whose tasks fail, run twice and lose a worker no row is lost, doubled or shown."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
import time
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from tests.release.on_cluster import CANARY, DOOMED, DOOMED_HOST, FAILING, INJECTED, SLOW
from tests.spark import JAVA, free_port, require_spark

import voile.tables
from voile.cli.run import run
from voile.data import open_source
from voile.release.manifest import PRIVATE_MANIFEST, private_path

pytestmark = pytest.mark.spark

ROWS, GROUPS, SECRET = 4_800, 24, "a secret that is long enough for anybody"
ROOT = Path(__file__).parents[2]
FAILED = 20
"""How many failures count; those that were under way on the worker that was killed do not."""
HOSTS = ("127.0.0.1", DOOMED_HOST)


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A folder with a source of two files and 24 row groups, a kit, a policy and a secret."""
    folder = tmp_path_factory.mktemp("cluster")
    rng = np.random.default_rng(3)
    table = pa.table(
        {
            "person": [f"{CANARY}{i // 2}" for i in range(ROWS)],
            "age": rng.integers(20, 60, ROWS // 2).repeat(2),
            "sex": pa.array(rng.choice(["F", "M"], ROWS // 2).repeat(2)),
            "ward": [f"{CANARY}{i % 7}" for i in range(ROWS)],
        }
    )
    columns = {"age": "quasi", "sex": "quasi", "ward": "keep", "person": "identifier"}
    roles = {"subject": "person", "columns": columns}
    kit = voile.tables.fit(table, roles=roles, k=5, promise="row", seed=1)
    kit.save(folder / "kit")
    policy = kit.choose(policy=len(kit.frontier.to_arrow()) // 2)
    policy.save(folder / "policy.toml")
    (folder / "key").touch(mode=0o600)
    (folder / "key").write_text(SECRET)
    for name in ("source", "faults", "events", "spill"):
        (folder / name).mkdir()
    for part, half in enumerate(np.split(np.arange(ROWS), 2)):
        place = folder / "source" / f"{part}.parquet"
        pq.write_table(table.take(pa.array(half)), place, row_group_size=ROWS // GROUPS)
    kit.apply(policy, table, folder / "here.parquet", key_file=folder / "key")
    return folder


@contextmanager
def daemon(folder: Path, name: str, host: str, words: Sequence[str]) -> Iterator[Any]:
    """Run a master or a worker of Spark on a loopback address, its log in a file."""
    import pyspark

    program = Path(pyspark.__file__).parent / "bin" / "spark-class"
    environment = {
        **os.environ,
        "SPARK_LOCAL_IP": host,
        "SPARK_LOCAL_DIRS": str(folder / "spill"),
        "SPARK_DAEMON_MEMORY": "256m",
        "SPARK_DAEMON_JAVA_OPTS": JAVA,
        "PYSPARK_PYTHON": sys.executable,
        "PYTHONPATH": f"{ROOT / 'src'}:{ROOT}",
    }
    with (folder / f"{name}.log").open("w") as log:
        begun = subprocess.Popen(
            [
                program,
                f"org.apache.spark.deploy.{name}",
                "--host",
                host,
                "--webui-port",
                "0",
                *words,
            ],
            env=environment,
            stdout=log,
            stderr=log,
            start_new_session=True,
        )
        try:
            yield begun
        finally:
            if begun.poll() is None:
                os.killpg(begun.pid, signal.SIGTERM)
            begun.wait()


@contextmanager
def cluster(folder: Path) -> Iterator[tuple[str, Any]]:
    """Run a master and two workers on two hosts; give its address, and the second worker."""
    port = free_port()
    address, more = f"spark://{HOSTS[0]}:{port}", ("--cores", "1", "--memory", "600m")
    with daemon(folder, "master.Master", HOSTS[0], ["--port", str(port)]) as master:
        wait_for(master, folder / "master.Master.log", "I have been elected leader")
        words = [address, *more, "--work-dir", str(folder / "work")]
        with (
            daemon(folder, "worker.Worker", HOSTS[0], words) as first,
            daemon(folder / "second", "worker.Worker", HOSTS[1], words) as second,
        ):
            for worker, place in ((first, folder), (second, folder / "second")):
                wait_for(worker, place / "worker.Worker.log", "Successfully registered")
            yield address, second


def wait_for(process: Any, log: Path, words: str) -> None:
    end = time.monotonic() + 120
    while words not in log.read_text():
        assert process.poll() is None, log.read_text()
        assert time.monotonic() < end, log.read_text()
        time.sleep(0.1)


@pytest.fixture(scope="module")
def said(folder: Path) -> str:
    """Release on the cluster, and kill the second worker when a task there asks for it."""
    require_spark()
    (folder / "second").mkdir()
    with cluster(folder) as (address, second):
        settings = {
            "spark.master": address,
            "spark.ui.enabled": "true",
            "spark.ui.port": "0",
            "spark.driver.memory": "512m",
            "spark.executor.memory": "512m",
            "spark.driver.extraJavaOptions": JAVA,
            "spark.executor.extraJavaOptions": JAVA,
            "spark.eventLog.enabled": "true",
            "spark.eventLog.compress": "false",
            "spark.eventLog.dir": f"file:{folder / 'events'}",
            "spark.speculation": "true",
            "spark.speculation.quantile": "0.1",
            "spark.speculation.minTaskRuntime": "1s",
        }
        conf = [f"{name}={value}" for name, value in settings.items()]
        with (folder / "driver.log").open("w") as log:
            driver = subprocess.Popen(
                [sys.executable, "-m", "tests.release.on_cluster", folder, *conf],
                cwd=ROOT,
                env={**os.environ, "SPARK_LOCAL_IP": HOSTS[0], "PYTHONPATH": f"{ROOT / 'src'}"},
                stdout=subprocess.PIPE,
                stderr=log,
                text=True,
            )
            while driver.poll() is None and not (folder / "faults" / DOOMED).exists():
                time.sleep(0.1)
            os.killpg(second.pid, signal.SIGKILL)
            said, _ = driver.communicate(timeout=240)
    assert driver.returncode == 0, (folder / "driver.log").read_text()
    return said


def test_no_row_is_lost_or_doubled(folder: Path, said: str) -> None:
    here, there = folder / "here.parquet", folder / "out"
    rows = [sorted(map(repr, open_source(one).read().to_pylist())) for one in (here, there)]
    assert len(rows[0]) > ROWS // 2
    assert rows[0] == rows[1]
    hidden = [
        json.loads((private_path(one) / PRIVATE_MANIFEST).read_text()) for one in (here, there)
    ]
    for name in ("counts", "figures"):
        assert hidden[0][name] == hidden[1][name]
    assert run(["verify", str(there), "--quiet"]) == 0


def test_no_staged_byte_is_published(folder: Path, said: str) -> None:
    assert not [*folder.glob(".*")]
    assert not (folder / "failed").exists()
    parts = sorted(one.name for one in (folder / "out").iterdir())
    assert parts == [f"part-{i:05d}.parquet" for i in range(len(parts))]


def test_what_was_to_fail_did(folder: Path, said: str) -> None:
    """Without this the other tests could hold of an undisturbed run."""
    assert "a Spark worker failed at each attempt: ValueError at on_cluster.py" in said
    faults = {one.name for one in (folder / "faults").iterdir()}
    assert {f"{kind}-{n}-again" for kind in ("make", "finish") for n in range(FAILING)} <= faults
    assert {f"make-{SLOW}-again", DOOMED} <= faults
    events = [json.loads(line) for line in lines(folder / "events")]
    ends = [one for one in events if one["Event"] == "SparkListenerTaskEnd"]
    failed = [one for one in ends if INJECTED in str(one["Task End Reason"])]
    assert len(failed) >= FAILED
    assert any(one["Task Info"]["Speculative"] for one in ends)
    assert any(one["Event"] == "SparkListenerExecutorRemoved" for one in events)


def test_nothing_raw_is_in_logs_events_pages_or_spill_folders(folder: Path, said: str) -> None:
    places = [*folder.glob("*.log"), *(folder / "second").glob("*.log")]
    for name in ("events", "page", "spill", "work"):
        places += [one for one in (folder / name).rglob("*") if one.is_file()]
    assert len(places) > 6
    for place in places:
        content = place.read_bytes()
        for word in (CANARY, SECRET):
            assert word.encode() not in content, place.relative_to(folder)
    assert CANARY not in said
    assert INJECTED in (folder / "page" / "stages.json").read_text()


def lines(place: Path) -> Iterator[str]:
    for one in place.rglob("events_*"):
        yield from one.read_text().splitlines()
