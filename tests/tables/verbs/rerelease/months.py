"""Rows of two months, and how they are released."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import pyarrow as pa
import pytest

import voile.tables as vt
from voile.core.errors import InfeasibleError
from voile.release.manifest import StoredRelease

ROLES = {
    "columns": {"who": "identifier", "age": "quasi", "job": "keep"},
    "subject": "who",
}
K = 5


def county(*groups: tuple[int, int, int], job: str = "cook") -> pa.Table:
    """People by age: (age, first, last) are the numbers of those who have it."""
    each = [(f"CANARY{i}", age) for age, first, last in groups for i in range(first, last)]
    who, ages = zip(*each, strict=True)
    return pa.table({"who": who, "age": ages, "job": [job] * len(each)})


FIRST = ((20, 0, 10), (30, 100, 110))


def release(rows: pa.Table, out: Path, **how: object) -> StoredRelease:
    kit = vt.fit(rows, ROLES, family="global", method="exhaustive", k=K, suppress=0.9, seed=1)
    chosen = kit.choose(policy=0)
    ages = sorted(set(rows["age"].to_pylist()))
    finest = {"age": [[str(age), str(age)] for age in ages]}
    return kit.apply(replace(chosen, policy=finest, number=None), rows, out, **how)


def difference(rows: pa.Table, out: Path, **how: object) -> str:
    with pytest.raises(InfeasibleError, match="breaks the ledger's promise") as refused:
        release(rows, out, **how)
    assert not list(out.parent.glob(f"{out.name}*"))
    assert "CANARY" not in str(refused.value)
    return str(refused.value)
