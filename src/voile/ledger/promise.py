"""The joint limits on all releases of one source, and the figures that they limit."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, replace
from typing import Any

from voile.core.errors import RequestError

SLACK = 1e-9


def format_people(people: float) -> str:
    """Write a number of people with three digits, or as a whole number from 100.

    >>> [format_people(x) for x in (84.27, 959.3, 1236.4, 0.04567)]
    ['84.3', '959', '1,236', '0.0457']
    """
    return f"{people:,.0f}" if people >= 100 else f"{people:.3g}"


@dataclass(frozen=True)
class JointFigures:
    """The success of an adversary.

    matches : the expected number of people who are correctly re-identified.
    relative : `matches` as a share of the expected matches of the untouched source.
    k : the smallest number of subjects in a group. It is infinite if nothing is released.
    """

    matches: float
    relative: float
    k: float


@dataclass(frozen=True)
class LedgerPromise:
    """Limits on all releases together, that is, on the union of their disclosures.

    expected_matches : the largest expected number of people who are correctly re-identified.
    joint_risk : the largest expected matches as a share of the untouched source's, > 0 and <= 1.
    k : the smallest number of subjects in a group, >= 1.
    """

    expected_matches: float | None = None
    joint_risk: float | None = None
    k: int = 1

    def __post_init__(self) -> None:
        if self.k == 1 and not self.to_data().keys() - {"k"}:
            raise RequestError(
                "a ledger without a promise refuses nothing",
                instead="give --expected-matches, --joint-risk or --k",
            )
        if self.expected_matches is not None and not self.expected_matches > 0:
            raise RequestError("--expected-matches must be more than 0")
        if self.joint_risk is not None and not 0 < self.joint_risk <= 1:
            raise RequestError("--joint-risk must be more than 0 and at most 1")
        if self.k < 1:
            raise RequestError("--k must be 1 or more")

    def broken_by(self, found: JointFigures) -> Iterator[str]:
        """Yield each limit that the figures exceed, in words."""
        if self.expected_matches is not None and found.matches > self.expected_matches + SLACK:
            matches = format_people(found.matches)
            yield f"{matches} expected matches of {self.expected_matches:g} promised"
        if self.joint_risk is not None and found.relative > self.joint_risk + SLACK:
            yield f"a relative risk of {found.relative:.3g} of {self.joint_risk:.3g} promised"
        if found.k < self.k:
            yield f"a group of fewer than the {self.k} people promised"

    def at_least(self, k: int) -> LedgerPromise:
        """Return the same promise with a group size of at least `k`."""
        return replace(self, k=max(self.k, k))

    def __str__(self) -> str:
        said = []
        if self.expected_matches is not None:
            said.append(f"at most {self.expected_matches:g} expected matches")
        if self.joint_risk is not None:
            said.append(f"a relative risk of at most {self.joint_risk:.3g}")
        if self.k > 1:
            said.append(f"groups of {self.k} people or more")
        return " and ".join(said)

    def to_data(self) -> dict[str, Any]:
        return {name: x for name, x in vars(self).items() if x is not None}

    @classmethod
    def from_data(cls, data: Mapping[str, Any]) -> LedgerPromise:
        return cls(**data)
