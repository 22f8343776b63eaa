"""CPU of `apply` a row where rows have subjects: pseudonyms, date shifts and tokens included."""

from __future__ import annotations

import secrets
import tempfile
import time
from pathlib import Path
from statistics import median

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
from benchmarks.tables import save

import voile.tables

ROWS, RUNS = 1_000_000, 3
A_SUBJECT = 4
"""Rows of one subject."""
ROLES = {
    "subject": "person",
    "columns": {
        "person": "identifier",
        "age": "quasi",
        "sex": "quasi",
        "ward": "sensitive",
        "visit": {"role": "keep", "date_shift_days": 30},
    },
}


def main() -> None:
    """Apply one kit to rows of subjects that lie together, and to the same rows in random order."""
    order = np.random.default_rng(2)
    together = visits()
    tables = {
        "together": together,
        "in random order": together.take(order.permutation(len(together))),
    }
    rows = [(name, f"{microseconds(table):.1f}") for name, table in tables.items()]
    save(
        "apply_subjects",
        f"{ROWS:,} rows of {ROWS // A_SUBJECT:,} subjects, from Parquet to Parquet: an age and a\n"
        "sex generalised, a pseudonym, a shifted date, rows shuffled, the release certified.\n"
        f"Median of {RUNS}; user and system CPU of all threads.",
        ("rows of a subject", "microseconds of CPU a row"),
        rows,
    )


def visits() -> pa.Table:
    """Draw rows, those of a subject one after the other."""
    rng = np.random.default_rng(1)
    person = np.repeat(np.arange(ROWS // A_SUBJECT), A_SUBJECT)
    return pa.table(
        {
            "person": [f"P{number:08d}" for number in person],
            "age": rng.integers(0, 100, len(person)),
            "sex": rng.choice(["f", "m"], len(person)),
            "ward": rng.choice(list("abcdefgh"), len(person)),
            "visit": pa.array(
                rng.integers(15_000, 19_000, len(person)).astype("int32"), pa.date32()
            ),
        }
    )


def microseconds(table: pa.Table) -> float:
    """Return the CPU of an apply, a row; the kit is fitted before."""
    with tempfile.TemporaryDirectory() as place:
        source, key = Path(place, "visits.parquet"), Path(place, "key")
        pq.write_table(table, source)
        key.write_text(secrets.token_hex(32))
        key.chmod(0o600)
        kit = voile.tables.fit(source, roles=ROLES, k=5, family="global", method="steepest", seed=1)
        policy = kit.choose(max_loss=0.5)
        took = []
        for run in range(RUNS):
            begun = time.process_time()
            kit.apply(policy, source, out=Path(place, f"{run}.parquet"), key_file=key)
            took.append(time.process_time() - begun)
    return median(took) / len(table) * 1e6


if __name__ == "__main__":
    main()
