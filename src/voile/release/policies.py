"""The view of a kit that a wing needs for a choice: its frontier and its policies' figures."""

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

    Every wing has a class for the data that choosing reads. The class for applying derives from it.
    """

    frontier: Frontier
    figures: pa.Table

    @classmethod
    def of(cls, kit: StoredKit) -> Self:
        """Read a kit. Parts that do not fit together raise `DamagedError`."""
        return kit.read_content(lambda kit: cls(**cls.parts(kit)))

    @classmethod
    @abstractmethod
    def parts(cls, kit: StoredKit) -> dict[str, Any]:
        """Read the kit's part of each field."""

    def row(self, number: int) -> dict[str, Any]:
        """Return the row of a policy in the table of figures."""
        row: dict[str, Any] = self.figures.slice(number, 1).to_pylist()[0]
        return row

    def figures_of(self, number: int) -> dict[str, float]:
        row = self.row(number).items()
        return {name: x for name, x in row if isinstance(x, int | float) and name != "number"}
