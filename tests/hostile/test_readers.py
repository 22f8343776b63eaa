"""Test that damaged files are read, or refused in one sentence without a value of the data."""

from __future__ import annotations

import pytest
from tests.hostile.cases import cases
from tests.hostile.children import UNTOUCHED, Child
from tests.hostile.sources import WRITTEN
from tests.hostile.targets import TARGETS

from voile.data.opening import FORMATS

ALIKE = {  # one reader, another end; or nothing here that writes the format
    ".tsv.gz": ".tsv", ".txt.gz": ".txt", ".ndjson": ".jsonl", ".ndjson.gz": ".jsonl.gz",
    ".xls": ".xlsx", ".sqlite3": ".sqlite", ".db": ".sqlite", ".sas7bdat": ".xpt",
    ".dat.gz": ".dat", ".svmlight": ".svm", ".svm.gz": ".svm", ".postgresql": None, ".table": None,
}  # fmt: skip


def test_every_format_is_damaged() -> None:
    ends = {name[name.index(".") :] for name in WRITTEN}
    assert {ALIKE.get(end, end) for end in FORMATS} - {None} == ends


@pytest.mark.parametrize("target", TARGETS)
def test_a_damaged_file_is_read_or_refused(child: Child, target: str) -> None:
    assert child.try_case(target, UNTOUCHED) == ""
    went = {
        number: child.try_case(target, number) for number in range(cases(TARGETS[target].cases))
    }
    assert {number: wrong for number, wrong in went.items() if wrong} == {}
