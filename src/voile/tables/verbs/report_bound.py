"""The report's part on how far the policies found are from the best there can be."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from voile.report.sections import Grid, Prose, Section
from voile.report.wording import share
from voile.tables.bounds.result import OPTIMAL

NOTHING = "not proved"
MOST_ROWS = 24


def optimality_gap(data: Mapping[str, Any]) -> Section | None:
    """Say what was proved of all policies; where nothing was, that there is no bound."""
    if not data:
        return None
    proof = data["search"].get("bound")
    if proof is None:
        unproved = (
            "There is no bound: these are the best policies that the search found, and how much "
            "better any other could be was not proved."
        )
        return _section(Prose((unproved,)))
    if all(gap is None for gap in proof["gap"]):
        stopped = "There is no bound: the proof was stopped before it had one."
        return _section(Prose((stopped,)))
    said = [_of_weights(proof["gap"]), _of_areas(proof)]
    if "chosen" in data and data.get("least_loss") is not None:
        said.append(
            f"No policy of the chosen one's risk or less loses less than "
            f"{share(data['least_loss'])}; the chosen one loses {share(data['chosen'][1])}."
        )
    return _section(Prose(tuple(said)), _grid(proof))


def _of_weights(gaps: Sequence[float | None]) -> str:
    proved = [gap for gap in gaps if gap is not None]
    said = (
        "Whichever of the weights below is taken: of loss + weight x relative risk, no policy "
        f"whatsoever has less than the best one found by more than {_gap(max(proved))}."
    )
    if missing := len(gaps) - len(proved):
        said += f" For {missing} more weights there is no bound: the proof was stopped."
    return said


def _of_areas(proof: Mapping[str, Any]) -> str:
    area, hull, staircase = (proof[name] for name in ("area", "hull", "staircase"))
    return (
        f"Under the policies found lies an area of {staircase:.5f}; proved for any policies is "
        f"at least {area:.5f}. Up to {hull:.5f} a sum of loss and weighted risk can "
        "distinguish them from better ones; the rest lies in the steps of the staircase."
    )


def _grid(proof: Mapping[str, Any]) -> Grid:
    names = ("weight", "bound", "best", "gap", "seconds")
    rows = tuple(_row(*values) for values in zip(*(proof[name] for name in names), strict=True))
    title = "Loss + weight x relative risk"
    if len(rows) > MOST_ROWS:
        title += f", for some of {len(rows)} weights"
    return Grid(
        ("weight of risk", "proved: at least", "best found", "gap", "seconds"),
        rows[:: -(-len(rows) // MOST_ROWS)],
        title,
        (0, 1, 2, 3, 4),
        "internal",  # as many figures find whom all others are known of
    )


def _section(*blocks: Prose | Grid) -> Section:
    return Section("bound", "Optimality gap", blocks)


def _row(
    weight: float, bound: float | None, best: float, gap: float | None, seconds: float | None
) -> tuple[str, ...]:
    weighs = f"{weight:.3g}" if weight < 100 else f"{weight:,.0f}"
    if bound is None or gap is None or seconds is None:
        return weighs, NOTHING, f"{best:.5f}", "", ""
    return weighs, f"{bound:.5f}", f"{best:.5f}", _gap(gap), f"{seconds:.1f}"


def _gap(gap: float) -> str:
    """Write a gap; one that only rounding leaves is none.

    >>> _gap(0.0213), _gap(3e-8)
    ('2.1%', '0%')
    """
    return share(gap) if gap > OPTIMAL else "0%"
