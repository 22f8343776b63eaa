"""A made clinic with columns of numbers, counts and dates, fitted and released."""

from __future__ import annotations

import numpy as np
import pyarrow as pa

from voile.core.progress import silent
from voile.data import open_source
from voile.data.roles import Roles
from voile.itemsets.module import ITEMSETS
from voile.itemsets.verbs.choose import choose
from voile.itemsets.verbs.fit import fit
from voile.itemsets.verbs.options import ApplyOptions, FitOptions
from voile.release.choice import Choice

NUMBERS = {"role": "items", "as": "numbers"}
DATES = {"role": "items", "as": "dates"}
CATEGORIES = {"role": "items", "as": "categories"}
PEOPLE = 600


def clinic(people=PEOPLE, seed=3):
    """Return people with an age, a weight, visits, a first day, a ward; illness follows them."""
    rng = np.random.default_rng(seed)
    age = rng.integers(18, 91, people)
    visits = rng.poisson(np.where(age > 60, 5, 1))
    weight = np.round(rng.normal(75, 12, people), 1)
    days = np.datetime64("2015-01-01") + rng.integers(0, 3000, people)
    ill = rng.random(people) < np.where(age > 55, 0.8, 0.2)
    grade = np.where(ill, np.where(visits > 3, "bad", "fair"), "good")
    return {
        "age": age.astype(str).tolist(),
        "weight": weight.tolist(),
        "visits": visits.tolist(),
        "first": [f"{day.astype(object):%d.%m.%Y}" for day in days],
        "ward": rng.choice(["a", "b"], people, p=[0.7, 0.3]).tolist(),
        "grade": grade.tolist(),
    }


ROLES = {
    "age": NUMBERS,
    "weight": NUMBERS,
    "visits": NUMBERS,
    "first": DATES,
    "ward": "items",
    "grade": "label",
}


def fitted(table, roles, *ks, **options):
    read = Roles.model_validate({"columns": roles, "subject": options.pop("subject", None)})
    given = FitOptions(k=ks, **{"auc": "never", **options})
    return fit(open_source(pa.table(table)), read, given, seed=1, progress=silent)


def released(kit, table, out, *, risk=None, policy=None):
    chosen = choose(kit, Choice(max_risk=risk) if policy is None else Choice(policy=policy))
    source = open_source(pa.table(table))
    options = ApplyOptions(keep_order=True)
    release = ITEMSETS.apply(kit, chosen, source, out, options, force=True, progress=silent)
    return release, release.rows().read().to_pydict()
