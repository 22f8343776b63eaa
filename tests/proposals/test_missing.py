"""What a value says is decided by the column around it, proposed with a reason, and reversible."""

from __future__ import annotations

from typing import Any

import numpy as np
import pandas as pd
import pyarrow as pa
import pytest

import voile.itemsets
import voile.tables
from voile.itemsets.rows.scales import NumberScale

AGES = [20 + i % 60 for i in range(200)]
PROPOSED: dict[str, tuple[list[Any], list[str] | None]] = {
    "999 far from ages": ([*AGES, *[999] * 9], ["999"]),
    "-9 below counts": ([*[i % 30 for i in range(200)], *[-9] * 9], ["-9"]),
    "99 beside two codes": ([1, 2] * 90 + [99] * 5, ["99"]),
    "9999 as a year": ([*[1940 + i % 70 for i in range(200)], *[9999] * 4], ["9999"]),
    "999 as a float": ([*[a + 0.5 for a in AGES], *[999.0] * 9], ["999"]),
    "999 in text": ([*map(str, AGES), *["999"] * 9], ["999"]),
    "999 once": ([*AGES, 999], None),
    "99 among the oldest": ([*range(40, 110), *[99] * 9], None),
    "999 among scores": ([*range(0, 1000, 4), *[999] * 9], None),
    "-9 among degrees": ([*range(-20, 40), *[-9] * 9], None),
    "sodium": (["Na", "K", "Cl", "Ca"] * 30, None),
    "Namibia": (["NA", "DE", "ZA", "BW", "AO", "FR"] * 30, None),
    "North Carolina": (["NC", "TX", "CA", "NY", "FL", "OH"] * 30, None),
    "an answer": (["None", "Mild", "Severe"] * 30, None),
    "NA beside sexes": (["F", "M"] * 50 + ["NA"] * 5, ["NA"]),
    "None beside numbers": ([*map(str, AGES), *["None"] * 5], ["None"]),
    "na beside words": (["red", "blue", "green"] * 30 + ["na"] * 5, ["na"]),
}


@pytest.mark.parametrize("name", PROPOSED)
def test_a_missing_value_is_proposed_by_evidence(name: str) -> None:
    cells, expected = PROPOSED[name]
    roles = voile.inspect(pd.DataFrame({"x": cells}))
    assert roles.columns["x"].settings.get("missing") == expected
    if expected:
        assert "missing:" in roles._proposal.to_toml()


def test_a_reason_has_no_value() -> None:
    (column,) = voile.inspect({"x": [*AGES, *[987] * 9, *[999] * 7]})._proposal.columns
    assert column.why.endswith("missing: a number far from all others, in 7 rows") is False
    (column,) = voile.inspect({"x": [*AGES, *[999] * 7]})._proposal.columns
    assert column.why.endswith("missing: a number far from all others, in 7 rows")
    (column,) = voile.inspect({"x": PROPOSED["Namibia"][0]})._proposal.columns
    assert column.why.endswith("a word for missing is a value, as it is written like the others")


@pytest.mark.parametrize("cells", [AGES + [999] * 9, [a + 0.5 for a in AGES] + [999.0] * 9])
@pytest.mark.parametrize("bins", [None, 6])
def test_roles_state_it_either_way(cells: list[Any], bins: int | None) -> None:
    frame = pd.DataFrame({"x": cells})
    for missing, has_null in ((["999"], True), ([], False)):
        setting = {"role": "quasi", "missing": missing, **({"bins": bins} if bins else {})}
        kit = voile.tables.fit(frame, roles={"x": setting}, k=2, seed=1)
        released = kit.apply(kit.choose(max_loss=1.0), frame).frame
        assert any("missing" in str(one) for one in released["x"]) is has_null


def test_items_are_made_of_the_other_numbers() -> None:
    ages = [20 + i % 40 for i in range(400)] + [999] * 9
    frame = pd.DataFrame({"x": ages, "y": ["a", "b"] * 204 + ["a"]})
    roles = voile.inspect(frame, kind="itemsets")
    assert roles.columns["x"].settings["missing"] == ["999"]
    assert voile.itemsets.fit(frame, roles=roles, k=5, seed=1).facts["policies"]


def test_a_missing_number_is_none() -> None:
    numbers, strange = NumberScale("number", whole=True, missing=("999",)).numbers(
        pa.array([1, 999])
    )
    assert (numbers[0], np.isnan(numbers[1]), strange.any()) == (1, True, False)
