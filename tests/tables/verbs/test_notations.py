"""Numbers in the notations of spreadsheets and programs, from the proposal to the release."""

from __future__ import annotations

import re

import pyarrow as pa
import pytest

import voile

N = 200


@pytest.mark.parametrize(
    ("write", "settings", "unit"),
    [
        ("{:.3e}", {}, ""),
        ("{:.2e} mg/l", {"form": "1.2345e3 mg/l"}, " mg/l"),
        ("EUR {:.2f}", {"form": "EUR 1234.5"}, " EUR"),
        ("$ {:,.0f}", {"form": "$ 1,234"}, " $"),
        ("{:_.2f}", {"form": "1 234,5"}, ""),
    ],
)
def test_numbers_of_any_notation_go_from_proposal_to_release(write, settings, unit):
    ages = [20 + i % 60 for i in range(N)]
    numbers = [100.0 + 41 * i for i in range(N)]
    cells = [write.format(n) for n in numbers]
    if "_" in write:
        cells = [cell.replace("_", " ").replace(".", ",") for cell in cells]
    table = pa.table({"age": ages, "amount": cells})
    roles = voile.inspect(table)
    assert roles.columns["amount"].role == "quasi"
    assert roles.columns["amount"].settings == {**settings, "bins": 32}
    kit = voile.tables.fit(table, roles=roles, k=5, method="steepest")
    released = kit.apply(kit.choose(least_loss=True), table).frame["amount"].to_pylist()
    end = r"\d+(\.\d+)?"
    shape = rf"under {end}|{end}|{end}(-| to below ){end}|{end} and over"
    shown = {label.replace(unit, "") for label in released}
    assert [label for label in shown if not re.fullmatch(shape, label)] == []
    assert len(shown) > 1
