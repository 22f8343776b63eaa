"""The system's Chromium, for tests of pages."""

from __future__ import annotations

import os
import shutil
from collections.abc import Iterator
from contextlib import contextmanager

import pytest
from playwright.sync_api import Browser, sync_playwright

CHROMIUM = "/usr/bin/chromium"
QUIET = (
    "--no-sandbox",
    "--disable-gpu",
    "--disable-quic",
    "--no-first-run",
    "--disable-background-networking",
    "--disable-component-update",
    "--disable-sync",
)


def missing(reason: str) -> None:
    """Skip, or fail where a browser is required."""
    if "browser" in os.environ.get("VOILE_REQUIRE", ""):
        pytest.fail(f"a browser test cannot run: {reason}")
    pytest.skip(reason)


@contextmanager
def launched() -> Iterator[Browser]:
    if not shutil.which(CHROMIUM):
        missing(f"there is no {CHROMIUM}")
    with sync_playwright() as playwright:
        browser = playwright.chromium.launch(executable_path=CHROMIUM, args=list(QUIET))
        yield browser
        browser.close()
