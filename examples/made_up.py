"""Made-up notes, baskets and readings for the notebooks, as pandas frames; nobody exists."""

from __future__ import annotations

import pandas as pd

from voile.demo.samples import make_annotated_notes, make_baskets, make_readings


def notes(people: int = 150, seed: int = 1) -> pd.DataFrame:
    """Return a note for each person, with marked names and towns as JSON."""
    table = make_annotated_notes(people, seed)
    return table.select(["patient", "note", "spans", "ward"]).to_pandas()


def baskets(people: int = 600, seed: int = 1) -> pd.DataFrame:
    """Return each person's purchases as a list, and whether the person has diabetes."""
    return pd.DataFrame(make_baskets(people, seed).to_pydict())


def readings(people: int = 600, seed: int = 1) -> pd.DataFrame:
    """Return a weight and a pulse of each person, which reveal the person's condition."""
    return make_readings(people, seed).to_pandas()
