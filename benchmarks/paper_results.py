"""A paper's result next to ours, as a line of a table."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass


@dataclass(frozen=True, kw_only=True)
class Result:
    """One figure.

    Parameters
    ----------
    place : where the paper has it. quantity : what is measured, with its unit.
    paper : the printed figure, "" without one. ours : ours on the data of this run.
    exact : whether both are of the same data, and must agree.
    """

    place: str
    quantity: str
    paper: str
    ours: str
    exact: bool = False


def print_results(results: Iterable[Result]) -> None:
    """Print a table; `same data` marks figures that must agree."""
    print("| place | quantity | the paper | ours | same data |\n| --- | --- | --- | --- | --- |")
    for one in results:
        same = "yes" if one.exact else "no"
        print(f"| {one.place} | {one.quantity} | {one.paper} | {one.ours} | {same} |")
