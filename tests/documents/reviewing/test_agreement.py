"""What holds of a line that several reviewers answered."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

from tests.documents.reviewing.made import LETTER, found, letter, summers

from voile.documents.reviewing.agreement import adjudicate, agreement, settle_answers
from voile.documents.reviewing.store import ReviewStore

ANA, DAY = found(LETTER, "Amara Osei", "NAME"), found(LETTER, "12/03/2024", "DATE")


def test_one_answer_holds_and_so_do_two_that_agree(made: Callable[..., Path]) -> None:
    store = ReviewStore.open(made())
    store.answer(1, "Eva", [ANA])
    assert settle_answers(store, "review")[1].spans == (ANA,)
    store.answer(1, "Bo", [found(LETTER, "Amara Osei", "NAME", "rule title", 0.3)])
    assert [*settle_answers(store, "review")] == [1]
    assert agreement(store, ["review"]) == (1, 1)
    assert adjudicate(store, ["review"]) == []


def test_answers_that_differ_hold_for_nobody_until_one_decides(made: Callable[..., Path]) -> None:
    store = ReviewStore.open(made(letter(), *summers(1), readers="2"))
    store.answer(1, "Eva", [ANA])
    store.answer(1, "Bo", [ANA, DAY])
    store.answer(2, "Eva", [], unsure=True)
    store.answer(2, "Bo", [])
    assert settle_answers(store, "review") == {}
    assert agreement(store, ["review"]) == (0, 2)
    first, second = adjudicate(store, ["review"])
    assert adjudicate(store, ["review"]) == []
    assert second.why == "Eva and Bo disagree; Eva could not decide."
    store.answer(first.number, "Cy", [DAY])
    assert {line: one.spans for line, one in settle_answers(store, "review").items()} == {1: (DAY,)}
    assert settle_answers(store, "census") == {}


def test_spans_that_cross_are_shown_once_the_commoner_first(made: Callable[..., Path]) -> None:
    store = ReviewStore.open(made(letter(), readers="3"))
    whole = found(LETTER, "Dr. Amara Osei", "NAME")
    for name, spans in {"Eva": [whole], "Bo": [ANA], "Cy": [ANA]}.items():
        store.answer(1, name, spans)
    (dispute,) = adjudicate(store, ["review"])
    (shown,) = dispute.proposals
    assert (shown.start, shown.end, shown.by) == (ANA.start, ANA.end, "Bo and Cy")
    assert round(shown.doubt, 3) == 0.333
