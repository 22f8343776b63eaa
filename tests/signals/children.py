"""Made-up children whose weight grows with age, which is known or sent beside it, and their kit."""

from __future__ import annotations

import numpy as np
import pyarrow as pa
from tests.signals.clinic import fitted

from voile.data.roles import Roles

SENT = {"role": "known", "nominal": True, "sent": True}


def children(n=400, seed=3, **columns):
    """Return n people whose weight grows with age; a third are ill, and the lighter for it."""
    rng = np.random.default_rng(seed)
    ill, age = np.arange(n) % 3 == 0, rng.integers(2, 18, n)
    weight = 10 + 3 * age + (1 + age / 4) * (rng.normal(size=n) - 1.5 * ill)
    table = {
        "id": [f"p{i}" for i in range(n)],
        "age": pa.array(age.tolist(), pa.int64()),
        "sex": np.where(rng.random(n) < 0.5, "f", "m"),
        "weight": np.round(weight, 1),
        "ill": np.where(ill, "yes", "no"),
    }
    return pa.table({**table, **columns})


def said(age="known", sex=SENT):
    columns = {"id": "identifier", "age": age, "sex": sex, "weight": "reading", "ill": "private"}
    return Roles.model_validate({"subject": "id", "columns": columns})


def kit_of(table=None, roles=None, **options):
    options = {"method": ["transport"], "strength": [0, 1], **options}
    return fitted(children() if table is None else table, roles or said(), **options)
