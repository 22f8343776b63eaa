"""A review asks for lines, and ends with a kit of what was read."""

from __future__ import annotations

from pathlib import Path
from tempfile import mkdtemp

import pytest
from tests.documents.model.start.made import STAFF, hospital

import voile
from voile.documents.fitting.refit import prepare
from voile.documents.reviewing.line import ReviewAnswer, ShownSpan
from voile.documents.reviewing.refitting import ReviewState
from voile.release.kit import StoredKit

QUICK = {"learners": ["svm"], "cross_fit": 3, "jobs": 1, "seed": 1, "least_left": 50}


@pytest.fixture(scope="module")
def folder():
    """Return a work folder of which no table of staff was known."""
    place = Path(mkdtemp())
    rows, people, _ = hospital(place)
    options = {"known": people, "by": "patient_id", "known_kind": "born=none", **QUICK}
    voile.documents.init(rows, place / "work", **options)
    return place / "work"


def answered(lines):
    """Answer as somebody who knows all names."""
    answers = {}
    for line in lines:
        spans = [
            ShownSpan(at, at + len(word), "NAME", "")
            for word in (name.split()[1] for name in STAFF)
            if (at := line.text.find(word)) >= 0
        ]
        spans += [one for one in line.proposals if one.doubt == 0]
        apart = []
        for one in sorted(spans):
            if not apart or one.start >= apart[-1].end:
                apart.append(one)
        answers[line.number] = ReviewAnswer(line.number, "me", "", tuple(apart), False, 1.0)
    return answers


def numbered(lines, start=1):
    from dataclasses import replace

    return [replace(line, number=number) for number, line in enumerate(lines, start)]


def test_lines_are_of_the_notes_and_of_the_batch_asked_for(folder):
    refit = prepare(folder)
    lines = refit(ReviewState((), {}, frozenset(), 3, 200))
    assert lines
    assert {line.batch for line in lines} == {3}
    assert sum(len(line.text.split()) for line in lines) < 300
    texts = [
        one["note"] for one in __import__("csv").DictReader((folder.parent / "notes.csv").open())
    ]
    for line in lines:
        assert texts[line.document][line.start : line.end] == line.text


def test_what_was_read_is_not_asked_again_and_changes_the_order(folder):
    refit = prepare(folder)
    first = numbered(refit(ReviewState((), {}, frozenset(), 1, 200)))
    reading = ReviewState(first, answered(first), frozenset(), 2, 200)
    second = refit(reading)
    places = {(line.document, line.start) for line in first}
    assert not places & {(line.document, line.start) for line in second}
    assert list(second) != list(refit(ReviewState(first, {}, frozenset(), 2, 200)))


def test_at_the_end_the_kit_is_made_anew(folder):
    refit = prepare(folder)
    lines = numbered(refit(ReviewState((), {}, frozenset(), 1, 400)))
    before = StoredKit.load(folder)
    assert refit(ReviewState(lines, answered(lines), frozenset(), 2, 0)) == ()
    after = StoredKit.load(folder)
    assert after.id != before.id
    assert (before.facts["marks"], after.facts["marks"]) == ("proposed", "reviewed")
    assert after.facts["options"] == before.facts["options"]
    with pytest.warns(UserWarning, match="of which reviewers checked some lines"):
        voile.open_kit(folder).choose(knee=True)
