"""Parts with fewer rows of each person, so that the number of rows singles out fewer people."""

from __future__ import annotations

from collections import Counter
from pathlib import Path
from typing import Any

import pyarrow.parquet as pq

from voile.data import Source
from voile.study.plan.plan import Plan
from voile.study.risk.remedies import are_first


def write_capped(source: Source, subject: str, most: int, folder: Path, name: str) -> None:
    """Write the first rows of each person. Memory: one number a person."""
    seen = Counter[Any]()
    with pq.ParquetWriter(folder / f"{name}.capped.parquet", source.schema()) as file:
        for batch in source.batches():
            people = batch.column(batch.schema.get_field_index(subject)).to_pylist()
            file.write_batch(batch.filter(are_first(people, most, seen)))


def count_left_out(plan: Plan, name: str) -> dict[str, int]:
    """Count the rows of a part's source that `most_rows` leaves out, and their people."""
    part, subject = plan.rows[name], plan.study.subject
    rows = Counter(
        who for batch in plan.whole(name).batches([subject]) for who in batch.column(0).to_pylist()
    )
    over = [n - part.most_rows for n in rows.values() if part.most_rows and n > part.most_rows]
    return {"rows": rows.total(), "left_out": sum(over), "people": len(over)}
