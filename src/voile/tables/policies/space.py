"""The space of policies over a table that is searched."""

from __future__ import annotations

from functools import cached_property

import numpy as np
from numpy.typing import NDArray

from voile.tables.people.counts import Constraints
from voile.tables.policies.counted_space import CountedSpace
from voile.tables.policies.source_space import SourceSpace
from voile.tables.scoring.evaluator import PolicyEvaluator

Bits = NDArray[np.bool_]
Floats = NDArray[np.float64]


class PolicySpace(SourceSpace):
    """All policies over a table's quasi-identifiers, scored against a population.

    `of` reads the data; the constructor takes what was read.

    Examples
    --------
    >>> import pyarrow as pa
    >>> sample = pa.table({"age": [30, 31, 30], "sex": ["f", "m", "m"]})
    >>> space = PolicySpace.of(sample, quasi=["age", "sex"])
    >>> space.n_bits, space.evaluate(np.array([space.bottom, space.top]))[0].round(3).tolist()
    (2, [1.0, 0.333])
    """

    @classmethod
    def of_counts(cls, space: CountedSpace, constraints: Constraints | None = None) -> PolicySpace:
        """Return the space to search of what was counted, with its constraints or others."""
        return cls(
            space.domains,
            space.counts,
            constraints or space.constraints,
            space.population,
            risk=space.risk,
            loss=space.loss,
            weights=space.weights,
        )

    @cached_property
    def evaluator(self) -> PolicyEvaluator:
        """What scores policies."""
        return PolicyEvaluator(
            self.counts,
            self.constraints,
            risk=self.risk,
            loss=self.loss,
            importance=self.weights.importance,
            columns=self.quasi,
        )

    def evaluate(self, policies: Bits) -> tuple[Floats, Floats]:
        """Return relative risk and normalised loss, (m,) in [0, 1], of (m, n_bits) policies."""
        return self.evaluator.evaluate(policies)
