"""The policies of a kit as a table, and as the report's own drawing."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from voile.core.kinds import load
from voile.data import to_frame
from voile.report.notebook import drawn
from voile.report.sections import FrontierChart

if TYPE_CHECKING:
    import pyarrow as pa

    from voile.release.kit import Kit


class KitFrontier:
    """The policies of a kit that no other beats, with their risk, loss and other figures.

    Packed policies are left out, and lists of texts and of records, which may hold words of the
    data: `Kit.choose` gives one policy whole.
    """

    def __init__(self, kit: Kit) -> None:
        self._kit = kit

    def __len__(self) -> int:
        return self._kit.policies

    def __repr__(self) -> str:
        return f"KitFrontier({len(self)} policies; to_pandas() shows them)"

    def to_arrow(self) -> pa.Table:
        """Return a row for each policy; its place is the policy's number."""
        table = self._kit.tables["frontier"]
        return table.select([f.name for f in table.schema if _is_shown(f.type)])

    def to_pandas(self) -> Any:
        """Return the same as a pandas frame."""
        return to_frame(self.to_arrow(), like="pandas")

    def to_polars(self) -> Any:
        """Return the same as a Polars frame."""
        return to_frame(self.to_arrow(), like="polars")

    def _repr_html_(self) -> str:
        return self.drawn(f"{len(self):,} policies that no other beats")

    def drawn(self, title: str) -> str:
        sections = load(self._kit.kind).sections(self._kit, (), audience="public")
        blocks = [block for section in sections for block in section.blocks]
        return drawn(title, [one for one in blocks if isinstance(one, FrontierChart)][:1])


def _is_shown(type_: pa.DataType) -> bool:
    """Say whether a column holds numbers, single texts or lists of numbers."""
    from pyarrow import types

    numbers = type_.value_type if types.is_list(type_) else type_
    is_text = types.is_string(type_) or types.is_large_string(type_)
    return is_text or types.is_null(type_) or bool(types.is_primitive(numbers))
