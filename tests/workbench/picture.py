"""Take the picture of the docs: python -m tests.workbench.picture PROJECT PNG."""

from __future__ import annotations

import sys
from pathlib import Path

from playwright.sync_api import expect
from tests.browser import launched
from tests.workbench.served import opened
from tests.workbench.window import Window


def take_picture(project: Path, place: Path) -> None:
    """Write the Frontier step of a finished project as a PNG."""
    with launched() as browser, opened(project) as served:
        context = browser.new_context(viewport={"width": 1280, "height": 800})
        window = Window(context)
        window.open(served.address)
        window.page.evaluate("document.getElementById('saved').style.visibility = 'hidden'")
        window.go(4, "Frontier")
        expect(window.page.locator(".knob")).to_be_visible()
        window.page.wait_for_timeout(800)
        window.page.screenshot(path=place)


if __name__ == "__main__":
    take_picture(Path(sys.argv[1]), Path(sys.argv[2]))
