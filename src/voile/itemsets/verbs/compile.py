"""Compile all kernels before the first search: python -m voile.itemsets.verbs.compile."""

from __future__ import annotations

from contextlib import suppress

import numpy as np

from voile.core.errors import RequestError
from voile.itemsets.measures import containment
from voile.itemsets.measures.feasibility import Constraint, FeasibleSet
from voile.itemsets.rows.incidence import Incidence
from voile.itemsets.selection import METHODS, select

ROWS, FEATURES = 80, 24  # more features than the whole lattice allows
EVALUATIONS = 2_000


def main() -> None:
    """Run every method with each kind of constraint, and every measure, on 80 rows."""
    rng = np.random.default_rng(0)
    labels = rng.integers(2, size=ROWS)
    rows = Incidence.of(rng.random((ROWS, FEATURES)) < 0.3)
    for constraint in (Constraint(2), Constraint(2, m=2), Constraint(2, absences=True)):
        for method in METHODS:
            with suppress(RequestError):  # some methods do not accept every constraint
                select(
                    rows,
                    labels,
                    constraint=constraint,
                    method=method,
                    evaluations=EVALUATIONS,
                    random_state=0,
                )
        FeasibleSet(rows, constraint).blocker(0)
    select(rows, labels, constraint=Constraint(2), method="joint", unique=0.5, random_state=0)
    containment.part_anonymity(rows, 2)
    containment.row_anonymity(rows)
    containment.containment_set(rows, 0)
    containment.exposure(rows, y=labels)
    containment.label_diversity(rows, labels)


if __name__ == "__main__":
    main()
