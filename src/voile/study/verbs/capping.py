"""Parts with fewer rows per person, so that the number of rows singles out fewer people."""

from __future__ import annotations

from collections import Counter
from pathlib import Path
from typing import Any

import pyarrow as pa
import pyarrow.parquet as pq

from voile.data import Source
from voile.keys.secret import Secret
from voile.study.carriers.row_limits import RowLimits
from voile.study.plan.plan import StudyPlan
from voile.study.risk.remedies import Limit, limit_rows


def find_limits(plan: StudyPlan) -> dict[str, Limit]:
    """Return the limits on the rows of a person, for each part with a limit."""
    return {
        name: limit_rows(part.most_rows, part.row_bins)
        for name, part in plan.rows.items()
        if part.most_rows is not None or part.row_bins is not None
    }


def write_capped(
    source: Source, subject: str, limit: Limit, secret: Secret, folder: Path, name: str
) -> None:
    """Write the rows of each person with the smallest keyed codes, in the source's order.

    Memory: a number for each person, and the codes of kept rows of people above the limit.
    """
    rows = _count_rows(source, subject)

    def find_most(_: str, who: Any) -> int | None:
        most = limit(rows[who])
        return most if most < rows[who] else None

    limits = RowLimits(find_most, secret)
    for batch in source.batches():
        for row in batch.to_pylist():
            limits.consider(name, row[subject], row)
    with pq.ParquetWriter(folder / f"{name}.capped.parquet", source.schema()) as file:
        for batch in source.batches():
            kept = [limits.keeps(name, row[subject], row) for row in batch.to_pylist()]
            file.write_batch(batch.filter(pa.array(kept, pa.bool_())))


def count_left_out(plan: StudyPlan, name: str, limit: Limit) -> dict[str, int]:
    """Count the rows of a part's source that its options leave out, and their people."""
    rows = _count_rows(plan.whole(name), plan.study.subject)
    over = [n - limit(n) for n in rows.values() if n > limit(n)]
    return {"rows": rows.total(), "left_out": sum(over), "people": len(over)}


def _count_rows(source: Source, subject: str) -> Counter[Any]:
    return Counter(
        who for batch in source.batches([subject]) for who in batch.column(0).to_pylist()
    )
