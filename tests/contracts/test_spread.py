"""Test that workers that read pieces of the source make the same release as one process."""

from __future__ import annotations

import json
import os
import shutil
import signal
import sys
from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import ProcessPoolExecutor
from multiprocessing import get_context
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from voile.core.errors import VoileError
from voile.core.progress import silent
from voile.data import Source, open_source
from voile.engines.spark import on_spark
from voile.face.release import Release
from voile.opening import open_release
from voile.release.apply import write
from voile.release.kit import StoredKit
from voile.release.spread.run import SpreadRun
from voile.release.verify import checks

SECRET = "a secret that is long enough for anybody"
PARTS = 3
BYTES = 2_000
"""Of a piece, so that a tiny source has several, and a release several parts."""


def here(work: Callable[[int], str], tasks: int) -> Sequence[str]:
    return [work(number) for number in range(tasks)]


@pytest.fixture(scope="module")
def elsewhere() -> Iterator[Any]:
    """Processes that know of a kind what its work says: the last task first, each of them twice."""
    with ProcessPoolExecutor(2, mp_context=get_context("spawn")) as processes:

        def elsewhere(work: Callable[[int], str], tasks: int) -> Sequence[str]:
            begun = [processes.submit(work, n) for n in [*range(tasks)][::-1] * 2]
            return [one.result() for one in begun[tasks:][::-1]]

        yield elsewhere


@pytest.fixture
def source(case: Any, tmp_path: Path) -> Source:
    """A folder of files with a strange value among the rows; beside it the secret's file."""
    (tmp_path / "key").touch(mode=0o600)
    (tmp_path / "key").write_text(SECRET)
    rows = case.tiny.outside(case.table, "strange")
    (tmp_path / "source").mkdir()
    for part in range(PARTS):
        some = np.array_split(np.arange(len(rows)), PARTS)[part]
        pq.write_table(rows.take(pa.array(some)), tmp_path / "source" / f"{part}.parquet")
    return open_source(tmp_path / "source")


def spread(
    case: Any, source: Source, out: Path, engine: Any, *, force: bool = False, **options: Any
) -> Release:
    kit, chosen = held_out(case)
    given = asked(case, out, options)
    applying = case.module.prepare(kit, chosen, source, given)

    def run(*about: Any) -> SpreadRun[Any, Any]:
        return SpreadRun(*about, prepare=case.module.prepare, engine=engine, size=BYTES)

    return Release.of(
        write(applying, out, given, force=force, progress=silent, run=run), case.module
    )


def asked(case: Any, out: Path, options: dict[str, Any]) -> Any:
    given = {name: x for name, x in case.options["apply"].items() if name != "no_pseudonyms"}
    return case.module.options.apply.model_validate(
        {**given, "key_file": out.with_name("key"), **options}
    )


def held_out(case: Any) -> tuple[Any, Any]:
    """Fit once, and read the kit back as commands do: its bytes, written again, may be others."""
    if "held_out" not in vars(case):
        with TemporaryDirectory() as place:
            case.fit(case.table, how="held out").save(f"{place}/kit")
            vars(case)["held_out"] = StoredKit.load(f"{place}/kit")
    kit = vars(case)["held_out"]
    return kit, case.middle(kit)


def apply_here(case: Any, source: Source, out: Path, **options: Any) -> Release:
    kit, chosen = held_out(case)
    given = asked(case, out, options)
    made = case.module.apply(kit, chosen, source, out, given, force=False, progress=silent)
    return Release.of(made, case.module)


def rows_by_number(release: Release) -> dict[int, str]:
    numbers = open_source(release.folder / "rows.parquet").read().column("row").to_pylist()
    rows = [json.dumps(row, default=str) for row in release.rows().read().to_pylist()]
    return dict(zip(numbers, rows, strict=True))


def same(case: Any, release: Release, other: Release) -> None:
    assert release.public["columns"] == other.public["columns"]
    assert release.private is not None
    assert other.private is not None
    assert release.private["counts"] == other.private["counts"]
    assert release.private["figures"] == pytest.approx(other.private["figures"], rel=1e-12)
    assert release.public["figures"] == other.public["figures"]
    rows, others = rows_by_number(release), rows_by_number(other)
    assert rows == others
    for file in release.folder.iterdir():
        if file.suffix == ".csv" or file.name == "control.parquet":
            assert Counter(lines(file)) == Counter(lines(other.folder / file.name)), file.name
    assert all(one.holds is not False for one in checks(release, case.module.verify, None))


def lines(file: Path) -> Iterator[str]:
    if file.suffix == ".csv":
        return iter(file.read_text().splitlines())
    return (str(row) for row in pq.read_table(file).to_pylist())


@pytest.mark.parametrize("engine", ["here", "elsewhere"])
def test_workers_make_the_same_release(
    request: Any, case: Any, source: Source, tmp_path: Path, engine: Any
) -> None:
    engine = here if engine == "here" else request.getfixturevalue(engine)
    release = spread(case, source, tmp_path / "spread", engine)
    same(case, release, apply_here(case, source, tmp_path / "here.parquet"))
    assert len([*release.path.iterdir()]) > 1
    assert not [*tmp_path.glob(".*")]


def test_order_that_is_kept_is_the_sources(case: Any, source: Source, tmp_path: Path) -> None:
    release = spread(case, source, tmp_path / "spread", here, keep_order=True)
    other = apply_here(case, source, tmp_path / "here.parquet", keep_order=True)
    same(case, release, other)
    assert list(rows_by_number(release)) == list(rows_by_number(other))


@pytest.mark.spark
def test_spark_makes_the_same_release(
    case: Any, source: Source, tmp_path: Path, session: Any
) -> None:
    release = spread(case, source, tmp_path / "spread", on_spark)
    same(case, release, apply_here(case, source, tmp_path / "here.parquet"))
    ordered = [
        spread(case, source, tmp_path / name, engine, keep_order=True)
        for name, engine in (("spark", on_spark), ("here", here))
    ]
    parts = [{one.name: one.read_bytes() for one in release.path.iterdir()} for release in ordered]
    assert len(parts[0]) > 1
    assert parts[0] == parts[1]
    assert not [*tmp_path.glob(".*")]


def test_two_releases_do_not_zip(case: Any, source: Source, tmp_path: Path) -> None:
    """One secret repeats the order of one request; another source's rows have another order."""
    other = open_source(shutil.copytree(tmp_path / "source", tmp_path / "same rows"))
    a, again, b = (
        list(rows_by_number(spread(case, one, tmp_path / name, here)))
        for one, name in ((source, "a"), (source, "again"), (other, "b"))
    )
    assert a == again
    orders = [a, b]
    assert sorted(orders[0]) == sorted(orders[1])
    places = [np.argsort(np.array(order)) for order in orders]
    n = len(orders[0])
    assert abs(np.corrcoef(*places)[0, 1]) < 4 / np.sqrt(n)
    assert abs(np.corrcoef(places[0], np.arange(n))[0, 1]) < 4 / np.sqrt(n)


def test_a_source_that_changes_under_the_run_is_refused(
    case: Any, source: Source, tmp_path: Path
) -> None:
    def change(work: Callable[[int], str], tasks: int) -> Sequence[str]:
        first, second = (tmp_path / "source" / f"{part}.parquet" for part in range(2))
        second.write_bytes(first.read_bytes())
        return here(work, tasks)

    with pytest.raises(VoileError, match="changed while voile read"):
        spread(case, source, tmp_path / "out", change)
    assert not [*tmp_path.glob("out*")]
    assert not [*tmp_path.glob(".*")]


KILLS = {"tables": 6}
"""How often a run of a kind is killed; of others, 3 times."""
CHANGES = {"os.rename", "os.mkdir", "os.rmdir", "os.remove", "os.chmod"}


def test_a_killed_run_shows_nothing_and_the_next_is_whole(
    case: Any, source: Source, tmp_path: Path
) -> None:
    """It is killed at calls that change the file system, each time over what the last one left."""
    kills = KILLS.get(case.kind, 3)
    out, expected = tmp_path / "out", apply_here(case, source, tmp_path / "here.parquet")
    last = ended(lambda: spread(case, source, out, here))
    assert last > kills
    same(case, open_release(out), expected)
    for at in np.linspace(1, last, kills, dtype=int):
        for one in (out, *tmp_path.glob("out.*")):
            remove(one)
        assert ended(lambda: spread(case, source, out, here), at=int(at)) == at
        if out.exists():  # killed while it put away what it had needed
            same(case, open_release(out), expected)
    release = spread(case, source, out, here, force=True)
    same(case, release, expected)
    assert not [*tmp_path.glob(".*")]


def remove(path: Path) -> None:
    shutil.rmtree(path) if path.is_dir() else path.unlink(missing_ok=True)


def ended(work: Callable[[], Any], at: int = 0) -> int:
    """Do work in a child that is killed at a change of the file system; return how many it made."""
    ends, begins = os.pipe()
    child = os.fork()
    if not child:
        made = 0

        def count(event: str, about: Any) -> None:
            nonlocal made
            made += event in CHANGES
            if event in CHANGES and made == at:
                os.write(begins, str(made).encode())
                os.kill(os.getpid(), signal.SIGKILL)

        try:
            sys.addaudithook(count)
            work()
            os.write(begins, str(made).encode())
        finally:
            os._exit(0)  # never on into the tests
    os.close(begins)
    os.waitpid(child, 0)
    with os.fdopen(ends) as answer:
        return int(answer.read())
