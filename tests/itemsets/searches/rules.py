"""What tests of searches ask of a random table."""

from __future__ import annotations

import numpy as np
from hypothesis import strategies as st

from voile.itemsets.measures.feasibility import Constraint
from voile.itemsets.searches.run import SetUtility

seeds = st.integers(0, 2**32)


def rule(t, k, m=None, absences=False):
    return Constraint(min(k, t.n_subjects), m, absences)


def worth_of(t, utility):
    return SetUtility.of(utility, t.incidence, t.y)


def best_of(worth, sets):
    return max(worth(np.array(S, dtype=int)) for S in sets)
