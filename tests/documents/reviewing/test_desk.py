"""What each key does to a line, and to the others."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import pytest
from tests.documents.reviewing.made import LETTER, found, letter, line, summers

from voile.core.errors import RequestError
from voile.documents.reviewing.desk import SHEET, KeyStroke, ReviewDesk
from voile.documents.reviewing.line import ReviewLine, ShownSpan
from voile.documents.reviewing.store import ReviewStore
from voile.localpage.guard import StaleError

Make = Callable[..., Path]


class Reader:
    """One reviewer at a desk."""

    def __init__(self, path: Path, name: str = "Eva", desk: ReviewDesk | None = None) -> None:
        self.now = 0.0
        self.desk = desk or ReviewDesk(
            ReviewStore.open(path), ["review", "census"], clock=lambda: self.now
        )
        self.store, self.name = self.desk.store, name

    def press(self, act: str, words: str = "", label: str = "") -> str:
        look = self.desk.look(self.name)
        if look is None:
            return self.desk.strike(self.name, KeyStroke(act, 0, 0))  # type: ignore[arg-type]
        place = (0, 0)
        if words:
            start = look.line.text.index(words)
            inside = [
                n for n, (a, b) in enumerate(look.words) if a < start + len(words) and b > start
            ]
            place = inside[0], inside[-1] + 1
        return self.desk.strike(
            self.name,
            KeyStroke(act, look.line.number, look.key, place, label),  # type: ignore[arg-type]
        )

    @property
    def sees(self) -> list[tuple[str, str]]:
        look = self.desk.look(self.name)
        assert look is not None
        return [(look.line.text[one.start : one.end], one.label) for one in look.spans]

    @property
    def at(self) -> int:
        look = self.desk.look(self.name)
        return look.line.number if look else 0


def test_enter_saves_what_is_shown_with_the_time_it_took_and_goes_on(made: Make) -> None:
    reader = Reader(made())
    assert reader.at == 1
    reader.now = 4.26
    reader.press("confirm")
    (answer,) = reader.store.answers()
    assert (answer.spans, answer.unsure, answer.seconds) == (letter().proposals, False, 4.3)
    assert reader.at == 2


def test_marking_and_clearing_are_there_after_a_restart(made: Make) -> None:
    reader = Reader(path := made())
    reader.press("mark", "020 7946 0123", "PHONE")
    reader.press("clear", "Summer")
    again = Reader(path)
    assert again.sees == [
        ("Amara Osei", "NAME"),
        ("020 7946 0123", "PHONE"),
        ("12/03/2024", "DATE"),
    ]
    assert reader.store.answers() == []


def test_undecided_is_an_answer_of_its_own(made: Make) -> None:
    reader = Reader(made())
    reader.press("unsure")
    assert [one.unsure for one in reader.store.answers()] == [True]
    assert reader.at == 2


def test_undo_goes_back_key_by_key_and_line_by_line(made: Make) -> None:
    reader = Reader(made())
    before = reader.sees
    reader.press("clear", "Summer")
    reader.press("confirm")
    reader.press("confirm")
    assert (reader.at, len(reader.store.answers())) == (3, 2)
    reader.press("undo")
    assert (reader.at, len(reader.store.answers())) == (2, 1)
    reader.press("undo")
    assert reader.at == 1
    assert reader.sees != before
    reader.press("undo")
    assert (reader.at, reader.sees) == (1, before)
    assert reader.press("undo") == "nothing to undo"


def test_all_the_same_gives_the_word_this_answer_in_waiting_lines_alone(made: Make) -> None:
    reader = Reader(made(*summers(1), letter(), *summers(2)))
    reader.press("confirm")
    reader.press("clear", "Summer")
    assert reader.press("all", "Summer") == "harmless everywhere: 2 other lines changed"
    for number in (3, 4):
        look = reader.store.shown_to(number, "Eva")
        assert look is not None
        assert look.spans == ()
    assert [len(one.spans) for one in reader.store.answers()] == [1]  # line 1, answered before
    reader.press("undo")
    assert reader.store.shown_to(3, "Eva") is None


def test_all_the_same_makes_a_doubtful_word_certain(made: Make) -> None:
    reader = Reader(made())
    reader.press("all", "Summer")
    look = reader.store.shown_to(2, "Eva")
    assert look is not None
    assert [(one.label, one.doubt) for one in look.spans] == [("NAME", 0.0)]


def test_never_a_name_holds_for_lines_that_come_later_and_is_undone(made: Make) -> None:
    reader = Reader(made())
    assert reader.press("never", "Summer") == "never an identifier: 3 other lines changed"
    reader.store.add(summers(1), batch=2)
    assert reader.store.never == {"Summer"}
    assert ("Summer", "NAME") not in reader.sees
    for _ in range(4):
        reader.press("confirm")
    assert (reader.at, reader.sees) == (5, [])
    for _ in range(5):
        reader.press("undo")
    assert reader.store.never == frozenset()
    assert ("Summer", "NAME") in reader.sees


def test_a_line_that_asks_about_one_word_is_answered_by_all_the_same(made: Make) -> None:
    words = [line("Summer", purpose="census"), line("May", purpose="census")]
    reader = Reader(made(*words, *words))
    reader.press("mark", "Summer", "NAME")
    reader.press("all", "Summer")
    reader.press("confirm")
    assert reader.at == 2
    reader.press("confirm")
    assert reader.at == 4
    assert {one.line: len(one.spans) for one in reader.store.answers()} == {1: 1, 2: 0, 3: 1}


def test_what_another_window_showed_is_refused(made: Make) -> None:
    reader = Reader(made())
    look = reader.desk.look("Eva")
    assert look is not None
    stale = KeyStroke("confirm", 1, look.key)
    reader.press("clear", "Summer")
    with pytest.raises(StaleError, match="another window"):
        reader.desk.strike("Eva", stale)
    with pytest.raises(RequestError, match="no such words"):
        reader.desk.strike(
            "Eva", KeyStroke("mark", 1, reader.store.last_key(1, "Eva"), (0, 99), "NAME")
        )
    assert reader.store.answers() == []


def test_reviewers_share_the_lines_and_each_undoes_their_own(made: Make) -> None:
    eva = Reader(made())
    bo = Reader(eva.store.path, "Bo", eva.desk)
    assert (eva.at, bo.at) == (1, 2)
    eva.press("confirm")
    bo.press("confirm")
    assert {eva.at, bo.at} == {3, 4}
    eva.press("undo")
    assert [one.reviewer for one in eva.store.answers()] == ["Bo"]


def test_two_readers_who_disagree_are_shown_each_others_marks_and_one_decides(made: Make) -> None:
    eva = Reader(made(letter(), *summers(1), readers="2"))
    bo = Reader(eva.store.path, "Bo", eva.desk)
    eva.press("clear", "Summer")
    for reader in (eva, eva, bo, bo):
        reader.press("confirm")
    look = bo.desk.look("Bo")
    assert look is not None
    assert (look.line.purpose, look.line.why) == ("adjudication", "Eva and Bo disagree.")
    marked = {LETTER[one.start : one.end]: (one.by, one.doubt) for one in look.spans}
    assert marked["Summer"] == ("Bo", 0.5)
    assert marked["Amara Osei"] == ("Eva and Bo", 0.0)
    bo.press("confirm")
    assert (eva.at, bo.at) == (0, 0)


def test_further_lines_come_when_none_waits_until_there_are_none(made: Make) -> None:
    store = ReviewStore.open(made(*summers(1)))
    reader = Reader(store.path, "Eva", in_turns(store, 1))
    reader.press("confirm")
    assert (reader.at, [one.batch for one in store.lines()]) == (2, [1, 2])
    reader.press("confirm")
    assert reader.at == 0


def in_turns(store: ReviewStore, *sizes: int) -> ReviewDesk:
    """Return a desk that is given further lines, so many at a time."""
    turns = [summers(size) for size in sizes]

    def more() -> bool:
        return bool(turns and store.add(turns.pop(0), batch=store.last_batch("review") + 1))

    return ReviewDesk(store, ["review"], more)


def test_what_further_lines_came_of_is_not_undone(made: Make) -> None:
    store = ReviewStore.open(made(*summers(2)))
    reader = Reader(store.path, "Eva", in_turns(store, 2))
    reader.press("confirm")
    reader.press("confirm")
    assert (reader.at, reader.press("undo"), reader.at) == (3, "nothing to undo", 3)
    reader.press("confirm")
    assert (reader.press("undo"), reader.at) == ("undone", 3)
    assert [one.line for one in store.answers()] == [1, 2]


def test_a_line_that_another_answered_is_closed_once_further_lines_came_of_it(made: Make) -> None:
    store = ReviewStore.open(made(*summers(1)))
    desk = in_turns(store, 2)
    eva, bo = Reader(store.path, "Eva", desk), Reader(store.path, "Bo", desk)
    assert (eva.at, bo.at) == (1, 1)
    bo.press("clear", "Summer")
    bo.press("confirm")
    assert bo.at == 2
    with pytest.raises(StaleError):
        desk.strike("Eva", KeyStroke("confirm", 1, 0))
    assert eva.at == 3
    assert [(one.line, one.reviewer) for one in store.answers()] == [(1, "Bo")]


def test_where_further_lines_come_of_all_answers_none_is_adjudicated(made: Make) -> None:
    store = ReviewStore.open(made(*summers(1)))
    desk = in_turns(store)
    eva, bo = Reader(store.path, "Eva", desk), Reader(store.path, "Bo", desk)
    assert (eva.at, bo.at) == (1, 1)
    eva.press("confirm")
    bo.press("clear", "Summer")
    bo.press("confirm")
    assert (eva.at, bo.at, len(store.lines())) == (0, 0, 1)


def test_lines_of_words_alone_are_read_as_they_stand(made: Make) -> None:
    reader = Reader(made(line("Ana", found("Ana", "Ana", "NAME")), line(" \n ")))
    reader.press("confirm")
    look = reader.desk.look("Eva")
    assert look is not None
    assert look.words == []
    reader.press("confirm")
    assert reader.at == 0


def asked(*words: str) -> list[ReviewLine]:
    return [line(word, purpose="census") for word in words]


def sheet(reader: Reader) -> list[int]:
    look = reader.desk.look(reader.name)
    assert look is not None
    return [look.line.number, *(x.line.number for x in reader.desk.sheet(look, reader.name))]


def confirm_sheet(reader: Reader, until: int) -> str:
    look = reader.desk.look(reader.name)
    assert look is not None
    stroke = KeyStroke("sheet", look.line.number, look.key, until=until)
    return reader.desk.strike(reader.name, stroke)


def test_words_asked_of_are_confirmed_together_and_undone_together(made: Make) -> None:
    reader = Reader(made(*asked(*"abcdefghijklmn")))
    assert sheet(reader) == [*range(1, SHEET + 1)]
    reader.now = 2.0 * SHEET
    assert confirm_sheet(reader, SHEET) == f"{SHEET} lines confirmed"
    assert sheet(reader) == [13, 14]
    assert [one.seconds for one in reader.store.answers()] == [2.0] * SHEET
    reader.press("undo")
    assert reader.store.answers() == []
    assert sheet(reader) == [*range(1, SHEET + 1)]


def test_only_what_was_shown_is_confirmed(made: Make) -> None:
    reader = Reader(made(*asked(*"abcd")))
    with pytest.raises(StaleError, match="another window"):
        confirm_sheet(reader, 3)
    assert reader.store.answers() == []


def test_a_sheet_ends_before_a_line_in_which_something_is_marked(made: Make) -> None:
    reader = Reader(made(*asked("a", "b", "May", "d")))
    reader.store.answer(3, "Eva", [ShownSpan(0, 3, "NAME")], final=False)
    assert sheet(reader) == [1, 2]


def test_reviewers_see_different_sheets(made: Make) -> None:
    eva = Reader(made(*asked(*"abcdefghijklmn")))
    bo = Reader(eva.store.path, "Bo", eva.desk)
    assert sheet(eva) == [*range(1, SHEET + 1)]
    assert sheet(bo) == [13, 14]
    confirm_sheet(bo, 14)
    assert confirm_sheet(eva, SHEET) == f"{SHEET} lines confirmed"


def test_a_line_that_is_read_as_a_whole_stands_alone(made: Make) -> None:
    assert sheet(Reader(made())) == [1]
