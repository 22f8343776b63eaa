"""What other tools released is assessed as a recount by hand says, and nothing unread is silent."""

from __future__ import annotations

import re
import sys
from importlib.util import module_from_spec, spec_from_file_location
from pathlib import Path

import pandas as pd
import pytest

import voile.tables as vt

EXAMPLES = Path(__file__).parents[3] / "examples"
FOLDER = EXAMPLES / "other_tools"
QUASI = ["age", "sex", "zip"]


def load(name):
    spec = spec_from_file_location(name, EXAMPLES / f"{name}.py")
    module = sys.modules[name] = module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


@pytest.fixture(scope="module")
def example():
    return load("assess_other_tools")


@pytest.fixture(scope="module")
def maker():
    return load("make_other_tools")


def read(name):
    return pd.read_csv(FOLDER / f"{name}.csv", dtype={"zip": str, "age": str})


def fits(cell, value):
    """Say whether a cell of these tools may stand for a value, in the plainest way."""
    if cell != cell or cell == "*":
        return True
    if found := re.fullmatch(r"([\[(])(-?\d+),\s*(\d+)([\]\[)])", cell):
        opened, low, high, closed = found.groups()
        above = int(low) <= int(value) if opened == "[" else int(low) < int(value)
        return above and (int(value) <= int(high) if closed == "]" else int(value) < int(high))
    if found := re.fullmatch(r"\['(\d+)-(\d+)'\]", cell):
        return int(found[1]) <= int(value) <= int(found[2])
    if cell.endswith("*"):
        return len(cell) == len(value) and value.startswith(cell.rstrip("*"))
    return value in cell.split(",")


def recount(people, released):
    """Return k, expected matches and the unique on all columns, a person at a time."""
    rows = released[QUASI].astype(object).to_numpy().tolist()
    shown = [tuple(map(str, row)) for row in rows]
    sizes = [shown.count(row) for row in shown]
    everybody = people[QUASI].to_numpy().tolist()
    fitting = {
        row: sum(all(map(fits, cells, one)) for one in everybody)
        for row, cells in zip(shown, rows, strict=True)
    }
    whole = [(*row, dx) for row, dx in zip(shown, released.diagnosis, strict=True)]
    return (
        min(sizes),
        # a row of stars is suppressed: it forms no class, and nobody is linked to it
        sum(
            1 / max(size, fitting[row])
            for row, size in zip(shown, sizes, strict=True)
            if set(row) != {"*"}
        ),
        sum(whole.count(row) == 1 for row in whole if set(row[:-1]) != {"*"}),
    )


@pytest.mark.parametrize("tool", ["form of ARX", "form of sdcMicro", "ANJANA", "anonypy"])
def test_figures_are_those_of_a_recount(example, tool):
    name, options = example.TABLES[tool]
    people, released = read("people"), read(name)
    if "counts" in options:
        released = released.loc[released.index.repeat(released["count"])]
    found = example.assess_table(tool)
    k, matches, alone = recount(people, released)
    assert found.figures["k"] == k
    assert found.figures["expected_matches"] == pytest.approx(matches, rel=1e-9)
    assert found.figures["unique_with_kept"] == alone
    assert all(one["unread"] == 0 for one in found.facts["read"])
    # all but anonypy keep the order; ANJANA leaves an index as well
    assert bool(found.facts["keys"]) == (tool != "anonypy")


@pytest.mark.parametrize("name", ["arx_form", "sdcmicro_form"])
def test_k_and_l_are_those_of_pycanon_where_they_are_more_than_one(example, name):
    """Rows of small groups and of groups with one diagnosis are left out, so that both show."""
    pycanon = pytest.importorskip("pycanon.anonymity")
    released = read(name).fillna("*")
    groups = released.groupby(QUASI)["diagnosis"]
    large = (groups.transform("size") >= 4) & (groups.transform("nunique") >= 3)
    released = released[large].reset_index(drop=True)
    found = vt.assess(read("people"), released, example.ROLES, seed=1)
    k = pycanon.k_anonymity(released, QUASI)
    distinct = pycanon.l_diversity(released, QUASI, ["diagnosis"])
    assert (found.figures["k"], found.figures["distinct_l(diagnosis)"]) == (k, distinct)
    assert k >= 4
    assert distinct >= 3


@pytest.mark.parametrize("tool", ["form of ARX", "ANJANA", "anonypy"])
def test_a_cell_that_nobody_can_read_is_named_and_hides_nobody(example, tool):
    """A row whose age cannot be read is counted as if its age stood there: no lower risk."""
    name, options = example.TABLES[tool]
    released = read(name)
    released.loc[0, "age"] = "middle-aged"
    damaged = vt.assess(read("people"), released, example.ROLES, seed=1, **options)
    unread = damaged.facts["read"][0]["unread"]
    assert unread == released.get("count", pd.Series([1]))[0]
    assert (
        damaged.figures["expected_matches"] > example.assess_table(tool).figures["expected_matches"]
    )
    assert any("age: the cells of" in said for said in damaged.summary)


def test_notes_of_presidio_are_judged_by_the_table_beside_them(example):
    """Patterns know phones, addresses and numbers; the patients' names all stay, and are named."""
    patients, notes, released = read("patients"), read("notes"), read("presidio")
    assert len(patients) == len(notes) == len(released)
    found = example.assess_notes()
    [evidence] = found.evidence
    by_label = {one.of: one.rate for one in evidence.findings}
    columns = {"NAME": "name", "PHONE": "phone", "EMAIL": "email"}
    for label, column in columns.items():
        pairs = zip(patients[column].astype(str), notes.note, released.note, strict=True)
        held = [(text.count(value), after.count(value)) for value, text, after in pairs]
        if label != "NAME":
            assert by_label[label].trials == sum(before for before, _ in held)
        else:  # given names alone are found as well
            assert by_label[label].trials >= sum(before for before, _ in held)
            assert by_label[label].successes >= sum(after for _, after in held) > 0
    assert by_label["NAME"].successes == by_label["NAME"].trials
    assert by_label["PHONE"].successes == by_label["EMAIL"].successes == 0
    assert {"<PHONE_NUMBER>", "<EMAIL_ADDRESS>", "<US_SSN>"} <= found.facts["marks"].keys()


def test_the_files_are_what_the_script_makes(maker):
    patients, notes = maker.patients_and_notes()
    frame = maker.people()
    made = {
        "people": frame,
        "arx_form": maker.arx_form(frame),
        "sdcmicro_form": maker.sdcmicro_form(frame),
        "patients": patients,
        "notes": notes,
    }
    for name, table in made.items():
        assert table.to_csv(index=False) == (FOLDER / f"{name}.csv").read_text(), name


@pytest.mark.parametrize("tool", ["anjana", "anonypy", "presidio_analyzer"])
def test_a_tool_that_is_installed_still_releases_the_same(maker, tool):
    pytest.importorskip(tool)
    run, original = maker.RUNS[tool.removesuffix("_analyzer")]
    made = run(pd.read_csv(FOLDER / original, dtype={"zip": str}))
    stored = FOLDER / f"{tool.removesuffix('_analyzer')}.csv"
    assert made.to_csv(index=False) == stored.read_text()


def test_lists_in_cells_are_read_as_sets():
    people = pd.DataFrame({"job": ["cook", "judge", "nurse", "nurse"]})
    released = pd.DataFrame({"job": [["cook", "judge"], ["judge,cook"], ["nurse"], ["nurse"]]})
    found = vt.assess(people, released, {"job": "quasi"}, seed=1)
    assert found.figures["expected_matches"] == 2  # whoever fits: two people fit each row
    assert found.facts["boxes"] == 3
