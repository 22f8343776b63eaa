"""A ward's notes on disk, with a kit, a policy and a release that leaks."""

from __future__ import annotations

import random
from pathlib import Path

import pytest
from tests.cli.documents.ward import FIRST, Notes, attack_on, note, put_brat, put_lines, ran_well


@pytest.fixture(scope="session")
def notes(tmp_path_factory: pytest.TempPathFactory) -> Notes:
    """Return 24 notes as brat keeps them, with a kit and a policy."""
    notes = Notes(tmp_path_factory.mktemp("a ward"))
    notes.source.mkdir()
    rng = random.Random(1)
    for number in range(24):
        put_brat(notes.source, f"note {number:02}", *note(rng))
    ran_well("inspect", notes.source, "--out", notes.roles, "--quiet")
    ran_well(*notes.fit(notes.kit), "--quiet")
    ran_well("documents", "choose", notes.kit, "--knee", "--out", notes.policy, "--quiet")
    return notes


@pytest.fixture
def lines(tmp_path: Path) -> Path:
    """Return notes as JSON lines beside the roles that inspect proposes."""
    rng = random.Random(2)
    rows = []
    for number in range(12):
        text, spans = note(rng)
        rows.append({"patient": f"p{number // 2}", "note": text, "marks": spans, "ward": "north"})
    return put_lines(tmp_path / "notes.jsonl", rows)


@pytest.fixture(scope="session")
def leaky(notes: Notes) -> Path:
    """Return a release that leaves first names, with its evidence beside it."""
    allow = notes.folder / "allow.txt"
    allow.write_text("\n".join(FIRST))
    out = notes.folder / "leaky.jsonl"
    ran_well(*notes.apply(out), "--allow", allow, "--quiet")
    ran_well(*attack_on(notes, out), "--quiet")
    return out
