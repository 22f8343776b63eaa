"""The picture of the README: the frontier that its commands find, beside Safe Harbor."""

from __future__ import annotations

from benchmarks import picture
from benchmarks.data import folder
from benchmarks.tennessee import COLUMNS

import voile.tables as vt
from voile.data import open_source
from voile.modules import find_module
from voile.release.kit import Kit
from voile.report.charts import frontier_chart
from voile.report.sections import FrontierChart

WIDTH = 660


def main() -> None:
    data = folder("tennessee")
    people, population = data / "adult.parquet", data / "population.parquet"
    others = dict.fromkeys(open_source(people).columns, "keep")
    roles = others | dict.fromkeys(COLUMNS, "quasi")
    draw(vt.fit(people, roles=roles, population=[population], seed=1))


def draw(kit: Kit) -> None:
    """Write docs/pictures/frontier.svg, as the report of the kit draws it."""
    sections = find_module("tables").report(kit, (), audience="internal")
    blocks = (block for section in sections for block in section.blocks)
    chart = next(block for block in blocks if isinstance(block, FrontierChart))
    plot = dict(frontier_chart.draw(chart).plots)["log"]
    panel = picture.panel(plot, f"{chart.risk_name}, logarithmic", chart.loss_name, width=WIDTH)
    title = f"{kit.policies:,} policies that no other found beats in risk and loss, and Safe Harbor"
    picture.save("frontier", title, [panel], WIDTH + picture.LEFT + 30, 460)


if __name__ == "__main__":
    main()
