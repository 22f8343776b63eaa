"""The Tennessee pair as counts: 734 bits, 20,940 distinct records, 6,426,679 people."""

from __future__ import annotations

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
import pyarrow.parquet as pq
from benchmarks.data import folder

from voile.tables.people.counts import CombinationCounts

COLUMNS = ("age", "sex", "race", "zip")
RACES = ("White", "Black", "Asian-Pac-Islander", "Amer-Indian-Eskimo", "Other")


def tennessee_counts(*, races: tuple[str, ...] = RACES) -> CombinationCounts:
    """Count sample and population by age, sex, race and ZIP, races in the order given.

    The default is the order of the data's own description; other domains are sorted.
    """
    sample = pq.read_table(folder("tennessee") / "adult.parquet")
    people = pq.read_table(folder("tennessee") / "population.parquet")
    domains = [pc.unique(people[c]).sort() for c in COLUMNS]
    domains[COLUMNS.index("race")] = pa.array(races, people.schema.field("race").type)
    sizes = tuple(len(domain) for domain in domains)

    def keys(table: pa.Table) -> np.ndarray:
        codes = [
            pc.index_in(table[c].cast(domain.type), domain).to_numpy().astype(np.int64)
            for c, domain in zip(COLUMNS, domains, strict=True)
        ]
        return np.ravel_multi_index(codes, sizes)

    of_sample, of_people = keys(sample), keys(people)
    where = np.unique(of_people)
    return CombinationCounts(
        sizes=sizes,
        codes=np.stack(np.unravel_index(where, sizes), axis=1).astype(np.int32),
        sample=np.bincount(np.searchsorted(where, of_sample), minlength=len(where)) * 1.0,
        population=np.bincount(
            np.searchsorted(where, of_people), people["people"].to_numpy(), len(where)
        ),
        sensitive=np.zeros((len(where), 0)),
    )
