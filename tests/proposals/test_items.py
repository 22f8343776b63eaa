"""Proposed roles for rows of items: what is proposed can be fitted as it is."""

from __future__ import annotations

import datetime as dt
import tomllib
from decimal import Decimal

import numpy as np
import pyarrow as pa
import pyarrow.csv
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from voile.cli.run import run
from voile.core.errors import RequestError
from voile.data import open_source
from voile.data.roles import Roles
from voile.itemsets.rows.sources import RowReader
from voile.proposals.items import examine_items, holds_lists

N = 120
CODES = [f"CANARY{i}" for i in range(N)]


def proposed(table):
    return examine_items(open_source(pa.table(table)))


def said(table):
    found = tomllib.loads(proposed(table).to_toml())
    return {n: c if isinstance(c, str) else tuple(c.values()) for n, c in found["columns"].items()}


@pytest.mark.parametrize(
    ("name", "values", "role"),
    [
        ("patient_id", CODES, "identifier"),
        ("surname", ["a", "b"] * 60, "identifier"),
        ("fever", [0, 1] * 60, "items"),
        ("fever", [None, 0, 1] * 40, ("items", "categories")),
        ("fever", [None, 0.0, 1.0] * 40, ("items", [1])),
        ("fever", ["true", "FALSE"] * 60, "items"),
        ("fever", [True, None, False] * 40, ("items", "categories")),
        ("area", ["x", "y", None] * 40, "items"),
        ("age", list(range(60)) * 2, ("items", "numbers")),
        ("age", [str(x) for x in range(60)] * 2, ("items", "numbers")),
        ("age", [f"{x} kg" for x in range(60)] * 2, ("items", "numbers", "1234 kg")),
        ("age", ["k.A.", *map(str, range(59))] * 2, ("items", "numbers", ["k.A."])),
        ("visits", [1, 2, 3] * 40, ("items", "categories")),
        ("dose", [0.5, 1.5, 2.5] * 40, ("items", "numbers")),
        ("note", ["seen at home and well, as she says", *CODES[1:]], "drop"),
        ("note", [f"she was seen at home and felt {x} again" for x in CODES], ("items", "words")),
        ("code", CODES, "drop"),
        ("same", ["x"] * N, "drop"),
        ("none", pa.nulls(N), "drop"),
        ("day", [dt.date(2020, 1, 1 + i % 9) for i in range(N)], ("items", "dates")),
        ("day", [f"2020-01-0{1 + i % 9}" for i in range(N)], ("items", "dates")),
        ("day", [f"{1 + i % 28}.01.2020" for i in range(N)], ("items", "dates", "%d.%m.%Y")),
        ("day", ["01.02.2020", "2020-03-04"] * 60, "drop"),
        ("price", [Decimal(i) for i in range(60)] * 2, ("items", "numbers")),
        ("price", [Decimal(i) for i in range(3)] * 40, ("items", "categories")),
        ("bought", [[1, 2], [3]] * 60, "items"),
        ("bought", [[1.5], [3.5]] * 60, "undecided"),
        ("outcome", ["p", "q", "r"] * 40, "label"),
    ],
)
def test_a_column_is_proposed_in_the_form_it_can_be_read_in(name, values, role):
    others = {"cough": [1, 0] * 60, "pain": [0, 1] * 60}
    assert said({name: values, **others})[name] == role


def test_the_label_is_the_only_column_of_two_values():
    table = {"text": CODES, "spam": [0, 1] * 60, "sex": ["f", "m"] * 60}
    assert said(table)["spam"] == "label"
    assert "label" not in said({**table, "fever": [0, 1] * 60}).values()
    assert said({**table, "target": [0, 1, 2] * 40})["target"] == "label"
    assert said({**table, "target": [0, 1, 2] * 40})["spam"] == "items"


def long(basket="basket", item="item"):
    rng = np.random.default_rng(0)
    return {
        basket: [i // 4 for i in range(N)],
        "patient": [f"p{i // 8}" for i in range(N)],
        item: rng.permutation([f"thing {i % 9}" for i in range(N)]).tolist(),
        "ill": [("yes", "no")[i // 4 % 2] for i in range(N)],
        "pieces": [i % 5 for i in range(N)],
    }


@pytest.mark.parametrize(
    ("answers", "classes"),
    [(["y", "n"], ["left", "right"]), (["y", "n", "?"], ["a", "b", "c"]), ([0, 1], ["x", "y"])],
)
def test_the_label_is_the_only_column_with_other_values(answers, classes):
    """Votes and a party: no name tells which is the class, and the values do."""
    rng = np.random.default_rng(1)
    votes = {f"question {n}": rng.choice(answers, 90).tolist() for n in range(6)}
    table = {"party": rng.choice(classes, 90).tolist(), **votes}
    found = said(table)
    assert found.pop("party") == "label"
    assert set(found.values()) == {"items"}


@pytest.mark.parametrize(("basket", "item"), [("basket", "item"), ("row", "x"), ("visitId", "dx")])
def test_a_long_table_is_told_by_what_differs_within_a_record(basket, item):
    table = long(basket, item)
    assert said(table) == {
        basket: "identifier",
        "patient": "identifier",
        item: ("items", basket),
        "ill": "label",
        "pieces": "drop",
    }
    assert proposed(table).subject == "patient"


def test_rows_of_one_person_are_no_long_table():
    table = {"patient_id": [i // 2 for i in range(N)], "area": ["x", "y", "z"] * 40}
    wide = {
        **table,
        "fever": [0, 1, 1] * 40,
        "cough": [1, 0, 0] * 40,
        "age": [i % 50 for i in range(N)],
    }
    wide["ward"] = ["k", "l", "m", "n"] * 30
    assert proposed(wide).subject == "patient_id"
    assert said(wide)["area"] == said(wide)["ward"] == said(wide)["fever"] == "items"


def test_no_value_is_told():
    table = {"code": CODES, "area": [f"CANARY{i % 3}" for i in range(N)]}
    assert "CANARY" not in proposed(table).to_toml()


def test_lists_are_seen():
    assert holds_lists(open_source(pa.table({"a": [[1]]})))
    assert not holds_lists(open_source(pa.table({"a": [[1.5]], "b": ["x"]})))
    assert not holds_lists(
        open_source(pa.table({"a": pa.array([[], None], pa.list_(pa.string()))}))
    )


def test_lists_that_are_all_empty_are_dropped():
    assert said({"a": pa.array([[], None] * 60, pa.list_(pa.string()))}) == {"a": "drop"}


def test_a_text_of_its_own_in_every_row_is_no_label():
    notes = [f"she was seen at home and felt {x} again" for x in CODES[:40]]
    assert said({"tags": [["a"], []] * 20, "note": notes})["note"] == ("items", "words")


cells = {
    "truths": st.booleans(),
    "bits": st.sampled_from([0, 1]),
    "few": st.integers(-2, 3),
    "many": st.integers(0, 10**6),
    "floats": (st.sampled_from([0.0, 1.0]) | st.floats(-9, 9)).map(lambda x: x + 0.0),
    "text": st.sampled_from(["0", "1", "TRUE", "x y", ""]),
    "numbers": st.sampled_from([" 12", "1e3", "-.5", "7."]),
    "items": st.lists(st.sampled_from(["tea", "rum"]), max_size=3),
}


@settings(max_examples=60)
@given(st.data())
def test_what_is_proposed_is_read_without_a_complaint(data):
    rows = data.draw(st.integers(2, 30))
    kinds = data.draw(st.lists(st.sampled_from(sorted(cells)), min_size=1, max_size=4))
    table = {}
    for place, kind in enumerate(kinds):
        cell = cells[kind] if data.draw(st.booleans()) else st.none() | cells[kind]
        column = data.draw(st.lists(cell, min_size=rows, max_size=rows))
        table[f"{'basket' if data.draw(st.booleans()) else kind} {place}"] = pa.array(column)
    source = open_source(pa.table(table))
    roles = Roles.model_validate(tomllib.loads(examine_items(source).to_toml()))
    labels = roles.of("label")
    reading = RowReader.all_of(roles)
    if not roles.of("items"):
        return
    if roles.of("undecided"):
        with pytest.raises(RequestError, match="undecided"):
            reading.check(source)
        return
    reading.check(source)
    forms = reading.learn(source)
    assert any(form.values for form in forms) or "items" in kinds
    if any(form.values for form in forms):
        read = reading.read_rows(source, forms)
        assert not labels or len({x for x in read.labels if x is not None}) >= 2


def adult():
    rng = np.random.default_rng(1)
    return {
        "age": rng.integers(17, 90, N).astype(str),
        "workclass": rng.choice(["private", "?", "state"], N),
        "sex": rng.choice(["male", "female"], N),
        "gain": rng.choice(["0", "0", "512", "90"], N),
        "income": rng.choice(["<=50K", ">50K"], N),
    }


def messages():
    rng = np.random.default_rng(1)
    words = np.array([f"word{x}" for x in range(9)])
    return {
        "file": CODES,
        "spam": ["0", "1"] * 60,
        "text": [" ".join(["subject of this", *rng.choice(words, 6)]) for _ in range(N)],
    }


@pytest.mark.parametrize("make", [adult, messages, long, None])
def test_the_proposal_is_fitted_as_it_is(make, tmp_path, capsys):
    path = tmp_path / ("data.dat" if make is None else "data.csv")
    if make is None:
        path.write_text("1 2 3\n2 3\n\n1 2\n3\n" * 9)
    else:
        pa.csv.write_csv(pa.table(make()), path)
    roles, kit = tmp_path / "roles.toml", tmp_path / "kit"
    kind = [] if make is None else ["--kind", "itemsets"]
    assert run(["inspect", str(path), *kind, "--out", str(roles), "--quiet"]) == 0
    asked = ["--roles", str(roles), "--k", "2", "--evaluations", "2", "--quiet"]
    assert run(["itemsets", "fit", str(path), *asked, "--out", str(kit)]) == 0, capsys.readouterr()
    assert (Roles.read(roles).of("label") == []) == (make is None)
