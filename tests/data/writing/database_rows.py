"""Rows of every type, and a table of them released into a DuckDB file."""

from __future__ import annotations

from datetime import UTC, date, datetime, time
from decimal import Decimal
from pathlib import Path

import pyarrow as pa

from voile.data import open_writer, publishing
from voile.data.files.atomic import Staging
from voile.data.files.outputs import RELEASE, RELEASE_FORMAT, manifest_of
from voile.data.opening import split_output

ROWS = pa.table(
    {
        "zip": pa.array(["00501", None, "é ''\\\n\t", ""] * 5).dictionary_encode(),
        "tiny": pa.array([-1, None, 2, 3] * 5, pa.int8()),
        "huge": pa.array([2**64 - 1, None, 0, 1] * 5, pa.uint64()),
        "x": pa.array([0.1, None, float("nan"), float("-inf")] * 5),
        "cost": pa.array([Decimal("1.50"), None, Decimal("-0.01"), Decimal(0)] * 5),
        "born": pa.array([date(1990, 1, 2), None, date(1, 1, 1), date(9999, 12, 31)] * 5),
        "at": pa.array([datetime(2024, 1, 1, 1), None, None, None] * 5, pa.timestamp("ms")),
        "on": pa.array([datetime(2024, 1, 1, tzinfo=UTC), None] * 10),
        "clock": pa.array([time(1, 2, 3), None] * 10, pa.time32("s")),
        "flag": [True, None] * 10,
        "raw": [b"\x00\xff", None] * 10,
        "items": [["a", None], None] * 10,
        "nothing": pa.nulls(20),
        'the "A"': range(20),
    }
)  # fmt: skip


def release(place: Path, table: pa.Table, *, force: bool = False) -> Path:
    """Release rows as a wing does."""
    out, named = split_output(place)
    with Staging(out, RELEASE, force=force) as staging:
        part = staging.part(out)
        with open_writer(f"{part}::{named}", table.schema, force=force) as writer:
            for batch in table.to_batches(max_chunksize=7):
                writer.write(batch)
        staging.part(RELEASE.parts(out)[1]).write_bytes(manifest_of(RELEASE_FORMAT))
        with publishing(part, named, force=force) as publish:
            staging.commit(publish)
    return out
