"""Compile every kernel now, rather than at the first search: python -m voile.itemsets.compile."""

from __future__ import annotations

from contextlib import suppress

import numpy as np
from numpy.typing import NDArray

from voile.core.errors import InfeasibleError, RequestError
from voile.itemsets.measures.containment import containment_set, exposure, part_anonymity
from voile.itemsets.measures.feasibility import Constraint, Feasible
from voile.itemsets.rows.incidence import Incidence
from voile.itemsets.selection import METHODS, select


def main() -> None:
    """Run every method and measure under every kind of constraint, on a few rows."""
    rng = np.random.default_rng(0)
    X, y = rng.random((30, 24)) < 0.3, np.arange(30) % 2
    for subjects in (None, np.arange(30) // 2):
        rows = Incidence.of(X, subjects=subjects)
        exposure(rows, y=y)
        containment_set(rows, 0)
        part_anonymity(rows, 2)
        for constraint in (Constraint(2), Constraint(2, m=2), Constraint(2, m=2, absences=True)):
            state = Feasible(rows, constraint)
            state.extend(np.arange(24))
            list(state.blockers())
            for method in METHODS:
                _select(rows, y, constraint, method)


def _select(rows: Incidence, y: NDArray[np.int64], constraint: Constraint, method: str) -> None:
    with suppress(InfeasibleError, RequestError):  # some methods do not know some constraints
        select(rows, y, constraint=constraint, method=method, evaluations=20, random_state=0)


if __name__ == "__main__":
    main()
