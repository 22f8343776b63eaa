"""The Tennessee pair as counts: 734 bits, 20,940 distinct records, 6,426,679 people."""

from __future__ import annotations

import os
from pathlib import Path

import numpy as np
import pyarrow.parquet as pq

from voile.tables.counts import Counts

COLUMNS = ("age", "sex", "race", "zip")


def data() -> Path:
    """Return the data folder: VOILE_DATA, or ../shared/data beside the checkout."""
    beside = Path(__file__).resolve().parents[2] / "shared" / "data"
    return Path(os.environ.get("VOILE_DATA", beside))


def tennessee_counts() -> Counts:
    """Count the sample and the population by age, sex, race and ZIP; each domain is sorted."""
    sample = pq.read_table(data() / "tennessee" / "adult.parquet")
    people = pq.read_table(data() / "tennessee" / "population.parquet")
    domains = [np.unique(people[c].to_numpy(zero_copy_only=False)) for c in COLUMNS]
    sizes = tuple(len(domain) for domain in domains)

    def keys(table: object) -> np.ndarray:
        codes = [
            np.searchsorted(domain, table[c].to_numpy(zero_copy_only=False))
            for c, domain in zip(COLUMNS, domains, strict=True)
        ]
        return np.ravel_multi_index(codes, sizes)

    where = np.unique(keys(people))
    return Counts(
        sizes=sizes,
        codes=np.stack(np.unravel_index(where, sizes), axis=1).astype(np.int32),
        sample=np.bincount(np.searchsorted(where, keys(sample)), minlength=len(where)) * 1.0,
        population=np.bincount(
            np.searchsorted(where, keys(people)), people["people"].to_numpy(), len(where)
        ),
        sensitive=np.zeros((len(where), 0)),
    )
