"""A browser's window at the workbench, driven by keys alone."""

from __future__ import annotations

import time

from playwright.sync_api import BrowserContext, Page, expect

PATIENCE = 240_000  # milliseconds; other work may share the machine


SETTLED = """async () => {
  const { job, version } = await (await fetch("/state")).json();
  const isBusy = job && ["running", "stopping"].includes(job.state);
  return !isBusy && document.body.dataset.drawn === version;
}"""
"""Whether no command runs, and the page shows the files as they are."""


class Window:
    """A window that keeps every request, message and error of its own."""

    def __init__(self, context: BrowserContext) -> None:
        self.page: Page = context.new_page()
        self.page.set_default_timeout(PATIENCE)
        self.requests: list[str] = []
        self.messages: list[str] = []
        self.page.on("request", lambda request: self.requests.append(request.url))
        self.page.on("console", lambda message: self.messages.append(message.text))
        self.page.on("pageerror", lambda error: self.messages.append(str(error)))

    def open(self, address: str) -> None:
        self.page.goto(address)
        expect(self.page.locator("#project")).not_to_be_empty(timeout=PATIENCE)

    def go(self, number: int, title: str) -> None:
        """Press a step's digit, and wait for its screen."""
        self.page.keyboard.press(str(number))
        self.expect_step(title)

    def expect_step(self, title: str) -> None:
        expect(self.page).to_have_title(f"{title} · voile", timeout=PATIENCE)

    def tab_to(self, id: str) -> None:
        """Press Tab until a control has the focus."""
        for _ in range(200):
            if self.page.evaluate("document.activeElement.id") == id:
                return
            self.page.keyboard.press("Tab")
        raise AssertionError(f"Tab does not reach {id}")

    def fill(self, id: str, text: str) -> None:
        self.tab_to(id)
        self.page.keyboard.press("Control+a")
        self.page.keyboard.type(text)

    def pick(self, id: str, text: str) -> None:
        """Choose an option by typing its first letters."""
        self.tab_to(id)
        self.page.keyboard.type(text)
        chosen = self.page.locator(f"[id='{id}'] option:checked")
        expect(chosen).to_have_text(text, timeout=PATIENCE)

    def press(self, id: str) -> None:
        """Press a button with Enter, as soon as it works."""
        button = self.page.locator(f"[id='{id}']")
        expect(button).not_to_have_attribute("aria-disabled", "true", timeout=PATIENCE)
        self.tab_to(id)
        self.page.keyboard.press("Enter")

    def run(self, id: str) -> None:
        """Press a button that runs a command, and wait for the end."""
        with self.page.expect_response("**/act") as answer:
            self.press(id)
        assert answer.value.ok, answer.value.text()
        end = time.monotonic() + PATIENCE / 1000
        while not self.page.evaluate(SETTLED):
            assert time.monotonic() < end
            self.page.wait_for_timeout(100)
        expect(self.page.locator("#job")).to_be_hidden(timeout=PATIENCE)
        errors = self.page.locator(".error:not(:empty)").all_inner_texts()
        assert errors == [], errors
