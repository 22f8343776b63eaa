"""A browser's window at the review page."""

from __future__ import annotations

import time

from playwright.sync_api import BrowserContext, Locator, Page, expect


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
