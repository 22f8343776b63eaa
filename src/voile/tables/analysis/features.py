"""Compute a model's features from released intervals: the expected value within each interval."""

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
    """A column of a model, with the features of each value of its domain.

    Attributes
    ----------
    terms : the names of the features.
    lookup : (values, terms) float64, the features of each value. A number or date is one feature,
        its numeric value. Text has one indicator for each value except the most frequent one.
    """

    shows = ("column",)

    column: str
    terms: tuple[str, ...]
    lookup: Floats

    @classmethod
    def of(cls, domain: ValueDomain, codes: Codes) -> ModelPredictor:
        """Build the predictor of a domain.

        `codes` (n,) are the source's values as positions in the domain. They determine the most
        frequent value.
        """
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
        """Return the mean of each feature over the values of each row's interval, (n, terms).

        Both ends of an interval are included. All values of an interval have the same weight, since
        an analyst who has only the release cannot know more.
        """
        before = np.vstack([np.zeros(self.lookup.shape[1]), np.cumsum(self.lookup, axis=0)])
        width = (last - first + 1)[:, None]
        return np.asarray((before[last + 1] - before[first]) / width)


def _numbers(domain: ValueDomain) -> Floats:
    """Return the number of each known value: the middle of a bin, or the edge of an open bin."""
    parser = domain.parser
    if parser.edges:
        edges = np.array(parser.edges, dtype=np.float64)
        return np.concatenate([edges[:1], (edges[1:] + edges[:-1]) / 2, edges[-1:]])
    known: Sequence[Any] = [value for value in domain.values if value is not None]
    if parser.kind in ("integer", "decimal"):
        return np.array([float(value) for value in known])
    return np.array([to_ordinal(value, parser) for value in known], dtype=np.float64)


def design(predictors: Sequence[ModelPredictor], first: Codes, last: Codes) -> Floats:
    """Return the design matrix (n, features) of rows with the intervals `first` to `last`.

    `first` and `last` are (n, predictors) positions in the domains, both included.
    """
    columns = [p.expect_terms(first[:, i], last[:, i]) for i, p in enumerate(predictors)]
    return np.hstack(columns)
