"""Define a policy: the kept split points of each ordered domain (3.2.1), written as intervals."""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np
from numpy.typing import NDArray

from voile.core.brief import BriefRepr
from voile.core.errors import RequestError
from voile.tables.domains.domain import ValueDomain
from voile.tables.domains.parser import Value
from voile.tables.people.counts import MOST_KEYS, row_keys


@dataclass(frozen=True)
class DomainInterval(BriefRepr):
    """The values `first` to `last` of a domain, by position, both included, with their label."""

    shows = ("width",)

    first: int
    last: int
    label: str

    @property
    def width(self) -> int:
        return self.last - self.first + 1


@dataclass(frozen=True, eq=False)
class Policy(BriefRepr):
    """One bit-string over ordered domains. Bit 1 keeps the split point between two neighbours.

    Parameters
    ----------
    domains : the quasi-identifiers' domains, in order.
    bits : (sum of len(domain) - 1,) bool, concatenated in that order.
    notes : sentences about how the policy was made.

    >>> from voile.tables.domains.parser import CellParser
    >>> age = ValueDomain("age", tuple(range(106)), CellParser("integer"))
    >>> policy = Policy((age,), np.isin(np.arange(105), [17, 44]))
    >>> print(policy.describe())
    age 0-17 18-44 45-105
    >>> policy
    Policy(columns=('age',))
    """

    shows = ("columns",)

    domains: tuple[ValueDomain, ...]
    bits: NDArray[np.bool_]
    notes: tuple[str, ...] = ()

    def __post_init__(self) -> None:
        expected = sum(len(domain) - 1 for domain in self.domains)
        if self.bits.shape != (expected,) or self.bits.dtype != np.bool_:
            raise ValueError(f"bits must be {expected} booleans")
        object.__setattr__(self, "bits", self.bits.copy())
        self.bits.setflags(write=False)

    def __eq__(self, other: object) -> bool:
        if not isinstance(other, Policy):
            return NotImplemented
        return self.domains == other.domains and bool(np.array_equal(self.bits, other.bits))

    def __hash__(self) -> int:
        return hash(self.bits.tobytes())

    def __le__(self, other: Policy) -> bool:
        """Return whether self is at least as general as other: its split points are a subset."""
        return bool(np.all(~self.bits | other.bits))

    def __lt__(self, other: Policy) -> bool:
        """Return whether self is more general than other (Def. 3.3).

        The split points of self are then a proper subset.
        """
        return self <= other and not other <= self

    def covers(self, other: Policy) -> bool:
        """Return whether other is self without one split point: a GLB in the paper (Def. 3.4)."""
        return other < self and int(self.bits.sum() - other.bits.sum()) == 1

    def __and__(self, other: Policy) -> Policy:
        """Return the meet, the least general policy that is at least as general as both.

        It keeps the split points that both keep. This is the greatest lower bound of lattice
        theory. The paper uses that name in Definition 3.4 for `covers`.
        """
        return Policy(self.domains, self.bits & other.bits)

    def cuts(self) -> Iterator[tuple[ValueDomain, NDArray[np.bool_]]]:
        """Yield each domain with its own bits."""
        start = 0
        for domain in self.domains:
            yield domain, self.bits[start : start + len(domain) - 1]
            start += len(domain) - 1

    @cached_property
    def intervals(self) -> dict[str, tuple[DomainInterval, ...]]:
        """Return the intervals of each column, in order."""
        return {domain.column: intervals_of(domain, cuts) for domain, cuts in self.cuts()}

    @property
    def columns(self) -> tuple[str, ...]:
        """Return the names of the quasi-identifiers, in order."""
        return tuple(domain.column for domain in self.domains)

    @property
    def groups_per_column(self) -> dict[str, int]:
        """Return the number of intervals of each column."""
        return {column: len(intervals) for column, intervals in self.intervals.items()}

    @property
    def n_groups(self) -> int:
        """Return the number of possible groups: the product of `groups_per_column`."""
        return math.prod(self.groups_per_column.values())

    def describe(self) -> str:
        """Return every column's intervals as text, for the holder only: ends are raw values."""
        return "\n".join(
            f"{column} {' '.join(interval.label for interval in intervals)}"
            for column, intervals in self.intervals.items()
        )

    def interval_of(self, domain: ValueDomain) -> NDArray[np.int32]:
        """Return, for each position of the domain, the number of its interval."""
        for own, cuts in self.cuts():
            if own.column == domain.column:
                return np.concatenate(([0], np.cumsum(cuts))).astype(np.int32)
        raise KeyError(domain.column)

    def numbers_of(self, codes: NDArray[np.int32]) -> NDArray[np.int32]:
        """Return the interval number of each position, or -1 for a value outside its domain."""
        numbers = np.empty(codes.shape, np.int32)
        for at, domain in enumerate(self.domains):
            interval_of = np.append(self.interval_of(domain), -1)  # the last place is that of -1
            numbers[:, at] = interval_of.astype(np.int32)[codes[:, at]]
        return numbers

    def keys_of(self, numbers: NDArray[np.int32]) -> NDArray[Any]:
        """Return a key for each row of `numbers_of`, the same for rows of one group."""
        return row_keys(numbers, list(self.groups_per_column.values()))

    def group_places(self, places: Sequence[NDArray[np.intp]]) -> NDArray[np.int64] | None:
        """Return the keys of `keys_of` from the codes of each column; None if they are no numbers.

        Cost: O(n) for each column, faster than by `numbers_of`, which makes a matrix first.
        """
        if math.prod(self.groups_per_column.values()) >= MOST_KEYS:
            return None
        keys = np.zeros(len(places[0]) if places else 0, dtype=np.int64)
        for domain, own in zip(self.domains, places, strict=True):
            interval_of = self.interval_of(domain)
            keys *= interval_of[-1] + 1
            keys += interval_of[own]
        return keys

    def list_shown(
        self, numbers: NDArray[np.int32]
    ) -> tuple[NDArray[np.int32], tuple[NDArray[np.bool_], ...]]:
        """Return the labels of groups: interval numbers by column, and each interval's values.

        `numbers` are groups in the form of `numbers_of`. The values are (intervals, values) bool
        for each column.
        """
        of = [self.interval_of(domain) for domain in self.domains]
        return numbers, tuple(np.arange(own[-1] + 1)[:, None] == own for own in of)

    def to_data(self) -> dict[str, list[list[str]]]:
        """Return the intervals as [first, last] texts by column.

        Null is the empty text. A value that is an empty text, or begins with a quote, is put in
        quotes.
        """
        return {
            domain.column: [
                [_text(domain.values[i.first]), _text(domain.values[i.last])]
                for i in self.intervals[domain.column]
            ]
            for domain in self.domains
        }

    @classmethod
    def from_data(cls, domains: Sequence[ValueDomain], data: Mapping[str, Any]) -> Policy:
        """Build a policy from the data of `to_data`.

        Raises
        ------
        RequestError : the intervals do not cover each domain in order, or a column is unknown.
        """
        if not isinstance(data, Mapping):
            raise RequestError("the policy does not give each column its intervals")
        unknown = sorted(set(data) - {domain.column for domain in domains})
        if unknown:
            raise RequestError(f"the policy names {unknown[0]}, which is not a quasi-identifier")
        bits = [_read_cuts(domain, data.get(domain.column)) for domain in domains]
        return cls(tuple(domains), np.concatenate([np.zeros(0, np.bool_), *bits]))


def intervals_of(domain: ValueDomain, cuts: NDArray[np.bool_]) -> tuple[DomainInterval, ...]:
    """Return the intervals of one column, in order. `cuts[i]` ends one after the i-th value."""
    ends = [*np.flatnonzero(cuts).tolist(), len(domain) - 1]
    starts = [0, *(end + 1 for end in ends[:-1])]
    bounds = list(zip(starts, ends, strict=True))
    labels = domain.labels(bounds)
    return tuple(DomainInterval(a, b, label) for (a, b), label in zip(bounds, labels, strict=True))


def _text(value: Value) -> str:
    if value is None:
        return ""
    text = str(value)
    return f'"{text}"' if not text or text.startswith('"') else text


def _read_cuts(domain: ValueDomain, intervals: Any) -> NDArray[np.bool_]:
    where = f"policy, column {domain.column}"
    if not intervals:
        raise RequestError("the policy has no intervals", where=where)
    pairs = isinstance(intervals, list) and all(
        isinstance(pair, list) and len(pair) == 2 for pair in intervals
    )
    if not pairs:
        raise RequestError("intervals are pairs, [first, last]", where=where)
    position = {_text(value): i for i, value in enumerate(domain.values)}
    cuts = np.zeros(len(domain) - 1, dtype=np.bool_)
    start = 0
    for number, (first, last) in enumerate(intervals, 1):
        if position.get(str(first)) != start or position.get(str(last), -1) < start:
            raise RequestError(
                f"interval {number} does not go on where the one before it ends",
                where=where,
                instead="intervals are [first, last] in the domain's order, without gaps",
            )
        start = position[str(last)] + 1
        if start < len(domain):
            cuts[start - 1] = True
    if start != len(domain):
        raise RequestError("the intervals end before the domain does", where=where)
    return cuts
