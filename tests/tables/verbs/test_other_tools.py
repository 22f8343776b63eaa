"""The forms of other tools give what a recount by hand gives, and nothing unread is passed over."""

from __future__ import annotations

import re
from importlib.util import module_from_spec, spec_from_file_location
from pathlib import Path

import pandas as pd
import pytest

import voile.tables as vt

EXAMPLE = Path(__file__).parents[3] / "examples" / "assess_other_tools.py"


@pytest.fixture(scope="module")
def example():
    spec = spec_from_file_location("assess_other_tools", EXAMPLE)
    module = module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


def fits(cell, value):
    """Say whether a cell of these forms may stand for a value, in the plainest way."""
    if cell is None or cell != cell or cell == "*":
        return True
    if found := re.fullmatch(r"([\[(])(-?\d+),\s*(\d+)([\]\[)])", str(cell)):
        opened, low, high, closed = found.groups()
        above = int(low) <= value if opened == "[" else int(low) < value
        return above and (value <= int(high) if closed == "]" else value < int(high))
    if str(cell).endswith("*"):
        return str(value).startswith(str(cell).rstrip("*"))
    return str(cell) == str(value)


@pytest.mark.parametrize("tool", ["form of ARX", "form of sdcMicro", "ANJANA"])
def test_figures_are_those_of_a_recount(example, tool):
    if tool == "ANJANA":
        pytest.importorskip("anjana")
    people = example.people(200)
    released = example.TOOLS[tool][0](people)
    found = vt.assess(people, released, example.ROLES, seed=1)
    shown = released[example.QUASI].fillna("").astype(str)
    assert found.figures["k"] == shown.groupby(example.QUASI).size().min()
    sizes = shown.groupby(example.QUASI)["age"].transform("size")
    matches = sum(
        1 / max(size, sum(all(map(fits, row, one)) for one in people[example.QUASI].to_numpy()))
        for row, size in zip(released[example.QUASI].to_numpy(), sizes, strict=True)
    )
    assert found.figures["expected_matches"] == pytest.approx(matches, rel=1e-9)
    alone = released.fillna("").astype(str).groupby([*example.QUASI, "diagnosis"]).size()
    assert found.figures["unique_with_kept"] == (alone == 1).sum()
    assert all(one["unread"] == 0 for one in found.facts["read"])
    assert found.facts["keys"]  # these tools keep the order, or leave an index


def test_rows_that_stand_for_several_people_are_counted_so(example):
    pytest.importorskip("anonypy")
    people = example.people(200)
    released = example.anonypy_output(people)
    found = vt.assess(people, released, example.ROLES, seed=1, counts="count")
    groups = (
        released.astype(dict.fromkeys(example.QUASI, str)).groupby(example.QUASI)["count"].sum()
    )
    assert found.figures["k"] == groups.min()
    assert found.figures["expected_matches"] == pytest.approx(len(groups), rel=1e-9)


def test_lists_in_cells_are_read_as_sets():
    people = pd.DataFrame({"job": ["cook", "judge", "nurse", "nurse"]})
    released = pd.DataFrame({"job": [["cook", "judge"], ["judge,cook"], ["nurse"], ["nurse"]]})
    found = vt.assess(people, released, {"job": "quasi"}, seed=1)
    assert found.figures["expected_matches"] == 2  # whoever fits: two people fit each row
    assert found.facts["boxes"] == 3
