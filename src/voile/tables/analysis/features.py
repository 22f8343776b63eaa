"""Released intervals as an analyst uses them: each predictor's expected value in its interval."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from voile.core.brief import BriefRepr
from voile.tables.domains.domain import ValueDomain, to_ordinal

Floats = NDArray[np.float64]
Codes = NDArray[np.int32]


@dataclass(frozen=True, eq=False)
class ModelPredictor(BriefRepr):
    """A column of a model, and the numbers that each value of its domain is worth.

    terms : names of its features. lookup : (values, terms) float64, the features of each value:
    a number or date is itself, and text is one indicator for each value but its commonest.
    """

    shows = ("column",)

    column: str
    terms: tuple[str, ...]
    lookup: Floats

    @classmethod
    def of(cls, domain: ValueDomain, codes: Codes) -> ModelPredictor:
        """Describe a domain; `codes` (n,) of the source say which value is the commonest."""
        if not domain.is_scale:
            return cls._of_names(domain, codes)
        known = len(domain) - domain.nullable
        numbers = _numbers(domain)
        if not domain.nullable:
            return cls(domain.column, (domain.column,), numbers[:, None])
        lookup = np.zeros((len(domain), 2))
        lookup[:known, 0], lookup[known:] = numbers, (numbers.mean(), 1.0)
        return cls(domain.column, (domain.column, f"{domain.column} missing"), lookup)

    @classmethod
    def _of_names(cls, domain: ValueDomain, codes: Codes) -> ModelPredictor:
        seen = np.bincount(codes, minlength=len(domain))
        named = [i for i in np.flatnonzero(seen) if i != seen.argmax()]
        lookup = np.zeros((len(domain), len(named)))
        lookup[named, np.arange(len(named))] = 1.0
        values = [domain.values[i] for i in named]
        terms = tuple(f"{domain.column} {'missing' if v is None else v}" for v in values)
        return cls(domain.column, terms, lookup)

    def expect_terms(self, first: Codes, last: Codes) -> Floats:
        """Return (n, terms), the mean over the values of each row's interval, ends included.

        An analyst who has the release alone takes every value of an interval for equally likely.
        """
        before = np.vstack([np.zeros(self.lookup.shape[1]), np.cumsum(self.lookup, axis=0)])
        width = (last - first + 1)[:, None]
        return np.asarray((before[last + 1] - before[first]) / width)


def _numbers(domain: ValueDomain) -> Floats:
    """Return the number of each known value: a bin's middle, or an outermost bin's edge."""
    parser = domain.parser
    if parser.edges:
        edges = np.array(parser.edges, dtype=np.float64)
        return np.concatenate([edges[:1], (edges[1:] + edges[:-1]) / 2, edges[-1:]])
    known: Sequence[Any] = [value for value in domain.values if value is not None]
    if parser.kind in ("integer", "decimal"):
        return np.array([float(value) for value in known])
    return np.array([to_ordinal(value, parser) for value in known], dtype=np.float64)


def design(predictors: Sequence[ModelPredictor], first: Codes, last: Codes) -> Floats:
    """Return (n, features) of rows whose intervals are `first` to `last`, (n, predictors) each."""
    columns = [p.expect_terms(first[:, i], last[:, i]) for i, p in enumerate(predictors)]
    return np.hstack(columns)
