"""Visits of made-up patients, and what fits, chooses, applies and reads them in one call."""

from __future__ import annotations

import datetime as dt

import numpy as np
import pyarrow as pa

from voile.core.progress import silent
from voile.data import open_source
from voile.data.roles import Roles
from voile.release.choice import Choice
from voile.tables.fitting.fit import fit
from voile.tables.module import TABLES
from voile.tables.verbs.choose import choose
from voile.tables.verbs.options import ApplyOptions, FitOptions

COLUMNS = {
    "who": "identifier",
    "name": "identifier",
    "age": "quasi",
    "zip": "quasi",
    "seen": {"role": "keep", "date_shift_days": 30},
    "ill": "sensitive",
    "note": "text",
    "secret": "drop",
}


def visits():
    """300 visits of 200 people, with canaries in what never leaves."""
    rng = np.random.default_rng(5)
    who = [i % 200 for i in range(300)]
    age = rng.integers(20, 40, 200)
    zips = rng.choice(["00501", "00544", "37010", "37201"], 200)
    first = dt.date(2020, 1, 1)
    return pa.table(
        {
            "who": [f"CANARY-{i:03d}" for i in who],
            "name": [f"CANARYNAME {i}" for i in who],
            "age": [int(age[i]) for i in who],
            "zip": [str(zips[i]) for i in who],
            "seen": [(first + dt.timedelta(days=7 * i)).isoformat() for i in range(300)],
            "ill": rng.choice(["flu", "gout"], 300).tolist(),
            "note": ["CANARYNOTE"] * 300,
            "secret": ["CANARYDROP"] * 300,
        }
    )


def roles(**changes):
    """Return the columns' roles; None leaves a column out."""
    columns = {name: role for name, role in {**COLUMNS, **changes}.items() if role is not None}
    subject = "who" if "who" in columns else None
    return Roles.model_validate({"subject": subject, "columns": columns})


def fitted(table, held_to=None, *, seed=3, **options):
    asked = FitOptions.model_validate({"family": "global", "method": "steepest", **options})
    return fit(open_source(table), held_to or roles(), asked, seed=seed, progress=silent)


def middle(kit):
    return choose(kit, Choice(policy=kit.facts["policies"] // 2))


def finest(kit):
    return choose(kit, Choice(policy=kit.facts["policies"] - 1))


def run(kit, table, out, *, chosen=None, force=False, **options):
    asked = ApplyOptions.model_validate({"no_pseudonyms": "key_file" not in options, **options})
    source = open_source(table)
    chosen = chosen or middle(kit)
    return TABLES.apply(kit, chosen, source, out, asked, force=force, progress=silent)


def read(path, columns=None):
    source = open_source(path)
    return pa.Table.from_batches(source.batches(columns), source.schema(columns))
