"""The recipients who may share releases: all, except the pairs that the ledger lists as apart.

Recipients are a coalition if no two of them are apart. A release to one member reaches the whole
coalition. A release to nobody named reaches everybody.
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

    apart : pairs of names.

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
        """Return the named recipient, also from a recipient with a period."""
        told = "" if recipient is None else recipient
        fits = [one for one in self.names if told == one or told.startswith(f"{one},")]
        return max(fits, key=len, default=None)

    def are_apart(self, one: str | None, other: str | None) -> bool:
        return (one, other) in self.apart or (other, one) in self.apart

    def coalitions(self, name: str | None) -> list[Coalition]:
        """Return the maximal coalitions that receive a release to a named recipient, or to anybody.

        Cost: O(3^(names / 3)) at worst.
        """
        begun = () if name is None else (name,)
        rest = [one for one in self.names if one != name and not self.are_apart(one, name)]
        return list(self._grow_coalitions(frozenset(begun), rest, []))

    def _grow_coalitions(
        self, begun: Coalition, rest: Sequence[str], tried: Sequence[str]
    ) -> Iterator[Coalition]:
        """Add each of the rest in turn, and none that was tried (Bron, Kerbosch)."""
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
