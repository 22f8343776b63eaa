"""A person reviews and accepts the notes of a study inside the page."""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path

import pytest
from playwright.sync_api import Browser, expect
from tests.workbench.county import CONTEXT
from tests.workbench.served import opened
from tests.workbench.test_notes import IS_ANSWERED, check_looks, review
from tests.workbench.test_study import ACCEPTED
from tests.workbench.window import PATIENCE, Window

pytestmark = [pytest.mark.browser]
UNPROVED = "Not proved: at most 200 identifiers left per 1,000 tokens"


def test_the_notes_of_a_study_are_read_inside_the_page(chromium: Browser, tmp_path: Path) -> None:
    subprocess.run(
        [sys.executable, "-m", "voile.demo", "notes", "--people", "12"], cwd=tmp_path, check=True
    )
    export = tmp_path / "export"
    export.mkdir()
    for name in ("notes.csv", "patients.csv"):
        (tmp_path / "notes" / name).rename(export / name)
    context = chromium.new_context(viewport={"width": 1280, "height": 900})
    with opened(export) as served:
        window = Window(context)
        window.open(served.address)
        window.run("data.inspect")
        window.go(2, "Roles")
        expect(window.page.locator("[id='roles.review-why']")).to_be_visible(timeout=PATIENCE)
        window.go(3, "Adversary")
        names = window.page.locator("form [name]").evaluate_all("(all) => all.map((x) => x.name)")
        typed = CONTEXT | ACCEPTED
        for name in (name for name in names if typed.get(name)):
            window.fill(f"field-{name}", typed[name])
        window.run("adversary.fit")
        window.go(5, "Release")
        window.run("release.apply")
        check_looks(window)
        window.fill("field-at_most", "200")
        window.press("release.accept")
        accept(window)
        expect(window.page.locator("#main")).to_contain_text(UNPROVED, timeout=PATIENCE)
        check_looks(window)
        review(window)
        history = window.page.evaluate("fetch('/history').then((x) => x.json())")
        assert window.messages == []
    context.close()
    place = tmp_path / "export-project/study.release.private/manifest.json"
    parts = json.loads(place.read_text())["parts"]
    assert parts["note"]["acceptance"]["planted"] == 20
    assert "voile study review study.toml --part note" in history["shell"]
    assert "voile study accept study.toml --part note" in history["shell"]


def accept(window: Window) -> None:
    """Mark no word until the reading ends: the planted identifiers show a careless reader."""
    expect(window.page.locator("#line .word").first).to_be_visible(timeout=PATIENCE)
    while window.page.locator("#desk").is_visible():
        before = window.page.locator("#standing").inner_text()
        window.page.keyboard.press("Shift+Enter")
        window.page.wait_for_function(IS_ANSWERED, arg=before, timeout=PATIENCE)
    window.page.keyboard.press("Enter")
    expect(window.page.locator("#job")).to_be_hidden(timeout=PATIENCE)
