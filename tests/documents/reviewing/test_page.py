"""The page as reviewers use it, in the system's Chromium."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from threading import Event
from typing import Any

import pytest
from axe_playwright_python.sync_playwright import Axe
from playwright.sync_api import expect
from tests.documents.reviewing.made import LETTER, Served, letter, line, served, summers
from tests.documents.reviewing.window import Window

from voile.documents.reviewing.store import ReviewStore

pytestmark = [pytest.mark.browser, pytest.mark.whole]
Make = Callable[..., Path]


def test_a_line_shows_what_is_proposed_doubted_and_known_and_why(eva: Window) -> None:
    page = eva.page
    assert page.locator("#line").inner_text().replace("\xa0", " ").startswith("Seen by Dr.")
    eva.expect_marks("Amara Osei NAME · staff.surname", "Summer NAME", "12/03/2024 DATE")
    assert page.locator("#line .known .word").all_inner_texts() == ["Amara", "Osei"]
    assert page.locator("#line .doubtful .word").all_inner_texts() == ["Summer"]
    assert page.locator(".near").all_inner_texts()[0].startswith("Discharge letter")
    expect(page.locator("#why")).to_have_text("Near the cut.")
    expect(page.locator("#standing")).to_have_text("0 of 43 words read · 4 lines at hand")
    expect(eva.cursor).to_have_text("Summer")  # where a reviewer is needed
    expect(page.locator("#at")).to_have_text(
        "NAME, proposed by pass 1, consensus, doubtful: 30% likely"
    )


def test_the_keyboard_alone_reviews_every_line(eva: Window, serving: Served) -> None:
    eva.press("Space")  # not a name
    eva.expect_marks("Amara Osei NAME · staff.surname", "12/03/2024 DATE")
    eva.press("ArrowRight", "ArrowRight", "ArrowRight", "Shift+ArrowRight", "Shift+ArrowRight", "3")
    eva.expect_marks("Amara Osei NAME · staff.surname", "020 7946 0123 PHONE", "12/03/2024 DATE")
    eva.press("ArrowUp")
    expect(eva.cursor).to_have_text("Amara")
    eva.press("ArrowRight", "Backspace")
    eva.expect_marks("Amara NAME · staff.surname", "020 7946 0123 PHONE", "12/03/2024 DATE")
    eva.press("u", "Enter")
    expect(eva.cursor).to_have_text("Summer")
    eva.press("Enter", "?", "n")
    expect(eva.page.locator("#line .mark")).to_have_count(0)
    eva.press("Enter")
    expect(eva.page.locator("#title")).to_have_text("Nothing is left to read")
    expect(eva.page.locator("#standing")).to_have_text("43 words read")
    answers = {one.line: one for one in serving.store.answers()}
    text = {(one.label, LETTER[one.start : one.end]) for one in answers[1].spans}
    assert text == {("NAME", "Amara Osei"), ("PHONE", "020 7946 0123"), ("DATE", "12/03/2024")}
    assert [answers[number].unsure for number in (2, 3, 4)] == [False, True, False]
    assert serving.store.never == {"Summer"}
    assert eva.messages == []


def test_all_the_same_undo_and_the_end(eva: Window, serving: Served) -> None:
    eva.press("Space", "a")
    expect(eva.page.locator("#said")).to_have_text("Harmless everywhere: 3 other lines changed.")
    eva.press("Enter")
    expect(eva.page.locator("#line .mark")).to_have_count(0)
    eva.press("u", "u", "u")
    eva.expect_marks("Amara Osei NAME · staff.surname", "Summer NAME", "12/03/2024 DATE")
    eva.press("u")
    expect(eva.page.locator("#said")).to_have_text("Nothing to undo.")
    for _ in range(4):
        eva.press("Enter")
    expect(eva.page.locator("#title")).to_have_text("Nothing is left to read")
    eva.press("Enter")
    expect(eva.page.locator("#title")).to_have_text("Finished")
    assert len(serving.store.answers()) == 4


def test_keys_pressed_at_once_all_arrive_in_their_order(
    made: Make, window: Callable[..., Window]
) -> None:
    with served(made(*summers(30)), "Eva") as server:
        eva = window()
        eva.open(server.addresses["Eva"])
        keys = ["Space", "Enter"] * 30
        eva.page.evaluate(
            """(keys) => keys.forEach((key) => document.activeElement.dispatchEvent(
                new KeyboardEvent("keydown", {key: key.replace("Space", " "), bubbles: true})))""",
            keys,
        )
        expect(eva.page.locator("#title")).to_have_text("Nothing is left to read", timeout=20_000)
        assert [(one.line, one.spans) for one in server.store.answers()] == [
            (number, ()) for number in range(1, 31)
        ]


def test_a_held_key_confirms_one_line(eva: Window, serving: Served) -> None:
    eva.page.keyboard.down("Enter")
    expect(eva.page.locator("#place")).to_have_text("Document 4")
    for _ in range(5):
        eva.page.keyboard.down("Enter")  # the browser says that it repeats
    eva.page.keyboard.up("Enter")
    eva.press("u")
    expect(eva.page.locator("#said")).to_have_text("Undone.")
    assert serving.store.answers() == []


def test_more_types_than_digits_are_chosen_in_a_dialog(
    made: Make, window: Callable[..., Window]
) -> None:
    types = [f"TYPE_{number}" for number in range(1, 13)]
    with served(made(line("Ana left.")), "Eva", types=types) as server:
        eva = window()
        eva.open(server.addresses["Eva"])
        eva.press("0")
        eva.page.locator("#choice").get_by_text("TYPE_12").press("Enter")
        eva.expect_marks("Ana TYPE_12")
        eva.press("ArrowRight", "Space")  # the last type again
        eva.expect_marks("Ana TYPE_12", "left TYPE_12")
        eva.press("h")
        expect(eva.page.locator("#help")).to_be_visible()
        eva.press("Escape", "Enter")
        expect(eva.page.locator("#title")).to_have_text("Nothing is left to read")


def test_pointer_and_touch_do_what_keys_do(serving: Served, window: Callable[..., Window]) -> None:
    eva = window(viewport={"width": 390, "height": 844}, has_touch=True)
    eva.open(serving.addresses["Eva"])
    word = eva.page.locator(".word", has_text="Seen")
    word.tap()
    expect(word).to_have_class("word cursor")
    word.tap()
    others = ["Amara Osei NAME · staff.surname", "Summer NAME", "12/03/2024 DATE"]
    eva.expect_marks("Seen NAME", *others)
    eva.page.locator("#types").get_by_text("DATE").tap()
    eva.expect_marks("Seen DATE", *others)
    eva.page.get_by_role("button", name="Undo").tap()
    eva.expect_marks("Seen NAME", *others)
    eva.page.get_by_role("button", name="Confirm").tap()
    expect(eva.page.locator("#standing")).to_contain_text("3 lines")


def test_a_screen_reader_hears_what_each_word_is_and_what_happened(eva: Window) -> None:
    page = eva.page
    box = page.get_by_role("listbox", name="The line, word by word")
    expect(box).to_be_focused()
    active = page.locator(f"#{box.get_attribute('aria-activedescendant')}")
    assert active.get_attribute("aria-selected") == "true"
    name = active.get_attribute("aria-label")
    assert name == "Summer: NAME, proposed by pass 1, consensus, doubtful: 30% likely"
    known = page.get_by_role("option", name="Amara: NAME, known from column staff.surname")
    expect(known).to_have_count(1)
    expect(page.locator("#heard")).to_have_text(LETTER)
    eva.press("Shift+ArrowRight")
    assert page.locator("[aria-selected=true]").all_inner_texts() == ["Summer", ";"]
    eva.press("Space")
    expect(page.locator("#said")).to_have_text("Marked NAME.")


@pytest.mark.parametrize(
    ("width", "scheme"), [(390, "dark"), (390, "light"), (1280, "dark"), (1280, "light")]
)
def test_no_accessibility_fault(
    serving: Served, window: Callable[..., Window], width: int, scheme: Any
) -> None:
    eva = window(viewport={"width": width, "height": 844}, color_scheme=scheme)
    eva.open(serving.addresses["Eva"])

    def faults() -> list[Any]:
        found = Axe().run(eva.page).response["violations"]
        return [(one["id"], [node["html"][:120] for node in one["nodes"]]) for one in found]

    assert faults() == []
    eva.press("h")
    expect(eva.page.locator("#help")).to_be_visible()
    assert faults() == []
    eva.press("Escape", *["Enter"] * 4)
    expect(eva.page.locator("#title")).to_have_text("Nothing is left to read")
    assert faults() == []


@pytest.mark.parametrize("width", [320, 390])
def test_nothing_overflows_a_narrow_window(
    made: Make, window: Callable[..., Window], width: int
) -> None:
    long = "A" * 5000 + " " + "word " * 400
    types = [f"A_VERY_LONG_TYPE_{number}" for number in range(9)]
    with served(made(line(long, before=long, after=long), letter()), "Eva", types=types) as server:
        eva = window(viewport={"width": width, "height": 844})
        eva.open(server.addresses["Eva"])
        for _ in range(2):
            assert eva.page.evaluate("document.documentElement.scrollWidth") <= width
            expect(eva.page.get_by_role("button", name="Confirm")).to_be_in_viewport()
            eva.press("Enter")


@pytest.mark.parametrize(("width", "height"), [(320, 600), (390, 844), (1280, 720)])
def test_a_sheet_of_lines_can_be_confirmed_without_scrolling(
    made: Make, window: Callable[..., Window], width: int, height: int
) -> None:
    beside = "word " * 20
    sheet = [line("Ana", before=beside, after=beside, purpose="census")] * 24
    with served(made(*sheet), "Eva", purposes=["census"]) as server:
        eva = window(viewport={"width": width, "height": height})
        eva.open(server.addresses["Eva"])
        for lines in ("24 lines", "12 lines"):
            expect(eva.page.locator("#standing")).to_contain_text(lines)
            for name in ("Enter Confirm", "Shift Enter Confirm all 12"):
                button = eva.page.get_by_role("button", name=name, exact=True)
                expect(button).to_be_in_viewport(ratio=1)
            expect(eva.page.locator("#task")).to_be_in_viewport()
            eva.page.evaluate("scrollTo(0, document.body.scrollHeight)")
            eva.press("Shift+Enter")
        expect(eva.page.locator("#title")).to_have_text("Nothing is left to read")


def test_no_word_stays_on_the_page_once_it_is_read(eva: Window) -> None:
    eva.press(*["Enter"] * 4)
    expect(eva.page.locator("#title")).to_have_text("Nothing is left to read")
    assert "Summer" not in eva.page.locator("body").evaluate("(body) => body.textContent")


def test_keys_wait_while_the_next_lines_are_chosen(
    made: Make, window: Callable[..., Window]
) -> None:
    """What is pressed at a line that is answered already is not an answer to the next."""
    path = made(line("Ana left.", purpose="census"))
    gate, added = Event(), []

    def more() -> bool:
        gate.wait(30)
        if not added:
            added.extend(server.store.add([line("Eva came.", purpose="census")] * 2, batch=2))
        return len(server.store.answers()) < 3

    with served(path, "Eva", purposes=["census"], more=more) as server:
        eva = window()
        eva.open(server.addresses["Eva"])
        eva.press("Enter")
        expect(eva.page.locator("#said")).to_have_text("Saved. The next lines come in a moment.")
        eva.press("Enter", "Space", "Shift+Enter")
        gate.set()
        expect(eva.page.locator("#line")).to_have_text("Eva came.")
        expect(eva.page.locator("#desk")).to_have_attribute("aria-busy", "false")
        assert len(server.store.answers()) == 1
        eva.press("Enter")
        expect(eva.page.locator("#standing")).to_contain_text("1 line at hand")
        assert len(server.store.answers()) == 2


def test_keys_are_shown_from_the_first_on_a_telephone(
    serving: Served, window: Callable[..., Window]
) -> None:
    eva = window(viewport={"width": 390, "height": 600})
    eva.open(serving.addresses["Eva"])
    eva.press("h")
    expect(eva.page.locator("#keys")).to_be_in_viewport()


def test_a_long_line_follows_the_cursor_and_answers_quickly(
    made: Make, window: Callable[..., Window]
) -> None:
    with served(made(line("word " * 3000)), "Eva") as server:
        eva = window()
        eva.open(server.addresses["Eva"])
        eva.press("End", "Space")
        expect(eva.cursor).to_be_in_viewport()
        eva.expect_marks("word NAME")
        expect(eva.cursor).to_have_id("word-2999")


def test_reviewers_who_disagree_decide_on_the_page(
    made: Make, window: Callable[..., Window]
) -> None:
    with served(made(letter(), readers="2"), "Eva", "Bo") as server:
        eva, bo = window(), window()
        eva.open(server.addresses["Eva"])
        bo.open(server.addresses["Bo"])
        eva.press("Space", "Enter")
        expect(eva.page.locator("#title")).to_have_text("Nothing is left for you to read")
        eva.press("Enter")  # looks again: it does not end it while Bo reads
        eva.page.wait_for_timeout(500)
        expect(eva.page.locator("#title")).to_have_text("Nothing is left for you to read")
        bo.press("Enter")
        expect(bo.page.locator("#task")).to_have_text("Reviewers disagree: which is right?")
        expect(bo.page.locator("#why")).to_have_text("Eva and Bo disagree.")
        expect(bo.page.locator("#at")).to_have_text("NAME, marked by Bo, doubtful: 50% likely")
        expect(bo.page.locator("#standing")).to_contain_text("reviewers agree on 0 of 1")
        bo.press("Enter")
        expect(bo.page.locator("#title")).to_have_text("Nothing is left to read")
        eva.press("Enter")
        expect(eva.page.locator("#title")).to_have_text("Nothing is left to read")


def test_when_voile_has_stopped_the_page_says_so_and_what_is_saved(
    made: Make, window: Callable[..., Window]
) -> None:
    with served(path := made(), "Eva") as server:
        eva = window()
        eva.open(server.addresses["Eva"])
        eva.press("Space")
        expect(eva.page.locator("#line .mark")).to_have_count(2)
    eva.press("Enter")
    expect(eva.page.locator("#title")).to_have_text("voile has stopped")
    eva.press("Enter", "u")
    look = ReviewStore.open(path).shown_to(1, "Eva")
    assert look is not None
    assert len(look.spans) == 2
