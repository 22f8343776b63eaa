"""Damaged files are read, or refused in one sentence that tells nothing of the data."""

from __future__ import annotations

import pytest
from tests.hostile.cases import cases
from tests.hostile.children import UNTOUCHED, Child
from tests.hostile.targets import TARGETS


@pytest.mark.parametrize("target", TARGETS)
def test_a_damaged_file_is_read_or_refused(child: Child, target: str) -> None:
    assert child.try_case(target, UNTOUCHED) == ""
    went = {
        number: child.try_case(target, number) for number in range(cases(TARGETS[target].cases))
    }
    assert {number: wrong for number, wrong in went.items() if wrong} == {}
