"""The same bytes from any number of processes, and from one that was killed and run again."""

from __future__ import annotations

import multiprocessing
import random
import signal
import subprocess
import sys
import time
from concurrent.futures import ProcessPoolExecutor

import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from tests.documents.flow import NOTES, applied, kit_of, people, removals, table

from voile.documents.verbs import applying_step as applying
from voile.engines import processes
from voile.gate.documents import measure_documents


@pytest.mark.whole
@pytest.mark.parametrize("how", ["mark", "surrogate"])
def test_the_same_bytes_from_any_number_of_processes(tmp_path, how, secret):
    rows = pa.concat_tables([people(), table(NOTES), table(["\ufffd", "Ana ."])])
    more = {
        "replace": how,
        "patterns": ["all"],
        **({"key_file": secret} if how == "surrogate" else {}),
    }
    one, two = (applied(rows, tmp_path / f"{jobs}.jsonl", jobs=jobs, **more) for jobs in (1, 2))
    assert one.path.read_bytes() == two.path.read_bytes()
    assert removals(one) == removals(two)
    assert one.private["removed_by"] == two.private["removed_by"]
    assert one.private["counts"] == two.private["counts"]


def test_processes_give_their_memory_back_before_the_release_is_measured(tmp_path, monkeypatch):
    alive = []

    def counted(*given):
        alive.append(len(multiprocessing.active_children()))
        return measure_documents(*given)

    before = len(multiprocessing.active_children())
    monkeypatch.setattr(applying, "measure_documents", counted)
    applied(people(), tmp_path / "r.jsonl", jobs=2)
    assert alive == [before]


def test_processes_are_started_where_more_than_one_job_is_asked_for(tmp_path, monkeypatch):
    started = []

    class Counted(ProcessPoolExecutor):
        def __init__(self, jobs, **how):
            started.append(jobs)
            super().__init__(jobs, **how)

    monkeypatch.setattr(processes, "ProcessPoolExecutor", Counted)
    for jobs in (1, 2):
        applied(people(), tmp_path / f"{jobs}.jsonl", jobs=jobs)
    assert started == [2]


KILLED = """
import sys
from pathlib import Path
from voile.documents.options import ApplyOptions
from voile.documents.module import DOCUMENTS
from voile.documents.verbs.choose import choose
from voile.data import open_source
from voile.release.choice import Choice
from voile.release.kit import StoredKit
from voile.core.progress import silent
kit = StoredKit.load(Path(sys.argv[1]))
chosen = choose(kit, Choice(policy=0))
options = ApplyOptions(keep_order=True, jobs=int(sys.argv[4]))
def progress(what, done, total=None):
    print(what, flush=True)
DOCUMENTS.apply(kit, chosen, open_source(sys.argv[2]), Path(sys.argv[3]), options, force=True,
      progress=progress)
"""


@pytest.mark.whole
@pytest.mark.parametrize("jobs", [1, 2])
def test_killed_at_a_random_moment_and_run_again(tmp_path, jobs):
    """Nothing is seen until all is; the run after it writes what an unkilled one does."""
    kit_of().save(tmp_path / "kit")
    source, out = tmp_path / "notes.parquet", tmp_path / "r.jsonl"
    rows = pa.concat_tables([people()] * 30)
    pq.write_table(rows, source)
    command = [sys.executable, "-c", KILLED, *map(str, (tmp_path / "kit", source, out, jobs))]
    chance = random.Random(jobs)
    child = subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL)
    assert child.stdout.readline() == b"applying the policy\n"
    time.sleep(chance.uniform(0, 0.3))
    children = _children(child.pid)
    child.send_signal(signal.SIGKILL)
    child.wait()
    seen = {path.name for path in tmp_path.iterdir() if not path.name.startswith(".")}
    assert seen in ({"kit", source.name}, {"kit", source.name, *_names(out)})
    assert len(children) >= jobs - 1
    _wait_until(lambda: not any(map(_lives, children)))
    unkilled = applied(rows, tmp_path / "unkilled.jsonl", patterns=["all"])
    subprocess.run(command, check=True, stdout=subprocess.DEVNULL)
    assert out.read_bytes() == unkilled.path.read_bytes()
    left = {path.name for path in tmp_path.iterdir()}
    assert left == {"kit", source.name, *_names(out), *_names(unkilled.path)}


def _names(out):
    return {out.name, f"{out.name}.manifest.json", f"{out.name}.private"}


def _children(process):
    path = f"/proc/{process}/task/{process}/children"
    with open(path) as file:
        return [int(child) for child in file.read().split()]


def _lives(process):
    try:
        with open(f"/proc/{process}/stat") as file:
            return file.read().rpartition(")")[2].split()[0] not in "ZX"
    except FileNotFoundError:
        return False


def _wait_until(holds, seconds=10):
    end = time.monotonic() + seconds
    while not holds():
        assert time.monotonic() < end
        time.sleep(0.02)
