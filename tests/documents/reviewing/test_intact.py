"""A file of answers that somebody or something changed is refused as it is opened."""

from __future__ import annotations

import sqlite3
from pathlib import Path

import pytest
from tests.documents.reviewing.made import letter, summers

from voile.core.errors import DamagedError
from voile.documents.reviewing.line import ShownSpan
from voile.documents.reviewing.store import ReviewStore

SPANS = "UPDATE keys SET spans = '{}'"


@pytest.fixture
def path(tmp_path: Path) -> Path:
    """Write a review in which a line was answered, marked, undone, and answered again."""
    with ReviewStore.create(tmp_path / "review.sqlite", meta={"readers": "12"}) as store:
        store.add([letter(), *summers()], batch=1)
        store.answer(1, "Eva", [ShownSpan(0, 4, "NAME")], final=False)
        store.answer(1, "Eva", [])
        store.undo("Eva")
        store.answer(1, "Eva", [ShownSpan(12, 22, "NAME", "rule", 0.5)], seconds=2.5)
        store.answer(2, "Eva", [], unsure=True)
    return tmp_path / "review.sqlite"


def test_what_voile_wrote_is_opened(path: Path) -> None:
    with ReviewStore.open(path) as store:
        assert len(store.answers()) == 2


@pytest.mark.parametrize(
    "change",
    [
        "UPDATE keys SET final = 'x'",
        "UPDATE keys SET final = 2",
        "UPDATE keys SET unsure = 'maybe'",
        "UPDATE keys SET seconds = 'long'",
        "UPDATE keys SET seconds = 1e300",
        "UPDATE keys SET stroke = 9223372036854775807",
        "UPDATE keys SET line = 999",
        "UPDATE keys SET reviewer = x'ff'",
        SPANS.format('[["a", "b", "NAME", "", 0.0]]'),
        SPANS.format('[[0, 1, 7, "", 0.0]]'),
        SPANS.format('[[0, 1, "NAME", "", "no"]]'),
        SPANS.format('[[0.5, 1, "NAME", "", 0.0]]'),
        SPANS.format('[[0, 9999, "NAME", "", 0.0]]'),
        SPANS.format('[[-3, 1, "NAME", "", 0.0]]'),
        SPANS.format('[[0, 1, "NAME"'),
        SPANS.format("7"),
        "UPDATE lines SET proposals = '[[1]]'",
        "UPDATE lines SET document = 'x'",
        "UPDATE lines SET batch = 99999999999",
        "UPDATE lines SET purpose = 'other'",
        'UPDATE lines SET "end" = start - 1',
        "DELETE FROM lines WHERE number = 1",
        "UPDATE meta SET value = 'many' WHERE name = 'readers'",
        "UPDATE meta SET value = '0' WHERE name = 'readers'",
        "DELETE FROM meta",
        "INSERT INTO never VALUES (x'ff', 'Eva', 1)",
        "DROP TABLE never",
        "DROP VIEW finals",
        "ALTER TABLE lines DROP COLUMN why",
        "ALTER TABLE keys ADD COLUMN more TEXT",
    ],
)
def test_what_voile_never_writes_is_refused(path: Path, change: str) -> None:
    other = sqlite3.connect(path)
    with other:
        other.execute(change)
    other.close()
    with pytest.raises(DamagedError, match=r"review\.sqlite: is damaged, or holds no answers"):
        ReviewStore.open(path)
