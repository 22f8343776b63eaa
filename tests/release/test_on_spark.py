"""Spark's tables and data frames are released by Spark's workers."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import time
from collections import Counter
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.dataset as pads
import pyarrow.parquet as pq
import pytest
from deltalake import write_deltalake
from tests.spark import JAVA, PORT

import voile.tables
from voile.core.errors import RequestError, VoileError
from voile.data import open_source
from voile.engines.spark import on_spark
from voile.ledger.ledger import create
from voile.ledger.promise import LedgerPromise

pytestmark = pytest.mark.spark

ROWS, CANARY = 3_000, "CANARYWARD"
DOTTED = "ward.no"
COLUMNS = {"age": "quasi", "sex": "quasi", DOTTED: "keep", "person": "identifier", "note": "drop"}
ROLES = {"subject": "person", "columns": COLUMNS}


@pytest.fixture(scope="module")
def table() -> pa.Table:
    rng = np.random.default_rng(3)
    return pa.table(
        {
            "person": [f"{CANARY}{i // 2}" for i in range(ROWS)],
            "age": rng.integers(20, 60, ROWS // 2).repeat(2),
            "sex": pa.array(rng.choice(["F", "M"], ROWS // 2).repeat(2)),
            DOTTED: rng.integers(0, 4, ROWS),
            "note": [f"{CANARY} {i}" for i in range(ROWS)],
        }
    )


@pytest.fixture(scope="module")
def kit(table: pa.Table) -> Any:
    return voile.tables.fit(table, roles=ROLES, k=5, promise="row", seed=1)


@pytest.fixture
def key(tmp_path: Path) -> Path:
    key = tmp_path / "key"
    key.touch(mode=0o600)
    key.write_text("a secret that is long enough for anybody")
    return key


def rows(table: pa.Table) -> Counter[str]:
    return Counter(map(repr, table.to_pylist()))


def test_a_frame_comes_in_and_a_frame_goes_out(
    any_session: Any, table: pa.Table, kit: Any, key: Path, tmp_path: Path
) -> None:
    frame, policy = any_session.createDataFrame(table), kit.choose(policy=1)
    release = kit.apply(policy, frame, tmp_path / "out", engine="spark", key_file=key)
    assert type(release.frame).__module__.startswith("pyspark.sql")
    here = kit.apply(policy, table, tmp_path / "here.parquet", key_file=key)
    assert rows(release.frame.toArrow()) == rows(here.frame)
    assert release.public["figures"] == here.public["figures"]
    ordered = open_source(frame).read()
    numbers = open_source(release.folder / "rows.parquet").read()["row"]
    kept = ordered[DOTTED].take(numbers.combine_chunks()).to_pylist()
    assert kept == open_source(release.path).read()[DOTTED].to_pylist()
    assert release.attack(frame) is not None


def test_without_a_name_a_frame_is_released_in_memory(
    any_session: Any, table: pa.Table, kit: Any, key: Path
) -> None:
    release = kit.apply(kit.choose(policy=1), any_session.createDataFrame(table), key_file=key)
    assert release.frame.columns == release.rows().schema().names
    assert rows(release.frame.toArrow()) == rows(release.rows().read())


def test_partitions_do_not_show(
    session: Any, table: pa.Table, kit: Any, key: Path, tmp_path: Path
) -> None:
    session.createDataFrame(table).write.partitionBy(DOTTED).parquet(str(tmp_path / "source"))
    policy = kit.choose(policy=1)
    for name, engine in (("out", "spark"), ("here.parquet", "here")):
        kit.apply(policy, tmp_path / "source", tmp_path / name, engine=engine, key_file=key)
    out = tmp_path / "out"
    assert {one.name.removesuffix(".parquet")[:5] for one in out.iterdir()} == {"part-"}
    released = open_source(out).read()
    assert rows(released) == rows(pq.read_table(tmp_path / "here.parquet"))
    wards = released[DOTTED].to_numpy()
    assert (np.diff(wards) != 0).mean() > 0.5


def test_folders_that_an_identifier_names_are_refused(
    session: Any, table: pa.Table, kit: Any, key: Path, tmp_path: Path
) -> None:
    few, place = table.slice(0, 4), tmp_path / "source"
    pads.write_dataset(
        few, place, format="parquet", partitioning=["person"], partitioning_flavor="hive"
    )
    for source in (place, f"spark:parquet.`{place}`"):
        with pytest.raises(
            RequestError, match="column person: the partition column is an identifier"
        ) as caught:
            kit.apply(kit.choose(policy=1), source, tmp_path / "out", engine="spark", key_file=key)
        assert CANARY not in str(caught.value)
    assert not (tmp_path / "out").exists()


def test_what_a_worker_refuses_is_said_by_worker(
    session: Any, table: pa.Table, kit: Any, key: Path, tmp_path: Path, monkeypatch: Any
) -> None:
    pq.write_table(table, tmp_path / "source.parquet")
    begun: list[int] = []

    def unreadable(work: Any, tasks: int) -> Any:
        begun.append(tasks)
        key.chmod(0o644)
        return on_spark(work, tasks)

    monkeypatch.setattr("voile.release.apply.on_spark", unreadable)
    with pytest.raises(RequestError, match=r"worker .*key: other users may read or write"):
        kit.apply(
            kit.choose(policy=1),
            tmp_path / "source.parquet",
            tmp_path / "out",
            engine="spark",
            key_file=key,
        )
    assert begun == [1]
    assert not (tmp_path / "out").exists()
    assert not [*tmp_path.glob(".*")]


def test_a_ledger_keeps_people_waiting_whoever_makes_the_release(
    session: Any, key: Path, tmp_path: Path
) -> None:
    create(tmp_path / "ledger", LedgerPromise(expected_matches=1000), key)
    given = {"ledger": tmp_path / "ledger", "releases": tmp_path, "key_file": key}
    roles = {"columns": {"person": "identifier", "age": "quasi"}, "subject": "person"}
    for month, people in enumerate((20, 22)):
        rows = pa.table(
            {
                "person": [f"{CANARY}{i}" for i in range(people)],
                "age": [20 + i % 20 // 10 for i in range(people)],
            }
        )
        pq.write_table(rows, tmp_path / f"{month}.parquet")
        kit = voile.tables.fit(rows, roles=roles, k=5, seed=1)
        how = {"engine": "spark", "hold_back": True} if month else {"engine": "here"}
        out = tmp_path / ("second" if month else "first.parquet")
        release = kit.apply(
            kit.choose(policy=0), tmp_path / f"{month}.parquet", out, **given, **how
        )
    assert (
        release.private["counts"] | {"read": 22, "released": 20, "suppressed": 2}
        == release.private["counts"]
    )
    assert release.frame.num_rows == 20


def test_a_version_of_a_delta_table_is_released(
    session: Any, table: pa.Table, kit: Any, key: Path, tmp_path: Path
) -> None:
    visits, policy = tmp_path / "visits", kit.choose(policy=1)
    write_deltalake(visits, table.slice(0, 2_000), partition_by=[DOTTED])
    write_deltalake(visits, table.slice(2_000), mode="append")
    source = f"{visits}@v0"
    for name, engine in (("out", "spark"), ("here.parquet", "here")):
        release = kit.apply(policy, source, tmp_path / name, engine=engine, key_file=key)
        assert release.private["counts"]["read"] == 2_000
        assert release.private["source"]["name"] == "visits@v0"
    read = [rows(open_source(tmp_path / name).read()) for name in ("out", "here.parquet")]
    assert read[0] == read[1]


def fails(number: int) -> str:
    raise ValueError(f"{CANARY} {number}")


def test_a_failure_of_a_worker_quotes_nothing(session: Any) -> None:
    with pytest.raises(VoileError) as caught:
        on_spark(fails, 2)
    assert CANARY not in str(caught.value)


def test_no_tasks_are_no_work(session: Any) -> None:
    assert on_spark(fails, 0) == []


@pytest.mark.parametrize(
    ("source", "out", "options", "words"),
    [
        (
            "source.csv",
            "out",
            {},
            "Spark's workers read Parquet files and tables of Spark, and no csv",
        ),
        ("source.parquet", "out.csv", {}, "workers write a folder of Parquet files"),
        ("source.parquet", None, {}, "workers need a folder to write the release to"),
        ("source.parquet", "out", {"class_id": True}, "draws its ids in one process"),
        (
            "source.parquet",
            "out",
            {"spark_conf": ["x=y"]},
            "a Spark session is active, and Spark takes settings only at its start",
        ),
        ("source.parquet", "out", {"engine": "here", "spark_conf": ["x=y"]}, "only to Spark"),
    ],
)
def test_bad_requests_get_one_sentence(
    session: Any,
    table: pa.Table,
    kit: Any,
    key: Path,
    tmp_path: Path,
    source: str,
    out: str | None,
    options: dict[str, Any],
    words: str,
) -> None:
    pq.write_table(table, tmp_path / "source.parquet")
    table.to_pandas().to_csv(tmp_path / "source.csv", index=False)
    place = None if out is None else tmp_path / out
    given = {"engine": "spark", "key_file": key, **options}
    with pytest.raises(RequestError, match=words):
        kit.apply(kit.choose(policy=1), tmp_path / source, place, **given)
    assert not [one for one in tmp_path.iterdir() if one.name.startswith((".", "out"))]


@pytest.mark.parametrize("how", ["its own", "Connect"])
def test_a_command_starts_spark_or_asks_a_server(
    request: Any, table: pa.Table, kit: Any, key: Path, tmp_path: Path, how: str
) -> None:
    pq.write_table(table, tmp_path / "source.parquet")
    source = f"{tmp_path}/source.parquet"
    conf = f"--spark-conf spark.master=local[2] --spark-conf spark.driver.extraJavaOptions={JAVA}"
    mode = "SPARK_CONNECT_MODE_ENABLED"  # of a session in this process, not of the command's
    environment = {name: value for name, value in os.environ.items() if name != mode}
    if how == "Connect":
        port = request.getfixturevalue("session").conf.get(PORT)
        environment["SPARK_REMOTE"] = f"sc://127.0.0.1:{port}"
        source, conf = f"spark:parquet.`{source}`", ""
    kit.save(tmp_path / "kit")
    kit.choose(policy=1).save(tmp_path / "policy.toml")
    here = tmp_path
    command = (
        f"apply {here}/kit {source} --policy {here}/policy.toml --out {here}/out "
        f"--engine spark {conf} --key-file {key}"
    )
    ran = subprocess.run(
        [sys.executable, "-m", "voile", "tables", *command.split()],
        capture_output=True,
        text=True,
        check=False,
        env=environment,
    )
    assert ran.returncode == 0, ran.stderr
    assert CANARY not in ran.stderr
    assert open_source(tmp_path / "out").read().num_rows > 0


def test_ctrl_c_ends_a_run_as_it_ends_any(
    session: Any, table: pa.Table, kit: Any, key: Path, tmp_path: Path
) -> None:
    """Spark's own handler asks a Java that is busy, and the run was called a wrong request."""
    pq.write_table(table, tmp_path / "source.parquet", row_group_size=100)
    kit.save(tmp_path / "kit")
    kit.choose(policy=1).save(tmp_path / "policy.toml")
    mode = "SPARK_CONNECT_MODE_ENABLED"
    words = (
        "tables apply kit source.parquet --policy policy.toml --key-file key --out out --quiet "
        f"--engine spark --spark-conf spark.driver.defaultJavaOptions={JAVA}"
    )
    child = subprocess.Popen(
        [sys.executable, "-m", "voile", *words.split()],
        cwd=tmp_path,
        env={name: value for name, value in os.environ.items() if name != mode},
        stderr=subprocess.PIPE,
        text=True,
    )
    while child.poll() is None and not [*tmp_path.glob(".*/scratch/*/job")]:
        time.sleep(0.01)
    child.send_signal(signal.SIGINT)
    said = child.communicate()[1]
    assert child.returncode == 130, said
    assert "interrupted; no output is half-written" in said
    assert "Traceback" not in said  # which Py4J logs of the call that was cut short
    assert not [*tmp_path.glob("out*"), *tmp_path.glob(".*")]
