"""Measure the risks of the unprotected source, to compare them with the risks of its release."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace

from voile.gate.finding import GateFinding, StatedAdversary
from voile.gate.losses import PlacedRows
from voile.gate.table import REGISTER, measure_people

OF_SOURCE = "source_"
"""The prefix of the names of the source's figures. The name of the release's figure follows it."""
SOURCE_MATCHES = f"{OF_SOURCE}matches"
KNOWS = "has the source as it is, and {}"
RISKS = (
    *("k", "sample_uniques", "prosecutor_max", "prosecutor_mean"),
    *("k_map", "population_uniques", "share_under_11", "max_risk", "mean_risk"),
)


def measure_source(rows: PlacedRows, released: float) -> tuple[GateFinding, ...]:
    """Return the risks of the source, and `relative_risk`, the matches of the release as a share.

    released : the expected number of matches of the release.

    A source without rows has no findings.
    """
    at_risk = rows.at_risk
    if not at_risk.subjects:
        return ()
    found = {one.name: one for one in measure_people(at_risk)}
    matches = found["expected_matches"]
    people = StatedAdversary("has the source", "release and source")
    return (
        *(_of_source(found[name], f"{OF_SOURCE}{name}") for name in RISKS),
        _of_source(matches, SOURCE_MATCHES),
        people.finds(f"{OF_SOURCE}subjects", at_risk.subjects, "people"),
        REGISTER.finds("relative_risk", min(released / matches.value, 1.0), "share"),
    )


def find_source_figures(figures: Mapping[str, float]) -> dict[str, float]:
    """Return the source's figures by the names of the release's figures.

    The result is empty for older releases, which have no figures of the source.
    """
    of_source = (name for name in figures if name.startswith(OF_SOURCE))
    found = {name.removeprefix(OF_SOURCE): figures[name] for name in of_source}
    if "subjects" not in found:
        return {}
    return {**found, "expected_matches": found.pop("matches")}


def _of_source(one: GateFinding, name: str) -> GateFinding:
    origin = "release and source" if one.origin == "release" else one.origin
    return replace(one, name=name, knows=KNOWS.format(one.knows), origin=origin)
