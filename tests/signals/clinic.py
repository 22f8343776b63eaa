"""Made-up people of two classes, and the wing's verbs on them."""

from __future__ import annotations

import warnings

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
from tests.signals.days import days

from voile.core.progress import silent
from voile.data import open_source
from voile.data.roles import Roles
from voile.release.choice import Choice
from voile.signals import SignalsWarning
from voile.signals.fitting.fit import fit
from voile.signals.module import SIGNALS
from voile.signals.options import ApplyOptions, FitOptions
from voile.signals.verbs.choose import choose
from voile.signals.verbs.decode import decode

ROLES = {
    "subject": "id",
    "columns": {
        "id": "identifier",
        "weight": {"role": "reading", "resolution": 0.1},
        "pulse": "reading",
        "ward": "keep",
        "when": "drop",
        "ill": "private",
    },
}


def people(n=240, seed=5, **columns):
    """Return n people, a third of them ill, who differ in weight and pulse."""
    rng = np.random.default_rng(seed)
    ill = np.arange(n) % 3 == 0
    table = {
        "id": [f"p{i}" for i in range(n)],
        "weight": np.round(rng.normal(np.where(ill, 60, 80), np.where(ill, 6, 9)), 1),
        "pulse": np.rint(rng.normal(np.where(ill, 90, 70), 7)),
        "ward": [("north", "south")[i % 2] for i in range(n)],
        "when": np.zeros(n, dtype=np.int64),
        "ill": np.where(ill, "yes", "no"),
    }
    return pa.table({**table, **columns})


def roles(**columns):
    given = {**ROLES["columns"], **columns}
    return Roles.model_validate({**ROLES, "columns": {k: v for k, v in given.items() if v}})


def fitted(table=None, said=None, **options):
    options = {"method": ["normal"], "strength": [0, 0.5, 1], **options}
    source = open_source(people() if table is None else table)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", SignalsWarning)
        chosen = FitOptions.model_validate(options)
        return fit(source, said or roles(), chosen, seed=1, progress=silent)


def strongest(kit):
    return choose(kit, Choice(max_loss=1.0))


def applied(kit, out, table=None, chosen=None, *, no_pseudonyms=True, **options):
    options = ApplyOptions.model_validate({"no_pseudonyms": no_pseudonyms, **options})
    source = open_source(people() if table is None else table)
    chosen = chosen or strongest(kit)
    return SIGNALS.apply(kit, chosen, source, out, options, force=False, progress=silent)


def decoded(kit, release, out, chosen=None, classes=None):
    known = open_source(classes or release.folder / "classes.csv")
    chosen = chosen or strongest(kit)
    decode(kit, chosen, release, known, out, force=False, progress=silent)
    return table_of(out)


def table_of(path):
    source = open_source(path)
    return pa.Table.from_batches(source.batches(), source.schema())


def rows_sent(release):
    return pq.read_table(release.folder / "rows.parquet")["row"].to_numpy()


def wards(length=6, n=300, seed=7):
    """Return n people over so many days: weight goes with height or against it, as the class is."""
    X, c, whose = days(n, length, seed)
    X[:, 1] = np.round(X[:, 1] - np.where(c == "wild", X[:, 0] - 165, 0), 1)
    names = [f"p{i}" for i in whose]
    day = np.arange(len(whose)) % length
    return pa.table({"id": names, "height": X[:, 0], "weight": X[:, 1], "day": day, "state": c})


WARDS = {
    "subject": "id",
    "columns": {
        "id": "identifier",
        "height": {"role": "reading", "invariant": True},
        "weight": {"role": "reading", "resolution": 0.1},
        "day": "drop",
        "state": "private",
    },
}
