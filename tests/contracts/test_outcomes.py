"""Test that the outcome of a batch depends only on the batch, not on the order or the process."""

from __future__ import annotations

import pickle
from collections.abc import Iterator, Mapping, Sequence
from concurrent.futures import ProcessPoolExecutor
from dataclasses import fields, is_dataclass
from multiprocessing import get_context
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
import pytest

import voile.keys.random
from voile.data import open_source
from voile.modules import find_module
from voile.release.choice import Chosen
from voile.release.kit import StoredKit
from voile.release.outcomes import SourceBatch
from voile.release.step import ApplyingStep

ROWS = 5
ORDERS = (range(8), range(7, -1, -1), (3, 1, 3, 0, 3))


def prepared(kind: str, folder: Path, options: Mapping[str, Any]) -> ApplyingStep[Any, Any]:
    """Prepare what is done from files alone, as any process could."""
    here = find_module(kind)
    return here.prepare(
        StoredKit.load(folder / "kit"),
        Chosen.read(folder / "policy.toml"),
        open_source(folder / "source.parquet"),
        here.options.apply.model_validate(options),
    )


def parts(applying: ApplyingStep[Any, Any]) -> Iterator[SourceBatch]:
    """Cut the source's batches into small ones."""
    for batch in applying.batches():
        for at in range(0, len(batch.numbers), ROWS):
            some = slice(at, at + ROWS)
            rows = batch.rows.slice(at, ROWS)
            yield SourceBatch(rows, batch.numbers[some], batch.counted[some])


def made(applying: ApplyingStep[Any, Any], order: Sequence[int]) -> list[Any]:
    """Make batches in this order, some perhaps again, and look at each before the next."""
    batches = list(parts(applying))
    return [plain(applying.make(batches[place % len(batches)])) for place in order]


UNDITHERED = SimpleNamespace(token_bytes=bytes, randbits=lambda _: 0)
"""In the place of the system's entropy: the same draws each time, which protect nobody."""


def elsewhere(kind: str, folder: Path, options: Mapping[str, Any], order: Sequence[int]) -> Any:
    """Do the same in a process that has just begun."""
    voile.keys.random.secrets = UNDITHERED  # type: ignore[assignment]
    return made(prepared(kind, folder, options), order)


def plain(value: Any) -> Any:
    """Return what can be compared."""
    if is_dataclass(value):
        return {field.name: plain(getattr(value, field.name)) for field in fields(value)}
    if isinstance(value, pa.Array | pa.RecordBatch):
        return repr(value.to_pylist())
    if isinstance(value, np.ndarray):
        return value.tolist()
    if isinstance(value, Mapping):
        return {key: plain(one) for key, one in value.items()}
    return [plain(one) for one in value] if isinstance(value, list | tuple) else value


@pytest.fixture
def given(case: Any, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> tuple[Any, ...]:
    """A kit, a policy and a source with a strange value, in files; pseudonyms that last."""
    monkeypatch.setenv("VOILE_SECRET", "a secret that is long enough for anybody")
    monkeypatch.setattr(voile.keys.random, "secrets", UNDITHERED)
    kit = case.fit(case.table, how="held out")
    kit.save(tmp_path / "kit")
    case.middle(kit).save(tmp_path / "policy.toml")
    pq.write_table(case.tiny.outside(case.table, "strange"), tmp_path / "source.parquet")
    lasting = {"no_pseudonyms"} & case.options["apply"].keys()
    return case.kind, tmp_path, {**case.options["apply"], **dict.fromkeys(lasting, False)}


def test_the_same_batch_has_the_same_outcome_in_any_order(given: Any) -> None:
    applying = prepared(*given)
    number = len(list(parts(applying)))
    first = made(applying, range(number))
    assert len({repr(one) for one in first}) == number, "batches that can be told apart"
    for order in ORDERS:
        assert made(applying, order) == [first[n % number] for n in order]


def test_another_process_makes_the_same_of_paths_alone(given: Any) -> None:
    order = (5, 0, 3)
    here = made(prepared(*given), order[::-1])
    with ProcessPoolExecutor(1, mp_context=get_context("spawn")) as process:
        there = process.submit(elsewhere, *given, order).result()
    assert there == here[::-1]


def test_batches_and_outcomes_travel(given: Any) -> None:
    applying = prepared(*given)
    for batch in parts(applying):
        sent = pickle.loads(pickle.dumps(batch))
        outcome = applying.make(sent)
        assert plain(pickle.loads(pickle.dumps(outcome))) == plain(outcome)
        assert plain(outcome) == plain(applying.make(batch))
