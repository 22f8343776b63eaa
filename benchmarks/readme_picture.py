"""The picture of the README: the frontier of its own example, with Safe Harbor."""

from __future__ import annotations

from benchmarks import picture

import voile.tables as vt
from voile.demo.county import QUASI, make_county
from voile.modules import find_module
from voile.release.kit import StoredKit
from voile.report.charts import frontier_chart
from voile.report.sections import FrontierChart

WIDTH = 660


def main() -> None:
    county = make_county(people=200_000)
    patients = county.patients.select([*QUASI, "diagnosis"])
    roles = dict.fromkeys(QUASI, "quasi") | {"diagnosis": "sensitive"}
    draw(vt.fit(patients, roles, population=county.population, k=5, max_risk=0.09, seed=1))


def draw(kit: StoredKit) -> None:
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
