"""The frontier as a command shows it: figures of every policy, and no word of a text."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path
from typing import Any

import pyarrow as pa
from tests.cli.documents.ward import WORD, Notes

from voile.cli.screen import short
from voile.documents.model.quantities import AS_LEFT, ONE_PERCENT
from voile.release.kit import StoredKit

FIRST = ["number", "risk", "risk_low", "risk_high", "loss", "miss_cost", "passes"]
FOUND = [*AS_LEFT, *ONE_PERCENT]


def test_words_that_a_kit_holds_are_not_shown(voile: Any, notes: Notes, tmp_path: Path) -> None:
    kit = StoredKit.load(notes.kit)
    rows = kit.tables["frontier"].to_pylist()
    words = {"false_words": [{"word": "Zyxandra", "removed": 2}], "context": ["Florbnix"]}
    planted = pa.Table.from_pylist([{**row, **words} for row in rows])
    replace(kit, tables={**kit.tables, "frontier": planted}).save(tmp_path / "kit")
    assert WORD.search(str(planted.to_pylist()))
    for more in (["--json"], ["--all"], []):
        ran = voile("documents", "frontier", tmp_path / "kit", *more)
        assert ran.code == 0
        assert not WORD.search(ran.out + ran.err)
    (policy, *_) = voile("documents", "frontier", tmp_path / "kit", "--json").json["policies"]
    assert policy.keys() == rows[0].keys() - words.keys()
    assert policy["left_by_type"] == rows[0]["left_by_type"]


def test_what_is_found_at_given_inspections_stands_beside_the_risk(
    voile: Any, notes: Notes
) -> None:
    header, *lines = voile("documents", "frontier", notes.kit).out.splitlines()
    assert header.split("\t")[:15] == FIRST + FOUND
    rows = StoredKit.load(notes.kit).tables["frontier"].to_pylist()
    for line, row in zip(lines, rows, strict=True):
        cells = dict(zip(header.split("\t"), line.split("\t"), strict=True))
        shown = [short(row[name], thousands="") for name in FOUND]
        assert [cells[name] for name in FOUND] == shown
        assert row["risk_low"] <= row["risk"] <= row["risk_high"]
        assert row["found_as_left"] <= row["inspected_as_left"]
