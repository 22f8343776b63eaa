"""Lines and answers on disk: what is saved is there, whatever happens; what is wrong is refused."""

from __future__ import annotations

import os
import signal
import sqlite3
import stat
import subprocess
import sys
from pathlib import Path

import pytest

from voile.core.errors import DamagedError, RequestError
from voile.documents.reviewing.store import ReviewAnswer, ReviewLine, ReviewStore, ShownSpan

TEXT = "Seen by Dr. Ana Ruiz on ward 4."
ANA = ShownSpan(12, 20, "NAME", "rule title", 0.4)


def line(text: str = TEXT, purpose: str = "review", **more: object) -> ReviewLine:
    return ReviewLine(0, 0, purpose, 3, 10, 10 + len(text), "before", text, "after", **more)  # type: ignore[arg-type]


@pytest.fixture
def store(tmp_path: Path) -> ReviewStore:
    return ReviewStore.create(tmp_path / "review.sqlite", meta={"fingerprint": "f", "goal": "1"})


def test_what_is_added_and_answered_is_there_when_opened_again(store: ReviewStore) -> None:
    added = store.add([line(proposals=(ANA,), why="near the cut", extra='{"p": 1}')], batch=2)
    store.answer(1, "Eva", [ANA], unsure=True, seconds=2.5)
    store.close()
    again = ReviewStore.open(store.path)
    assert again.lines() == added
    assert (added[0].number, added[0].batch, added[0].proposals) == (1, 2, (ANA,))
    (answer,) = again.answers()
    assert (answer.line, answer.reviewer, answer.spans) == (1, "Eva", (ANA,))
    assert (answer.unsure, answer.seconds) == (True, 2.5)
    assert again.meta == {"fingerprint": "f", "format": "1", "goal": "1"}


def test_lines_are_found_by_purpose_batch_and_who_may_answer_them(store: ReviewStore) -> None:
    store.add([line(), line(purpose="sample")], batch=1)
    store.add([line()], batch=2)
    store.answer(1, "Eva", [])

    def numbers(**asked: object) -> list[int]:
        return [one.number for one in store.lines(**asked)]  # type: ignore[arg-type]

    assert numbers(purpose="sample") == [2]
    assert numbers(batch=2) == [3]
    assert numbers(waiting_for="Eva") == numbers(waiting_for="Bo") == [2, 3]
    assert numbers(purpose="review", waiting_for="Eva") == [3]


def test_two_readers_each_answer_a_line_and_a_third_does_not(tmp_path: Path) -> None:
    store = ReviewStore.create(tmp_path / "two.sqlite", meta={"readers": "2"})
    store.add([line(), line(purpose="adjudication")], batch=1)
    for number in (1, 2):
        store.answer(number, "Eva", [])
    assert [one.number for one in store.lines(waiting_for="Bo")] == [1]
    store.answer(1, "Bo", [ANA])
    assert store.lines(waiting_for="Cy") == []


def test_the_last_answer_of_each_reviewer_holds(store: ReviewStore) -> None:
    store.add([line()], batch=1)
    store.answer(1, "Eva", [])
    store.answer(1, "Bo", [])
    store.answer(1, "Eva", [ANA])
    assert [(one.reviewer, one.spans) for one in store.answers()] == [("Bo", ()), ("Eva", (ANA,))]
    assert store.answers(purpose="sample") == []


def test_undo_deletes_the_reviewers_own_last_stroke(store: ReviewStore) -> None:
    store.add([line(), line()], batch=1)
    store.answer(1, "Eva", [ANA], final=False)
    store.answer(1, "Eva", [ANA])
    store.answer(2, "Bo", [])
    undone = store.undo("Eva")
    assert undone is not None
    assert undone.number == 1
    assert [one.reviewer for one in store.answers()] == ["Bo"]
    shown = store.shown_to(1, "Eva")
    assert shown is not None
    assert shown.spans == (ANA,)
    assert store.undo("Eva") == undone
    assert store.shown_to(1, "Eva") is None
    assert store.undo("Eva") is None


def test_a_stroke_over_several_lines_is_undone_as_one(store: ReviewStore) -> None:
    store.add([line(), line(), line()], batch=1)
    store.answer(3, "Eva", [])
    looks = [
        (ReviewAnswer(number, "Eva", "", (ANA,), False, 0.0), number == 2) for number in (2, 1)
    ]
    store.answer_all(looks, never="ward")
    assert store.never == {"ward"}
    assert [one.line for one in store.answers()] == [3, 2]
    undone = store.undo("Eva")
    assert undone is not None
    assert undone.number == 2
    assert (store.never, store.shown_to(1, "Eva")) == (frozenset(), None)
    assert [one.line for one in store.answers()] == [3]


def test_a_line_that_another_has_open_comes_last(store: ReviewStore) -> None:
    store.add([line(), line(purpose="census"), line()], batch=1)

    def next_for(*open: int) -> int | None:
        found = store.next_for("Eva", ["review"], open)
        return found and found.number

    assert (next_for(), next_for(1), next_for(1, 3)) == (1, 3, 1)
    store.answer(1, "Bo", [])
    store.answer(3, "Eva", [])
    assert next_for() is None


def test_a_number_of_a_key_never_comes_twice(store: ReviewStore) -> None:
    store.add([line()], batch=1)
    store.answer(1, "Eva", [], final=False)
    first = store.last_key(1, "Eva")
    store.undo("Eva")
    store.answer(1, "Eva", [ANA], final=False)
    assert 0 < first < store.last_key(1, "Eva")
    assert store.last_key(1, "Bo") == 0


def test_a_stroke_that_is_not_final_is_saved_and_the_line_waits_on(store: ReviewStore) -> None:
    store.add([line()], batch=1)
    store.answer(1, "Eva", [ANA], final=False)
    assert store.answers() == []
    assert len(ReviewStore.open(store.path).lines(waiting_for="Eva")) == 1


@pytest.mark.parametrize(
    "spans",
    [[ShownSpan(3, 3, "NAME")], [ShownSpan(0, 99, "NAME")], [ANA, ANA], [ShownSpan(0, 4, "")]],
)
def test_spans_outside_the_line_over_another_or_without_a_type_are_refused(
    store: ReviewStore, spans: list[ShownSpan]
) -> None:
    store.add([line()], batch=1)
    with pytest.raises(RequestError, match="the span"):
        store.answer(1, "Eva", spans)
    with pytest.raises(RequestError, match="the span"):
        store.add([line(), line(proposals=tuple(spans))], batch=2)
    assert store.answers() == []
    assert len(store.lines()) == 1


def test_a_line_that_is_not_there_is_refused(store: ReviewStore) -> None:
    with pytest.raises(RequestError, match="there is no line 7"):
        store.answer(7, "Eva", [])


def test_a_review_is_not_written_over_and_others_may_not_read_it(store: ReviewStore) -> None:
    assert stat.S_IMODE(store.path.stat().st_mode) == 0o600
    with pytest.raises(RequestError, match="holds a review already"):
        ReviewStore.create(store.path, meta={})


def test_the_review_of_other_notes_is_refused(store: ReviewStore) -> None:
    store.check_notes("f")
    with pytest.raises(RequestError, match="of other notes"):
        store.check_notes("g")


def test_a_review_of_another_version_is_refused(store: ReviewStore) -> None:
    store.note("format", "0")
    store.close()
    with pytest.raises(RequestError, match="another version of voile"):
        ReviewStore.open(store.path)


def test_no_review_is_refused(tmp_path: Path) -> None:
    with pytest.raises(RequestError, match="there are no answers"):
        ReviewStore.open(tmp_path / "review.sqlite")


@pytest.mark.parametrize("kept", [0, 50, 5_000])
def test_a_damaged_file_is_refused_in_one_sentence(store: ReviewStore, kept: int) -> None:
    store.add([line(TEXT * 50)] * 40, batch=1)
    store.close()
    raw = store.path.read_bytes()
    store.path.write_bytes(raw[:kept] + b"\x7f" * (len(raw) - kept))
    with pytest.raises(
        DamagedError, match=r"review\.sqlite: is damaged, or holds no answers of voile's; put a"
    ):
        ReviewStore.open(store.path)


def test_an_empty_file_is_refused(tmp_path: Path) -> None:
    (tmp_path / "review.sqlite").write_bytes(b"")
    with pytest.raises(DamagedError, match="is damaged, or holds no answers"):
        ReviewStore.open(tmp_path / "review.sqlite")


def test_rows_that_make_no_sense_are_refused(store: ReviewStore) -> None:
    store.add([line()], batch=1)
    with sqlite3.connect(store.path) as other:
        other.execute("UPDATE lines SET proposals = '[[1]'")
    with pytest.raises(DamagedError):
        store.lines()


WRITER = """
import sys
from voile.documents.reviewing.store import ReviewStore
store = ReviewStore.open(sys.argv[1])
for number in range(1, 1000):
    store.answer(number, "Eva", [], seconds=number)
    print(number, flush=True)
"""


def test_every_answer_that_was_returned_from_survives_a_kill(store: ReviewStore) -> None:
    store.add([line()] * 1000, batch=1)
    store.close()
    command = [sys.executable, "-c", WRITER, str(store.path)]
    with subprocess.Popen(command, stdout=subprocess.PIPE, text=True) as writer:
        assert writer.stdout is not None
        said = [int(writer.stdout.readline()) for _ in range(20)]
        os.kill(writer.pid, signal.SIGKILL)
        said += [int(rest) for rest in writer.stdout.read().split()]
    found = [one.line for one in ReviewStore.open(store.path).answers()]
    assert found[: len(said)] == said
    assert len(found) <= len(said) + 1
