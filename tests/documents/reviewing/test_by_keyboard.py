"""A review from the command to a new kit, by keyboard alone, on a desk and at a phone's width."""

from __future__ import annotations

import json
import re
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from axe_playwright_python.sync_playwright import Axe
from playwright.sync_api import Browser, Page, expect
from tests.documents.model.start.made import FAMILY, GIVEN, STAFF
from tests.documents.reviewing.command import started

from voile.documents.reviewing.store import ReviewStore
from voile.release.kit import StoredKit

pytestmark = [pytest.mark.browser, pytest.mark.whole]
NAMES = {*GIVEN, *FAMILY, *(one.split()[1] for one in STAFF)}
CORRECTED = 5
"""Lines that are corrected word by word; of the others all is confirmed."""


class Keys:
    """Somebody who has no pointer."""

    def __init__(self, page: Page) -> None:
        self.page = page

    def press(self, *keys: str) -> None:
        for key in keys:
            self.page.keyboard.press(key)

    def words(self) -> list[tuple[str, bool]]:
        """Return each word of the line, and whether it is marked."""
        found = self.page.locator("#line .word").evaluate_all(
            "(all) => all.map((one) => [one.innerText, one.closest('.mark') !== null])"
        )
        return [(text, marked) for text, marked in found]

    def correct(self) -> set[str]:
        """Mark what identifies, clear the rest, and return the words that identify."""
        self.press("Home")
        for at, (word, _) in enumerate(self.words()):
            if self.words()[at][1] != identifies(word):
                self.press("Space" if identifies(word) else "Backspace")
                expect(self.page.locator("#said")).not_to_be_empty()
                self.page.wait_for_function(IS_MARKED, arg=[at, identifies(word)])
            self.press("ArrowRight")
        assert self.words() == [(word, identifies(word)) for word, _ in self.words()]
        return {word for word, _ in self.words() if identifies(word)}

    def confirm(self) -> None:
        """Go on, and wait for the next line or the end."""
        before = self.page.locator("#standing").inner_text()
        self.press("Enter")
        expect(self.page.locator("#standing")).not_to_have_text(before)
        waiting = re.compile("Learning from your answers|Choosing the first lines")
        expect(self.page.locator("#title", has_text=waiting)).to_be_hidden(timeout=120_000)

    @property
    def is_reading(self) -> bool:
        return self.page.locator("#desk").is_visible()


IS_MARKED = """([at, marked]) =>
    (document.querySelectorAll("#line .word")[at].closest(".mark") !== null) === marked"""
"""Whether the page shows a word as it was marked last."""


def identifies(word: str) -> bool:
    return word in NAMES or bool(re.search(r"\d", word))


def check(page: Page, width: int) -> None:
    """The page has no fault for a screen reader, and nothing of it lies beside the window."""
    found = Axe().run(page).response["violations"]
    assert [(one["id"], [node["html"][:120] for node in one["nodes"]]) for one in found] == []
    assert page.evaluate("document.documentElement.scrollWidth") <= width


@pytest.fixture
def page(chromium: Browser, width: int) -> Iterator[Page]:
    context = chromium.new_context(viewport={"width": width, "height": 844})
    yield context.new_page()
    context.close()


@pytest.mark.parametrize("width", [390, 1280])
def test_notes_are_read_by_keyboard_alone_until_a_new_kit_is_there(
    work: Path, page: Page, width: int, tmp_path: Path
) -> None:
    before = StoredKit.load(work).id
    corrected: list[set[str]] = []
    with started("review", work, "--goal", "300", "--reviewer", "Eva", "--json") as (
        process,
        address,
    ):
        page.goto(address)
        keys = Keys(page)
        expect(page.locator("#desk")).to_be_visible(timeout=120_000)
        check(page, width)
        page.screenshot(path=tmp_path / "line.png")
        keys.press("h")
        check(page, width)
        page.screenshot(path=tmp_path / "keys.png")
        keys.press("Escape")
        while keys.is_reading:
            expect(page.locator("#line")).to_be_focused()
            expect(page.locator(".word.cursor")).to_be_in_viewport()
            if len(corrected) < CORRECTED:
                corrected.append(keys.correct())
            keys.confirm()
        expect(page.locator("#title")).to_have_text("Nothing is left to read")
        check(page, width)
        page.screenshot(path=tmp_path / "end.png")
        keys.press("Enter")
        said, heard = process.communicate(timeout=300)
    assert process.returncode == 0, heard
    result: dict[str, Any] = json.loads(said)
    assert result["answered"] == result["lines"] > CORRECTED
    kit = StoredKit.load(work, "documents")
    assert kit.id != before
    assert kit.facts["marks"] == "reviewed"
    with ReviewStore.open(work / "review.sqlite") as store:
        marked = [
            {word for one in answer.spans for word in _words(store, answer.line, one)}
            for answer in store.answers()[:CORRECTED]
        ]
    assert marked == corrected
    assert not [word for word in NAMES if word in said + heard]


def _words(store: ReviewStore, line: int, span: Any) -> set[str]:
    text = store.line(line).text[span.start : span.end]
    return {word for word in re.findall(r"[\w]+", text) if identifies(word)}
