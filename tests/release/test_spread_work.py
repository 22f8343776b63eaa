"""Files by which workers meet: nothing in them runs, and what this run did not write is refused."""

from __future__ import annotations

import datetime as dt
import io
import json
import pickle
from collections import Counter
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from hypothesis import given
from hypothesis import strategies as st

import voile.tables
from voile.core.errors import DamagedError, RequestError, VoileError
from voile.core.progress import silent
from voile.data import open_source
from voile.keys.secret import Secret
from voile.modules import find_module
from voile.release.apply import write
from voile.release.choice import Choice, Chosen
from voile.release.spread.job import JOB, KEY, StagedFolder, StepCode
from voile.release.spread.plain import PlainPacker
from voile.release.spread.run import SpreadRun
from voile.release.spread.work import STOP, make
from voile.tables.module import TABLES

CODE = StepCode(TABLES.prepare, TABLES.options.apply)


@dataclass(frozen=True)
class Seen:
    rows: Any
    names: Any


class Reason(NamedTuple):
    kind: str
    number: int


PLAIN = PlainPacker([Seen, Reason])
values = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats(allow_nan=False) | st.text(),
    lambda inner: (
        st.lists(inner)
        | st.tuples(inner, inner)
        | st.lists(st.tuples(inner, inner, inner))
        | st.lists(st.just(()))
        | st.sets(st.text())
        | st.dictionaries(st.tuples(st.text(), st.integers()) | st.text(), inner)
        | st.builds(Counter, st.lists(st.builds(Reason, st.text(), st.integers())))
        | st.builds(Seen, inner, inner)
    ),
    max_leaves=12,
)


def kinds(thing: Any) -> Any:
    """Return the types of a value and of what it holds: a list is not a tuple."""
    if isinstance(thing, Seen):
        return Seen, kinds(thing.rows), kinds(thing.names)
    if isinstance(thing, dict):
        return type(thing), {repr(name): (kinds(name), kinds(x)) for name, x in thing.items()}
    held = [*map(kinds, thing)] if isinstance(thing, list | tuple) else None
    return type(thing), held


@given(values)
def test_a_value_comes_back_as_it_was(value: Any) -> None:
    found = PLAIN.unpack(PLAIN.pack(value))
    assert found == value
    assert kinds(found) == kinds(value)


def test_arrays_and_rows_come_back_bit_for_bit() -> None:
    arrays = [
        np.array([0.0, -0.0, np.nan, np.inf]),
        np.zeros((0, 3), np.int32),
        np.array(["é", ""]),
        np.array(["2020-02-29"], "M8[s]"),
        np.float32(0.1),
    ]
    rows = pa.record_batch({"a": pa.array(["x", None]), "d": pa.array([dt.date(2020, 1, 1)] * 2)})
    for batch in (rows, rows.slice(1, 0), rows.select([])):
        found, same = PLAIN.unpack(PLAIN.pack((arrays, batch)))
        assert same.schema == batch.schema
        assert same.equals(batch)
        for one, other in zip(found, arrays, strict=True):
            assert one.dtype == other.dtype
            assert one.tobytes() == other.tobytes()


@pytest.mark.parametrize("thing", [object(), Choice(policy=1), np.array([object()]), len, b"x"])
def test_other_things_are_not_packed(thing: Any) -> None:
    with pytest.raises(TypeError, match="is not packed"):
        PLAIN.pack([thing])


class Trap:
    def __init__(self, place: Path) -> None:
        self.place = place

    def __reduce__(self) -> tuple[object, ...]:
        return Path.touch, (self.place,)


def npz(**arrays: Any) -> bytes:
    file = io.BytesIO()
    np.savez(file, **arrays)
    return file.getvalue()


def tree(data: Any) -> bytes:
    return npz(tree=np.frombuffer(json.dumps(data).encode(), np.uint8))


def test_what_is_forged_runs_nothing_and_is_refused(tmp_path: Path) -> None:
    sprung = tmp_path / "sprung"
    trap = np.array([Trap(sprung)], dtype=object)
    forged = [
        pickle.dumps(Trap(sprung)),
        npz(tree=trap),
        npz(**{"tree": np.frombuffer(b'{"array": 0}', np.uint8), "0": trap}),
        tree({"Choice": [1]}),
        tree({"Seen": [1, 2, 3]}),
        tree({"array": 7}),
        tree({"rows": "tree"}),
        tree({"dict": [[1], []]}),
        tree({"dict": [[[]], [1]]}),
        tree({"array": 0, "rows": 1}),
        npz(other=np.zeros(1)),
        npz(other=np.zeros(1))[:-9],
        b"",
    ]
    for data in forged:
        with pytest.raises(DamagedError, match="a file of the run"):
            PLAIN.unpack(data)
    assert not sprung.exists()
    pickle.loads(forged[0])
    assert sprung.exists()  # so the trap works, and that nothing is unpickled kept it shut


def test_a_file_is_this_runs_and_of_its_name(tmp_path: Path) -> None:
    staged = StagedFolder(tmp_path, Secret(bytes(32)))
    staged.store("a", [1])
    staged.store("b", [2])
    assert staged.load("a") == [1]
    whole = (tmp_path / "a").read_bytes()
    flipped = whole[:-1] + bytes([whole[-1] ^ 1])
    for data in (b"", whole[:20], whole[:-1], flipped, (tmp_path / "b").read_bytes()):
        (tmp_path / "a").write_bytes(data)
        with pytest.raises(
            DamagedError,
            match="a: the file does not match the bytes that this run wrote; run again",
        ):
            staged.load("a")
    (tmp_path / "a").write_bytes(whole)
    with pytest.raises(DamagedError, match="does not match the bytes that this run wrote"):
        StagedFolder(tmp_path, Secret(bytes(31) + b"1")).load("a")
    with pytest.raises(DamagedError, match="cannot read the file"):
        staged.load("c")


def test_a_folder_that_others_may_write_to_is_refused(tmp_path: Path) -> None:
    folder = tmp_path / "run"
    folder.mkdir(mode=0o755)
    (folder / JOB).touch()
    said = json.loads(make(folder, CODE, 0))
    assert said["kind"] == "RequestError"
    assert "another user owns the release's folder" in said["what"]
    assert "worker " in said["where"]


def test_a_folder_that_is_not_there_is_refused(tmp_path: Path) -> None:
    assert "cannot read" in json.loads(make(tmp_path / "nowhere", CODE, 0))["what"]


ROWS = 400
Engine = Callable[[Any, int], Sequence[str]]


@pytest.fixture(scope="module")
def place(tmp_path_factory: pytest.TempPathFactory) -> Path:
    place = tmp_path_factory.mktemp("table")
    rng = np.random.default_rng(1)
    ages, sexes = rng.integers(2, 6, ROWS) * 10, rng.choice(["F", "M"], ROWS)
    pq.write_table(pa.table({"age": ages, "sex": sexes}), place / "0.parquet", row_group_size=100)
    return place


@pytest.fixture(scope="module")
def fitted(place: Path) -> tuple[Any, Chosen]:
    roles = {"columns": {"age": "quasi", "sex": "quasi"}}
    kit = voile.tables.fit(place / "0.parquet", roles=roles, k=5, seed=1)
    return kit, kit.choose(policy=1)


def release(
    place: Path, fitted: tuple[Any, Chosen], out: Path, engine: Engine, key: Path | None = None
) -> Any:
    tables, (kit, chosen) = find_module("tables"), fitted
    options = tables.options.apply(key_file=key)
    applying = tables.prepare(kit, chosen, open_source(place / "0.parquet"), options)
    run = partial(SpreadRun, prepare=tables.prepare, engine=engine, size=100)
    return write(applying, out, options, force=False, progress=silent, run=run)


def swap(folder: Path, pattern: str) -> None:
    first, second = sorted(folder.glob(pattern))[:2]
    one, other = first.read_bytes(), second.read_bytes()
    first.write_bytes(other)
    second.write_bytes(one)


def cut(folder: Path, pattern: str) -> None:
    for file in folder.glob(pattern):
        file.write_bytes(file.read_bytes()[:-1])


def hollow(folder: Path, pattern: str) -> None:
    """Say that the last bucket is empty."""
    for file in folder.glob(pattern):
        data = file.read_bytes()
        file.write_bytes(data[:-16] + bytes(16))


def rekey(folder: Path, pattern: str) -> None:
    (folder / KEY).write_bytes(b"0" * 64)


def other_kit(folder: Path, pattern: str) -> None:
    roles = {"columns": {"age": "quasi", "sex": "keep"}}
    source = open_source(folder.parents[2] / "source.parquet")
    voile.tables.fit(source, roles=roles, k=5, seed=1).save(folder / "kit", force=True)


@pytest.mark.parametrize(
    ("before", "harm", "pattern"),
    [
        ("make", cut, "job"),
        ("make", rekey, ""),
        ("make", other_kit, ""),
        ("finish", swap, "made/*.rows"),
        ("finish", cut, "made/*.rows"),
        ("finish", hollow, "made/*.rows"),
        ("finish", cut, "known"),
        ("after make", swap, "made/*.notes"),
        ("after make", cut, "made/*.notes"),
        ("after finish", swap, "parts/*.tail.parquet"),
        ("after finish", cut, "parts/*.tail.parquet"),
        ("after finish", swap, "parts/*.sums"),
    ],
)
def test_a_staged_file_that_is_changed_is_refused(
    place: Path, fitted: Any, tmp_path: Path, before: str, harm: Any, pattern: str
) -> None:
    (tmp_path / "source.parquet").write_bytes((place / "0.parquet").read_bytes())

    def engine(work: Any, tasks: int) -> Sequence[str]:
        name, folder = work.func.__name__, work.args[0]
        if before == name:
            harm(folder, pattern)
        said = [work(number) for number in range(tasks)]
        if before == f"after {name}":
            harm(folder, pattern)
        return said

    with pytest.raises((DamagedError, RequestError)) as caught:
        release(place, fitted, tmp_path / "out", engine)
    assert "\n" not in str(caught.value)
    assert [one.name for one in tmp_path.iterdir()] == ["source.parquet"]


def test_a_worker_with_another_secret_is_refused(
    place: Path, fitted: tuple[Any, Chosen], tmp_path: Path
) -> None:
    """Its pseudonyms of a person would be others than the other workers'."""
    key = tmp_path / "key"
    key.touch(mode=0o600)
    key.write_text("a secret that is long enough")

    def elsewhere(work: Callable[[int], str], tasks: int) -> Sequence[str]:
        key.write_text("b secret that is long enough")
        return [work(number) for number in range(tasks)]

    with pytest.raises(RequestError, match=r"worker .*key: the worker's secret differs") as refused:
        release(place, fitted, tmp_path / "out", elsewhere, key)
    assert "long enough" not in str(refused.value)
    assert [one.name for one in tmp_path.iterdir()] == ["key"]


def test_what_no_other_process_has_is_refused() -> None:
    options = find_module("documents").options.apply(known=pa.table({"name": ["CANARY"]}))
    with pytest.raises(RequestError, match="contains rows or a function") as caught:
        options.at_worker().as_json()
    assert "CANARY" not in str(caught.value)


def test_a_release_whose_refusal_was_lost_is_refused_all_the_same(
    place: Path, fitted: Any, tmp_path: Path
) -> None:
    def engine(work: Any, tasks: int) -> Sequence[str]:
        (work.args[0] / STOP).touch()  # as a worker did that was lost before it could answer
        return [work(number) for number in range(tasks)]

    with pytest.raises(VoileError, match="a worker refused the release, and its reason was lost"):
        release(place, fitted, tmp_path / "out", engine)
    assert not list(tmp_path.iterdir())
