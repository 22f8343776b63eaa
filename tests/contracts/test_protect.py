"""Test that `voile.protect` releases a table in one call, and prints its choices."""

from __future__ import annotations

from collections import Counter
from typing import Any

import numpy as np
import pandas as pd
import polars as pl
import pytest

import voile
from voile.core.errors import RequestError


@pytest.fixture(scope="module")
def people() -> dict[str, list[Any]]:
    rng = np.random.default_rng(5)
    return {
        "patient_id": [f"P{n:04d}" for n in range(600)],
        "age": np.clip(rng.normal(50, 18, 600), 0, 99).astype(int).tolist(),
        "sex": rng.choice(["f", "m"], 600).tolist(),
        "diagnosis": rng.choice(["flu", "gout", "asthma"], 600).tolist(),
        "remarks": [f"seen on day {n} by nobody in particular" for n in range(600)],
    }


@pytest.mark.parametrize("frame", [pd.DataFrame, pl.DataFrame])
def test_three_lines_release_a_frame_of_the_same_kind(
    people: dict[str, list[Any]], frame: Any, capsys: pytest.CaptureFixture[str]
) -> None:
    release = voile.protect(frame(people), k=5, seed=1)
    assert isinstance(release.frame, frame)
    assert list(release.frame.columns) == ["age", "sex", "diagnosis"]
    groups = Counter(zip(release.frame["age"], release.frame["sex"], strict=True))
    assert min(groups.values()) >= 5
    assert len(groups) > 10
    printed = capsys.readouterr().out
    assert printed.startswith("voile.protect: 600 of 600 rows released, at least 5 people in each")
    assert "quasi (generalised): age, sex" in printed
    assert "remarks" in printed
    assert "The roles are proposals" in printed
    assert "P0001" not in printed
    loss = (release.private or {})["figures"]["information_loss"]
    assert f"information loss: {loss:.0%}" in printed


def test_roles_and_rows_of_one_person_are_taken_as_given(
    people: dict[str, list[Any]], capsys: pytest.CaptureFixture[str]
) -> None:
    visits = {name: values * 2 for name, values in people.items()}
    roles = {
        "subject": "patient_id",
        "columns": {
            **dict.fromkeys(["age", "sex"], "quasi"),
            "patient_id": "identifier",
            "diagnosis": "drop",
            "remarks": "text",
        },
    }
    release = voile.protect(pd.DataFrame(visits), k=5, roles=roles, seed=1)
    assert list(release.frame.columns) == ["age", "sex"]
    printed = capsys.readouterr().out
    assert "rows of one person share: patient_id (dropped)" in printed
    assert "proposals" not in printed
    assert "Each row counts as one person" not in printed


def test_quiet_prints_nothing(
    people: dict[str, list[Any]], capsys: pytest.CaptureFixture[str]
) -> None:
    voile.protect(pd.DataFrame(people), quiet=True, seed=1)
    assert capsys.readouterr().out == ""


def test_a_table_without_a_quasi_identifier_and_a_group_of_one_are_refused() -> None:
    with pytest.raises(RequestError, match="no column is a quasi-identifier; pass roles="):
        voile.protect({"note": ["a b", "c d"]}, roles={"note": "keep"})
    with pytest.raises(RequestError, match="k: one person is no group"):
        voile.protect({"age": [1, 2]}, k=1)
