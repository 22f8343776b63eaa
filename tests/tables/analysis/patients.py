"""Made-up patients of two visits each, and a model of who is sick."""

from __future__ import annotations

import numpy as np
import pyarrow as pa

from voile.data import open_source
from voile.tables import PolicySpace
from voile.tables.analysis.model import LinearModel
from voile.tables.analysis.rows import read_rows


def table(n=2_000, seed=0):
    rng = np.random.default_rng(seed)
    age, sex, dose = rng.integers(20, 60, n), rng.choice(["f", "m"], n), rng.normal(size=n)
    sick = rng.random(n) < 1 / (1 + np.exp(-(0.1 * (age - 40) + (sex == "m") + dose)))
    whom = np.arange(n) // 2
    return pa.table(
        {"pid": whom, "age": age, "sex": sex, "dose": dose, "sick": np.where(sick, "yes", "no")}
    )


MODEL = LinearModel(
    outcome="sick", predictors=("dose", "age", "sex"), family="logistic", positive="yes"
)


def read(source, model=MODEL, seed=0):
    space = PolicySpace.of(source, quasi=["age", "sex"], subject="pid")
    rows = read_rows(open_source(source), model, space.domains, "pid", np.random.default_rng(seed))
    return space, rows
