"""The picture of the review page in docs/, taken in the system's Chromium.

`python -m benchmarks.review_page` takes it anew, of a made-up letter; with a folder as argument
also in the dark, on a phone, with the list of keys, and at the end.
"""

from __future__ import annotations

import sys
from collections.abc import Sequence
from pathlib import Path
from queue import Queue
from tempfile import TemporaryDirectory
from threading import Thread
from typing import Any

from benchmarks.picture import DOCS
from playwright.sync_api import Browser, sync_playwright

from voile.documents.reviewing.line import ReviewLine, ShownSpan
from voile.documents.reviewing.server import serve
from voile.documents.reviewing.store import ReviewStore

CHROMIUM = "/usr/bin/chromium"
TYPES = ("NAME", "DATE", "PHONE", "ADDRESS", "ID", "AGE", "HOSPITAL")
BEFORE = "Discharge letter\nWard 4, admitted with breathlessness on exertion.\n"
TEXT = (
    "Seen in clinic by Dr. Amara Osei with her daughter Summer, who lives at 14 Larch Road; "
    "call 020 7946 0123 before 12/03/2024."
)
AFTER = "\nBlood pressure 128/82, no oedema. Continue ramipril 5 mg."
PROPOSED = (
    ("Amara Osei", "NAME", "known surname", 0.0),
    ("Summer", "NAME", "starter", 0.72),
    ("14 Larch Road", "ADDRESS", "rule street", 0.2),
    ("020 7946 0123", "PHONE", "pattern phone", 0.0),
    ("12/03/2024", "DATE", "rule date", 0.1),
)
WHY = "A close call on 1 of 31 words: without you it is expected to cost 0.8 harmless words."
WIDE: dict[str, Any] = {"viewport": {"width": 900, "height": 610}}
PHONE: dict[str, Any] = {"viewport": {"width": 390, "height": 844}, "has_touch": True}
VIEWS: dict[str, tuple[str, dict[str, Any], tuple[str, ...]]] = {
    "Eva": ("review", WIDE, ()),
    "Ben": ("dark", {**WIDE, "color_scheme": "dark"}, ()),
    "Ada": ("phone", {**PHONE, "is_mobile": True}, ()),
    "Leo": ("keys", WIDE, ("h",)),
    "Kim": ("end", WIDE, ("Space", "a", "Enter")),
}
"""By reviewer: the picture's name, the browser, and the keys that are pressed before."""


def main() -> None:
    """Write docs/pictures/review.png, and the others where they are asked for."""
    with TemporaryDirectory() as folder, sync_playwright() as playwright:
        addresses = _serve(Path(folder) / "review.sqlite")
        browser = playwright.chromium.launch(executable_path=CHROMIUM, args=["--no-sandbox"])
        for reviewer, (name, options, keys) in VIEWS.items():
            for place in [DOCS] if name == "review" else map(Path, sys.argv[1:]):
                _take(browser, addresses[reviewer], place / f"{name}.png", options, keys)
        browser.close()


def _serve(path: Path) -> dict[str, str]:
    """Serve the line to each reviewer, and return where."""
    store = ReviewStore.create(path, meta={"readers": str(len(VIEWS))})
    store.add([_line()], batch=1)
    said: Queue[str] = Queue()
    options = {"reviewers": tuple(VIEWS), "types": TYPES, "goal": 8000, "browser": False}
    Thread(target=serve, args=(store,), kwargs={**options, "notify": said.put}, daemon=True).start()
    return dict(said.get(timeout=60).split(": ", 1) for _ in VIEWS)


def _line() -> ReviewLine:
    shown = [
        ShownSpan(TEXT.index(words), TEXT.index(words) + len(words), label, by, doubt)
        for words, label, by, doubt in PROPOSED
    ]
    return ReviewLine(0, 1, "review", 11, 0, len(TEXT), BEFORE, TEXT, AFTER, tuple(shown), WHY)


def _take(
    browser: Browser, address: str, file: Path, options: dict[str, Any], keys: Sequence[str]
) -> None:
    page = browser.new_page(device_scale_factor=1.5, **options)
    page.goto(address)
    page.wait_for_selector("#line .word")
    for key in keys:
        page.keyboard.press(key)
    page.wait_for_timeout(500)  # until what the last key does is shown
    page.screenshot(path=file)
    page.close()


if __name__ == "__main__":
    main()
