"""What a wing makes of a batch: in any process, with its own files beside."""

from __future__ import annotations

import json
import os
import pickle
from collections import Counter
from collections.abc import Mapping
from dataclasses import replace
from pathlib import Path

import numpy as np
import pyarrow as pa
from tests.release.words import IN_ORDER, RELEASED, WORDS, Words, column, private, run

from voile.core.progress import silent
from voile.gate.finding import GateFinding
from voile.release.apply import write
from voile.release.outcomes import BatchOutcome, SourceBatch, WrittenRelease

OWN = pa.schema([("rows", pa.int64()), ("first", pa.string())])


class Noting(Words):
    """Write a line of each batch, and a last one."""

    def make(self, batch: SourceBatch) -> BatchOutcome[Counter[str]]:
        first = batch.rows.column("word")[0].as_py()
        return replace(super().make(batch), beside={"own.csv": line(len(batch.rows), first)})

    def last(self, known: Counter[str]) -> Mapping[str, pa.RecordBatch]:
        return {"own.csv": line(known["rows"], "in all")}


def line(rows: int, first: str) -> pa.RecordBatch:
    return pa.RecordBatch.from_pylist([{"rows": rows, "first": first}], schema=OWN)


def test_what_a_wing_writes_itself_is_closed_and_sealed(out: Path) -> None:
    write(run(Noting, beside={"own.csv": OWN}), out, IN_ORDER, force=False, progress=silent)
    lines = ["rows,first", "4,a", "4,", "4,rare", "12,in all"]
    assert private(out, "own.csv").read_text().splitlines() == lines
    assert "own.csv" in json.loads(private(out, "seal.json").read_bytes())["files"]


def test_several_processes_make_what_one_makes(out: Path) -> None:
    others = out.with_name("others.parquet")
    here = run(Processes, beside={"own.csv": OWN})
    there = run(Processes, beside={"own.csv": OWN}, jobs=2)
    for applying, place in ((here, out), (there, others)):
        write(applying, place, IN_ORDER, force=False, progress=silent)
    assert here.found["processes"] == {os.getpid()}
    assert there.found["processes"].isdisjoint({os.getpid()})
    assert column(others, "word") == column(out, "word") == [WORDS[row] for row in RELEASED]
    for name in ("set-aside.csv", "own.csv"):
        assert private(others, name).read_bytes() == private(out, name).read_bytes()
    assert column(private(others, "rows.parquet"), "row") == RELEASED


class Processes(Noting):
    """Say in which process a batch was made."""

    def make(self, batch: SourceBatch) -> BatchOutcome[Counter[str]]:
        made = super().make(batch)
        return replace(made, notes=made.notes | {f"in {os.getpid()}": 1})

    def measure(self, written: WrittenRelease[Counter[str]]) -> tuple[GateFinding, ...]:
        said = (name.partition("in ")[2] for name in written.known)
        self.found["processes"] = {int(number) for number in said if number}
        return super().measure(written)


def test_rows_of_a_batch_travel_alone() -> None:
    rows = pa.record_batch({"word": [f"word {n}" for n in range(10_000)]}).slice(5000, 2)
    batch = SourceBatch(rows, np.array([5000, 5001]), np.array([True, False]))
    sent = pickle.dumps(batch)
    assert len(sent) < 2_000
    back = pickle.loads(sent)
    assert back.rows.to_pylist() == rows.to_pylist()
    assert back.numbers.tolist() == [5000, 5001]
    assert back.counted.tolist() == [True, False]
