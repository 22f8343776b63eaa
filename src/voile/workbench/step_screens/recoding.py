"""The recoded columns under the chosen policy, and manual edits."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from voile.core.errors import RequestError
from voile.workbench.planned_commands import Move, VerbCall
from voile.workbench.project_folder import POLICY
from voile.workbench.project_view import Block, FieldError, Form, ProjectView
from voile.workbench.step_screens.blocks import make_note

TYPICAL = 9  # the number of leaves of a tree that the page displays
LABELS = 40  # the largest number of labels of a column on the page


def build_recoding(view: ProjectView) -> list[Block]:
    """Return the columns, the groups and the causes of risk of the chosen policy."""
    try:
        shown = view.shown_policy
    except RequestError as error:
        return [make_note(str(error), "warn")]
    if shown is None:
        return []
    expected = _write(shown["figures"]["expected_matches"])
    drivers = sorted(shown["columns"], key=lambda one: one["expected_matches_without_it"])
    blocks = [] if shown["feasible"] else [make_note("This policy breaks your limits.", "warn")]
    return [
        *blocks,
        _describe_columns(view, shown),
        {
            "block": "table",
            "title": "How many look the same",
            "head": ["People who look the same", "People before", "People after"],
            "rows": [
                [_write_size(before), f"{before['people']:,.0f}", f"{after['people']:,.0f}"]
                for before, after in zip(shown["groups_before"], shown["groups"], strict=True)
            ],
        },
        {
            "block": "table",
            "title": "What drives the risk",
            "head": ["If the adversary did not know", f"People expected, instead of {expected}"],
            "rows": [
                [one["column"], _write(one["expected_matches_without_it"])] for one in drivers
            ],
        },
    ]


def plan_edit(view: ProjectView, form: Form) -> Sequence[Move]:
    """Return the command that merges or splits the chosen policy at one place."""
    shown = view.shown_policy
    if shown is None or view.policy is None:
        raise FieldError("frontier.edit", "no policy is chosen", instead="choose one first")
    way = next((one for one in ("merge", "split") if one in form), "")
    place = form.get(way)
    if not isinstance(place, str) or place not in _find_places(shown, way):
        raise FieldError("frontier.edit", "there is no such place", instead="choose another one")
    number = view.policy.get("number")
    base = ("--policy", POLICY) if number is None else ("--number", str(number))
    words = ("tables", "edit", view.kit, *base, f"--{way}", place, "--out", POLICY, "--force")
    return (VerbCall(words, POLICY, is_edit=True),)


def _find_places(shown: Mapping[str, Any], way: str) -> set[str]:
    """Return the places that `tables edit` accepts: nodes of a tree, or values of columns."""
    if shown["family"] == "tree":
        joined = {one["merges_into"] for one in shown["leaves"]}
        return {str(node) for node in joined if node >= 0 and way == "merge"}
    return {f"{one['column']}={value}" for one in shown["columns"] for value in one["values"][1:]}


def _describe_columns(view: ProjectView, shown: Mapping[str, Any]) -> Block:
    """Return the people by value of each column, with its split points or its labels."""
    is_tree = shown["family"] == "tree"
    intervals = {} if is_tree or view.policy is None else view.policy["policy"]
    columns = [
        {
            "name": one["column"],
            "values": one["values"],
            "people": one["people"],
            "starts": _find_starts(one["values"], intervals.get(one["column"], [])),
            "labels": [
                [label["label"], f"{label['people']:,.0f}"] for label in one["labels"][:LABELS]
            ],
            "more": max(len(one["labels"]) - LABELS, 0),
        }
        for one in shown["columns"]
    ]
    leaves = sorted(shown.get("leaves", []), key=lambda leaf: float(leaf["people"]))
    count = min(len(leaves), TYPICAL)
    typical = [leaves[(2 * i + 1) * len(leaves) // (2 * count)] for i in range(count)]
    return {
        "block": "recoding",
        "is_tree": is_tree,
        "columns": columns,
        "leaves": [
            {
                "labels": leaf["labels"],
                "people": f"{leaf['people']:,.0f}",
                "node": str(leaf["merges_into"]) if leaf["merges_into"] >= 0 else "",
            }
            for leaf in typical
        ],
        "count": f"{len(leaves):,}",
    }


def _find_starts(values: Sequence[str], intervals: Sequence[Sequence[object]]) -> list[int]:
    """Return the indices of the first values of all intervals except the first interval."""
    first = ["" if one[0] is None else str(one[0]) for one in intervals[1:]]
    return [values.index(one) for one in first if one in values]


def _write(matches: float) -> str:
    return f"{matches:.3g}"


def _write_size(size: Mapping[str, Any]) -> str:
    first, last = size["from"], size["to"]
    if last is None:
        return f"{first:,} or more"
    return f"{first:,}" if first == last else f"{first:,} to {last:,}"
