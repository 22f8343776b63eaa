"""The policies of a kit as a table, and as a chart of the report."""

from __future__ import annotations

from dataclasses import replace
from functools import cached_property
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from voile.core.frontier import Frontier, FrontierPoint
from voile.data import to_frame
from voile.face.report import ReportPage
from voile.report.charts.numbers import share
from voile.report.notebook import frame_blocks
from voile.report.page import render_part
from voile.report.sections import FrontierChart

if TYPE_CHECKING:
    import pyarrow as pa

    from voile.release.kit import StoredKit
    from voile.release.module import AnyModule


class KitFrontier:
    """The policies of a kit that no other policy beats, with their risk, loss and other figures.

    The tables leave out encoded policies and lists of texts or records, which may contain words of
    the data. `StoredKit.choose` returns one policy in full.
    """

    def __init__(self, kit: StoredKit, module: AnyModule) -> None:
        self._kit, self._module = kit, module

    def __len__(self) -> int:
        return self._kit.policies

    def __repr__(self) -> str:
        return f"KitFrontier({len(self)} policies; to_pandas() shows them)"

    @cached_property
    def _points(self) -> Frontier:
        """Return the frontier of the kit, with policy numbers as its `policies`."""
        table = self._kit.tables["frontier"]
        risk, loss = (table.column(name).to_numpy() for name in ("risk", "loss"))
        return Frontier.of(risk, loss, np.arange(len(table)))

    @property
    def risk(self) -> NDArray[np.float64]:
        """Return the risk of each policy, shape (m,), in increasing order."""
        return self._points.risk

    @property
    def loss(self) -> NDArray[np.float64]:
        """Return the loss of each policy, shape (m,), in decreasing order."""
        return self._points.loss

    @property
    def policies(self) -> NDArray[Any]:
        """Return the number of each policy, shape (m,), as used by `StoredKit.choose(policy=)`."""
        return self._points.policies

    def area(self, *, log: bool = False) -> float:
        """Return the area under the frontier in [0, 1]^2. See `voile.Frontier.area`."""
        return self._points.area(log=log)

    def at(self, *, risk: float | None = None, loss: float | None = None) -> FrontierPoint:
        """Return the point of least loss at a risk limit, or of least risk at a loss limit."""
        return self._points.at(risk=risk, loss=loss)

    def knee(self) -> FrontierPoint:
        """Return the point where the frontier bends most."""
        return self._points.knee()

    def to_arrow(self) -> pa.Table:
        """Return an Arrow table with one row for each policy.

        The row number is the policy's number.
        """
        table = self._kit.tables["frontier"]
        return table.select([f.name for f in table.schema if _is_shown(f.type)])

    def to_pandas(self) -> Any:
        """Return the table of `to_arrow` as a pandas frame."""
        return to_frame(self.to_arrow(), like="pandas")

    def to_polars(self) -> Any:
        """Return the table of `to_arrow` as a Polars frame."""
        return to_frame(self.to_arrow(), like="polars")

    def _repr_html_(self) -> str:
        return self.draw_policies(f"{len(self):,} policies that no other beats")

    def plot(self) -> ReportPage:
        """Draw every policy, with the axes and the reference policies of the report.

        The chart is private like the kit, because it contains exact risks and losses.

        Returns
        -------
        A page that a notebook displays. Its `save` writes one HTML file.
        """
        title = f"{len(self):,} policies that no other beats (private, as the kit)"
        return ReportPage(title, "internal", render_part(title, self._charts(), "internal"))

    def draw_policies(self, title: str) -> str:
        """Return the chart of all policies as HTML for a notebook's output."""
        return frame_blocks(f"{title} (private, as the kit)", self._charts(), "internal")

    def _charts(self) -> list[FrontierChart]:
        sections = self._module.report(self._kit, (), audience="public")
        charts = [b for one in sections for b in one.blocks if isinstance(b, FrontierChart)]
        return [self._with_every_policy(one) for one in charts[:1]]

    def _with_every_policy(self, chart: FrontierChart) -> FrontierChart:
        risk, loss = self.risk.tolist(), self.loss.tolist()
        described = tuple(
            f"policy {number}: {chart.risk_name} {share(r)}, {chart.loss_name} {share(x)}"
            for number, r, x in zip(self.policies.tolist(), risk, loss, strict=True)
        )
        return replace(
            chart,
            risk=tuple(risk),
            loss=tuple(loss),
            described=described,
            details=(),
            caption="",
            audience="internal",
        )


def _is_shown(type_: pa.DataType) -> bool:
    """Return whether a column contains numbers, single texts or lists of numbers."""
    from pyarrow import types

    numbers = type_.value_type if types.is_list(type_) else type_
    is_text = types.is_string(type_) or types.is_large_string(type_)
    return is_text or types.is_null(type_) or bool(types.is_primitive(numbers))
