"""The frontier of a kit and the figures of its policies, as needed for a choice."""

from __future__ import annotations

from abc import abstractmethod
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Self

from voile.core.brief import BriefRepr

if TYPE_CHECKING:
    import pyarrow as pa

    from voile.core.frontier import Frontier
    from voile.release.kit import StoredKit


@dataclass(frozen=True, eq=False)
class StoredPolicies(BriefRepr):
    """The frontier of a fit, and a table of the figures of its policies.

    Every kind of data derives a class with the data that a choice reads. The class for applying
    derives from that class.
    """

    frontier: Frontier
    figures: pa.Table

    @classmethod
    def of(cls, kit: StoredKit) -> Self:
        """Read the policies of a kit. Raise `DamagedError` if its parts do not fit together."""
        return kit.read_content(lambda kit: cls(**cls.parts(kit)))

    @classmethod
    @abstractmethod
    def parts(cls, kit: StoredKit) -> dict[str, Any]:
        """Return the kit's value of each field of the class."""

    def row(self, number: int) -> dict[str, Any]:
        """Return the row of a policy in the table of figures."""
        row: dict[str, Any] = self.figures.slice(number, 1).to_pylist()[0]
        return row

    def figures_of(self, number: int) -> dict[str, float]:
        row = self.row(number).items()
        return {name: x for name, x in row if isinstance(x, int | float) and name != "number"}
