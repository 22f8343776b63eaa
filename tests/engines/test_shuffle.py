"""Shuffling gives every row once, in any order alike."""

from __future__ import annotations

import tempfile
import weakref
from collections import Counter
from collections.abc import Iterator
from itertools import permutations
from pathlib import Path
from tempfile import TemporaryDirectory

import numpy as np
import pyarrow as pa
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy.stats import chi2

from voile.engines.shuffle import hold_batches, shuffle_rows

DISK = 1
"""A memory so small that every batch goes to disk."""
PLENTY = 10**9


def batches_of(values: list[str | None], step: int) -> list[pa.RecordBatch]:
    return [
        pa.record_batch({"row": pa.array(range(start, start + len(part))), "text": coded(part)})
        for start in range(0, len(values), step)
        if (part := values[start : start + step])
    ]


def coded(values: list[str | None]) -> pa.Array:
    return pa.array(values, pa.string()).dictionary_encode()


@settings(max_examples=25, deadline=None)
@given(
    st.lists(st.none() | st.text(max_size=4), max_size=60),
    st.integers(1, 9),
    st.integers(1, 7),
    st.sampled_from([DISK, 2_000, PLENTY]),
    st.integers(0, 2**32),
)
def test_every_row_comes_out_once(
    values: list[str | None], step: int, batch_rows: int, memory: int, seed: int
) -> None:
    with TemporaryDirectory() as folder:
        out = shuffle_rows(
            batches_of(values, step),
            rng=np.random.default_rng(seed),
            directory=Path(folder),
            memory=memory,
            batch_rows=batch_rows,
        )
        batches = list(out)
        assert list(Path(folder).iterdir()) == []
    assert all(0 < batch.num_rows <= batch_rows for batch in batches)
    rows = [(row["row"], row["text"]) for batch in batches for row in batch.to_pylist()]
    assert sorted(rows, key=lambda row: row[0]) == list(enumerate(values))


@pytest.mark.whole
@pytest.mark.parametrize(("memory", "rows", "draws"), [(DISK, 3, 90), (PLENTY, 4, 4_800)])
def test_all_orders_are_alike(tmp_path: Path, memory: int, rows: int, draws: int) -> None:
    """Chi-squared over all orders of a few rows; by chance it fails for 1 seed in 100,000."""
    rng = np.random.default_rng(4)
    batches = batches_of(["x"] * rows, 1)
    seen: Counter[tuple[int, ...]] = Counter()
    for _ in range(draws):
        out = shuffle_rows(batches, rng=rng, directory=tmp_path, memory=memory)
        seen[tuple(row for batch in out for row in batch["row"].to_pylist())] += 1
    orders = list(permutations(range(rows)))
    expected = draws / len(orders)
    statistic = sum((seen[order] - expected) ** 2 / expected for order in orders)
    assert sum(seen.values()) == draws
    assert statistic < chi2.ppf(1 - 1e-5, len(orders) - 1)


def test_a_run_given_up_leaves_nothing(tmp_path: Path) -> None:
    out = shuffle_rows(
        batches_of(["a"] * 50, 5), rng=np.random.default_rng(1), directory=tmp_path, memory=DISK
    )
    next(out)
    assert list(tmp_path.iterdir())
    out.close()
    assert list(tmp_path.iterdir()) == []


def test_rows_wait_on_disk_and_leave_it_as_they_are_read(tmp_path: Path) -> None:
    """In memory: what was held first, what was dealt last, what is gathered, one to come."""
    made: list[weakref.ref[pa.RecordBatch]] = []
    at_once = []

    def stream() -> Iterator[pa.RecordBatch]:
        for _ in range(100):
            batch = pa.record_batch({"x": np.zeros(1000)})
            made.append(weakref.ref(batch))
            at_once.append(sum(each() is not None for each in made))
            yield batch

    rng = np.random.default_rng(1)
    quarter = 5 * 8000
    out = shuffle_rows(stream(), rng=rng, directory=tmp_path, memory=4 * quarter)
    files = [len(list(tmp_path.rglob("*.arrow"))) for _ in out]
    assert max(at_once) == 5 + 5 + 5 + 1
    assert (files[0], files[-1]) == (64, 1)


def test_nothing_in_nothing_out(tmp_path: Path) -> None:
    assert list(shuffle_rows([], rng=np.random.default_rng(1), directory=tmp_path)) == []
    assert list(hold_batches([], directory=tmp_path)) == []
    assert list(tmp_path.iterdir()) == []


@pytest.mark.parametrize("on_disk", [True, False])
def test_held_rows_come_in_order_and_none_before_the_last_has_come(
    tmp_path: Path, on_disk: bool
) -> None:
    batches = batches_of(["a", "b", None, "c"], 1)
    rest = iter(batches)
    out = hold_batches(rest, directory=tmp_path if on_disk else None)
    assert next(out).equals(batches[0])
    assert next(rest, None) is None
    assert any(tmp_path.iterdir()) == on_disk
    assert list(out) == batches[1:]
    assert list(tmp_path.iterdir()) == []


def test_without_a_directory_no_row_is_written_anywhere(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Not into the system's temporary folder either, where others may read."""
    monkeypatch.setattr(tempfile, "tempdir", str(tmp_path))
    batches = batches_of(["a"] * 50, 5)
    for on_disk, directory in ((False, None), (True, tmp_path)):
        out = shuffle_rows(batches, rng=np.random.default_rng(1), directory=directory, memory=DISK)
        assert len(next(out)) > 0
        assert any(tmp_path.iterdir()) == on_disk
        out.close()
