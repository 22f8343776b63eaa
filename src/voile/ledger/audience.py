"""Recipients who may share releases with each other: all, except the pairs that the ledger lists.

Recipients form a coalition if no two of them are listed as a pair that cannot share. A release to
one member reaches the whole coalition. A release without a named recipient reaches everybody.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Any

from voile.core.brief import BriefRepr
from voile.core.errors import RequestError

MOST = 20
Coalition = frozenset[str]


@dataclass(frozen=True)
class LedgerAudience(BriefRepr):
    """The recipients who cannot share their releases.

    apart : pairs of names of recipients who cannot share.

    >>> audience = LedgerAudience((("Site A", "Site B"),))
    >>> audience.name_of("Site B, May"), audience.name_of("Site C")
    ('Site B', None)
    >>> [sorted(one) for one in audience.coalitions("Site B")]
    [['Site B']]
    >>> [sorted(one) for one in audience.coalitions(None)]
    [['Site A'], ['Site B']]
    """

    shows = ()

    apart: tuple[tuple[str, str], ...] = ()

    def __post_init__(self) -> None:
        for one, other in self.apart:
            if one == other or not one.strip() or not other.strip():
                raise RequestError(
                    "two recipients who cannot share data need two different names",
                    instead="give a name of its own to each recipient",
                )
        if len(self.names) > MOST:
            raise RequestError(f"--apart names more than {MOST} recipients")

    @property
    def names(self) -> tuple[str, ...]:
        return tuple(sorted({name for pair in self.apart for name in pair}))

    def name_of(self, recipient: str | None) -> str | None:
        """Return the listed name of a recipient, who may have a time period after a comma."""
        told = "" if recipient is None else recipient
        fits = [one for one in self.names if told == one or told.startswith(f"{one},")]
        return max(fits, key=len, default=None)

    def are_apart(self, one: str | None, other: str | None) -> bool:
        return (one, other) in self.apart or (other, one) in self.apart

    def coalitions(self, name: str | None) -> list[Coalition]:
        """Return the maximal coalitions that receive a release.

        name : the named recipient of the release. None means that everybody receives it.

        Cost: O(3^(names / 3)) in the worst case.
        """
        begun = () if name is None else (name,)
        rest = [one for one in self.names if one != name and not self.are_apart(one, name)]
        return list(self._grow_coalitions(frozenset(begun), rest, []))

    def _grow_coalitions(
        self, begun: Coalition, rest: Sequence[str], tried: Sequence[str]
    ) -> Iterator[Coalition]:
        """Add each remaining name in turn, except those already tried (Bron and Kerbosch)."""
        if not rest and not tried:
            yield begun
        for place, one in enumerate(rest):
            seen = [*tried, *rest[:place]]
            joins = [[x for x in few if not self.are_apart(x, one)] for few in (rest[place:], seen)]
            yield from self._grow_coalitions(
                begun | {one}, [x for x in joins[0] if x != one], joins[1]
            )

    def to_data(self) -> list[list[str]]:
        return [list(pair) for pair in self.apart]

    @classmethod
    def from_data(cls, data: Sequence[Sequence[Any]]) -> LedgerAudience:
        return cls(tuple((str(one), str(other)) for one, other in data))
