"""The page as reviewers and their adversaries meet it, in the system's Chromium."""

from __future__ import annotations

import http.server
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from threading import Thread
from typing import Any

import pytest
from axe_playwright_python.sync_playwright import Axe
from playwright.sync_api import Browser, BrowserContext, Locator, Page, expect
from tests.documents.reviewing.made import LETTER, Served, found, letter, line, served, summers

from voile.documents.reviewing.store import Store

pytestmark = [pytest.mark.browser, pytest.mark.whole]
Make = Callable[..., Path]
NASTY = (
    "<script>window.hacked=1</script><img src=x onerror='window.hacked=1'> {{7*7}} "
    "\u202edrawkcab\u202c \u200bhidden\x00 </span><style>*{display:none}</style> javascript:x()"
)


class Window:
    """A browser's window at the page, keeping every request, message and error of its own."""

    def __init__(self, context: BrowserContext) -> None:
        self.page: Page = context.new_page()
        self.requests: list[str] = []
        self.messages: list[str] = []
        self.page.on("request", lambda request: self.requests.append(request.url))
        self.page.on("console", lambda message: self.messages.append(message.text))
        self.page.on("pageerror", lambda error: self.messages.append(str(error)))

    def open(self, address: str) -> None:
        self.page.goto(address)
        expect(self.page.locator("#title, #task").locator("visible=true")).not_to_have_text(
            "Opening the review"
        )

    def press(self, *keys: str) -> None:
        for key in keys:
            self.page.keyboard.press(key)

    @property
    def cursor(self) -> Locator:
        return self.page.locator(".word.cursor")

    @property
    def marks(self) -> list[str]:
        """The marked words, each with its type."""
        both = self.page.locator("#line .mark").evaluate_all(
            "(all) => all.map((one) => [one.innerText, one.querySelector('.tag').innerText])"
        )
        return [f"{text.removesuffix(tag)} {tag}" for text, tag in both]

    def expect_marks(self, *marks: str) -> None:
        """Wait until these are the marked words."""
        end = time.monotonic() + 10
        while self.marks != list(marks):
            assert time.monotonic() < end, self.marks
            self.page.wait_for_timeout(20)


@pytest.fixture
def window(chromium: Browser) -> Iterator[Callable[..., Window]]:
    contexts: list[BrowserContext] = []

    def make(**options: Any) -> Window:
        contexts.append(chromium.new_context(**options))
        return Window(contexts[-1])

    yield make
    for context in contexts:
        context.close()


@pytest.fixture
def serving(made: Make) -> Iterator[Served]:
    with served(made(), "Eva", "Bo") as server:
        yield server


@pytest.fixture
def eva(serving: Served, window: Callable[..., Window]) -> Window:
    opened = window()
    opened.open(serving.addresses["Eva"])
    return opened


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


def test_markup_scripts_and_directions_of_a_note_are_shown_and_not_obeyed(
    made: Make, window: Callable[..., Window]
) -> None:
    shown = found(NASTY, "drawkcab", "NAME", NASTY, 0.9)
    hostile = line(NASTY, shown, before=NASTY, after=NASTY, why=NASTY)
    with served(made(hostile), "Eva", types=["NAME", "<b>TYPE</b>"]) as server:
        eva = window()
        eva.open(server.addresses["Eva"])
        text = eva.page.locator("#line").inner_text()
        for part in ("<script>", "⟨U+202E⟩", "⟨U+200B⟩", "⟨U+0000⟩", "</span>", "{{7*7}}"):
            assert part in text
        assert "\u202e" not in eva.page.content()
        assert eva.page.evaluate("window.hacked") is None
        assert eva.page.locator("#desk img, #desk script, #desk style").count() == 0
        eva.press("a", "Enter")
        expect(eva.page.locator("#title")).to_have_text("Nothing is left to read")
        assert {one.rsplit("/", 1)[0] for one in eva.requests} == {server.origin}
        assert eva.messages == []


def test_the_token_leaves_the_address_and_the_title_and_addresses_hold_no_text(
    eva: Window, serving: Served
) -> None:
    token = serving.addresses["Eva"].split("#")[1]
    eva.press("Space", "Enter")
    expect(eva.page.locator("#standing")).to_contain_text("3 lines")
    assert eva.page.url == f"{serving.origin}/"
    assert eva.page.title() == "Review · voile"
    asked = {one.removeprefix(serving.origin) for one in eva.requests} - {"/icon.svg"}
    scripts = {"/page.js", "/view.js", "/keys.js", "/cursor.js"}
    assert asked == {"/", "/page.css", "/session", "/screen", "/stroke", *scripts}
    assert eva.page.evaluate("history.length") <= 2
    eva.page.reload()
    eva.page.wait_for_selector("#line .word")
    assert token not in eva.page.evaluate("[location.href, document.cookie].join()")


def test_an_address_that_was_used_says_so_and_shows_nothing(
    eva: Window, serving: Served, window: Callable[..., Window]
) -> None:
    thief = window()
    thief.page.goto(serving.addresses["Eva"])
    expect(thief.page.locator("#title")).to_have_text("This address was used before")
    thief.page.goto(f"{serving.origin}/?again")
    expect(thief.page.locator("#title")).to_have_text("Open the address that voile printed")
    assert "Osei" not in thief.page.content()


HOSTILE = """<!doctype html><iframe id=frame src="{origin}/"></iframe>
<form id=form action="{origin}/stroke" method=post enctype="text/plain">
<input name='{{"act":"confirm","line":1,"key":0,"label":"' value='"}}'></form>
<script>
window.tried = (async () => {{
  const tries = [
    fetch("{origin}/screen", {{credentials: "include"}}),
    fetch("{origin}/screen", {{credentials: "include", mode: "no-cors"}}).then((r) => r.text()),
    fetch("{origin}/stroke", {{method: "POST", credentials: "include", mode: "no-cors",
      body: JSON.stringify({{act: "confirm", line: 1, key: 0}})}}).then((r) => r.text()),
    import("{origin}/page.js"),
  ];
  return (await Promise.allSettled(tries)).map((one) => one.value ? String(one.value) : "");
}})();
</script>"""


@contextmanager
def hostile_page(origin: str) -> Iterator[str]:
    """Serve a page of another origin on this machine."""

    class Handler(http.server.BaseHTTPRequestHandler):
        def do_GET(self) -> None:
            self.send_response(200)
            self.send_header("Content-Type", "text/html")
            self.end_headers()
            self.wfile.write(HOSTILE.format(origin=origin).encode())

        def log_message(self, *_: object) -> None:
            """Say nothing."""

    server = http.server.ThreadingHTTPServer(("127.0.0.1", 0), Handler)
    Thread(target=server.serve_forever, daemon=True).start()
    yield f"http://localhost:{server.server_port}/"
    server.shutdown()


def test_a_hostile_page_in_the_same_browser_reads_and_changes_nothing(
    eva: Window, serving: Served
) -> None:
    with hostile_page(serving.origin) as address:
        rogue = eva.page.context.new_page()
        rogue.goto(address)
        assert rogue.evaluate("window.tried") == ["", "", "", ""]
        frame = rogue.frames[1]
        assert "Osei" not in frame.content()
        assert frame.locator("#line").count() == 0
        rogue.locator("#form").evaluate("(form) => form.submit()")
        rogue.wait_for_url(f"{serving.origin}/stroke")
        assert "refused: it comes from another page" in rogue.content()
    assert serving.store.answers() == []
    eva.press("Enter")
    expect(eva.page.locator("#standing")).to_contain_text("3 lines")


def test_another_name_that_leads_to_this_machine_shows_nothing(
    serving: Served, chromium: Browser
) -> None:
    rebound = chromium.browser_type.launch(
        executable_path="/usr/bin/chromium",
        args=["--no-sandbox", "--host-resolver-rules=MAP evil.example 127.0.0.1"],
    )
    page = rebound.new_page()
    page.goto(f"http://evil.example:{serving.port}/#{serving.addresses['Eva'].split('#')[1]}")
    assert "this server has another name" in page.content()
    rebound.close()
    assert serving.screen("Eva")["state"] == "line"  # the token was not spent


def test_two_windows_of_one_reviewer_do_not_overwrite_each_other(
    eva: Window, serving: Served
) -> None:
    other = Window(eva.page.context)
    other.open(f"{serving.origin}/")
    eva.press("Space")
    eva.expect_marks("Amara Osei NAME · staff.surname", "12/03/2024 DATE")
    other.press("Enter")
    expect(other.page.locator("#said")).to_contain_text("changed in another window")
    other.expect_marks("Amara Osei NAME · staff.surname", "12/03/2024 DATE")
    assert serving.store.answers() == []


def test_reviewers_who_disagree_decide_on_the_page(
    made: Make, window: Callable[..., Window]
) -> None:
    with served(made(letter(), readers="2"), "Eva", "Bo") as server:
        eva, bo = window(), window()
        eva.open(server.addresses["Eva"])
        bo.open(server.addresses["Bo"])
        eva.press("Space", "Enter")
        expect(eva.page.locator("#title")).to_have_text("Nothing is left to read")
        bo.press("Enter")
        expect(bo.page.locator("#task")).to_have_text("Reviewers disagree: which is right?")
        expect(bo.page.locator("#why")).to_have_text("Eva and Bo disagree.")
        expect(bo.page.locator("#at")).to_have_text("NAME, marked by Bo, doubtful: 50% likely")
        expect(bo.page.locator("#standing")).to_contain_text("reviewers agree on 0 of 1")
        bo.press("Enter")
        expect(bo.page.locator("#title")).to_have_text("Nothing is left to read")


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
    look = Store.open(path).shown_to(1, "Eva")
    assert look is not None
    assert len(look.spans) == 2
