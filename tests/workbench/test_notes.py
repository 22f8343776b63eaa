"""Notes from their file to a signature in Chromium: each figure on the page is the verb's."""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest
from axe_playwright_python.sync_playwright import Axe
from playwright.sync_api import Browser, expect
from tests.workbench.county import CONTEXT, make_key
from tests.workbench.served import opened
from tests.workbench.window import PATIENCE, Window

from voile.report.charts.numbers import share

pytestmark = [pytest.mark.browser]
COUNTED = "Nobody has marked the notes, so nobody can count it"
ACCEPTED = {
    "subject": "patient",
    "known": "../patients.csv",
    "people": "../staff.csv",
    "re-identification.accept": COUNTED,
    "singling-out.accept": COUNTED,
    "linkability.source": "The privacy officer",
    "linkability.accept": COUNTED,
    "inference.accept": COUNTED,
    "text-left.source": "The privacy officer",
    "text-left.accept": COUNTED,
}


def test_notes_become_a_signed_release(chromium: Browser, tmp_path: Path) -> None:
    subprocess.run([sys.executable, "-m", "voile.demo", "notes"], cwd=tmp_path, check=True)
    key = make_key(tmp_path)
    notes = tmp_path / "notes/notes.csv"
    project = tmp_path / "notes/notes-project"
    context = chromium.new_context(viewport={"width": 1280, "height": 900})
    with opened(notes) as served:
        window = Window(context)
        window.open(served.address)
        window.pick("field-kind", "notes: free text about people")
        window.run("data.inspect")
        window.press("next-roles")
        window.expect_step("Roles")
        check_looks(window)
        window.run("roles.save")
        window.press("next-adversary")
        window.expect_step("Adversary")
        names = window.page.locator("form [name]").evaluate_all("(all) => all.map((x) => x.name)")
        typed = CONTEXT | ACCEPTED
        for name in (name for name in names if name in typed):
            window.fill(f"field-{name}", typed[name])
        check_looks(window)
        window.run("adversary.fit")
        review(window)
        window.go(4, "Frontier")
        window.run("rule-few-left")
        check_frontier(window, project)
        check_looks(window)
        window.press("next-release")
        window.run("release.apply")
        accept(window, project)
        window.press("next-attack")
        window.run("attack.run")
        check_attack(window, project)
        window.press("next-decide")
        window.run("decide.determine")
        check_criteria(window, project)
        check_looks(window)
        window.fill("field-as", "officer@county.org")
        window.fill("field-key", str(key))
        window.run("decide.sign")
        expect(window.page.locator("#main")).to_contain_text("approve with conditions")
        assert window.messages == []
        assert {one.partition("?")[0].rsplit("/", 1)[0] for one in window.requests} <= {
            served.origin,
            f"{served.origin}/screen",
            f"{served.origin}/reading",
        }
    context.close()
    assert ask_verb("verify", "release.csv", "--key-file", "private/key", cwd=project)["ok"]


def check_looks(window: Window) -> None:
    """Look for faults of accessibility, and for a page wider than a telephone."""
    for width, height in ((390, 844), (768, 1024), (1280, 900)):
        window.page.set_viewport_size({"width": width, "height": height})
        faults = Axe().run(window.page).response["violations"]
        assert [(x["id"], [n["target"] for n in x["nodes"]]) for x in faults] == []
        assert not window.page.evaluate("document.documentElement.scrollWidth > innerWidth")


def review(window: Window) -> None:
    """Read two lines inside the page, and stop: voile learns from them."""
    window.go(2, "Roles")
    window.press("roles.review")
    expect(window.page.locator("#line .word").first).to_be_visible(timeout=PATIENCE)
    check_looks(window)
    for number in (1, 2):
        with window.page.expect_response("**/reading/stroke"):
            window.page.keyboard.press("Enter")
        expect(window.page.locator("#standing")).not_to_contain_text("0 of", timeout=PATIENCE)
        assert number
    window.press("stop")
    expect(window.page.locator("#job")).to_be_hidden(timeout=PATIENCE)
    expect(window.page.locator("h1")).to_have_text("What is each column?", timeout=PATIENCE)


IS_ANSWERED = """(before) => {
    const [desk, standing] = ["desk", "standing"].map((id) => document.getElementById(id));
    return desk.hidden || (desk.ariaBusy !== "true" && standing.innerText !== before);
}"""


def accept(window: Window, project: Path) -> None:
    """Confirm what voile shows of the release until the proof is there."""
    words = window.page.locator("#main .figures .big").all_inner_texts()
    figures = json.loads((project / "release.csv.private/manifest.json").read_text())["figures"]
    assert words[0] == share(figures["published_tokens"])
    assert words[2].split()[0] == f"{figures['subjects']:,.0f}"
    window.fill("field-at_most", "200")
    window.press("release.accept")
    expect(window.page.locator("#line .word").first).to_be_visible(timeout=PATIENCE)
    check_looks(window)
    while window.page.locator("#desk").is_visible():
        before = window.page.locator("#standing").inner_text()
        window.page.keyboard.press("Shift+Enter")
        window.page.wait_for_function(IS_ANSWERED, arg=before, timeout=PATIENCE)
    window.page.keyboard.press("Enter")
    expect(window.page.locator("#job")).to_be_hidden(timeout=PATIENCE)


def check_frontier(window: Window, project: Path) -> None:
    """Compare the figures of the chosen policy with those of the verb."""
    answer = ask_verb("documents", "frontier", "notes.kit", cwd=project)
    slider = window.page.locator("#slider")
    expect(slider).to_be_visible(timeout=PATIENCE)
    one = answer["policies"][int(slider.input_value())]
    shown = window.page.locator("#main .figures .big").all_inner_texts()
    assert shown == [share(one[name]) for name in ("risk", "loss", "published_tokens")]
    assert f"miss cost {one['miss_cost']:g}" in str(slider.get_attribute("aria-valuetext"))
    caveat = str(answer["caveat"])
    expect(window.page.locator("#main")).to_contain_text(caveat[1:])


def check_attack(window: Window, project: Path) -> None:
    text = (project / "release.csv.private/evidence.json").read_text()
    for number, one in enumerate(json.loads(text)["evidence"]):
        story = window.page.locator(".story").nth(number)
        expect(story.locator("h2")).to_contain_text(one["attack"][1:], timeout=PATIENCE)


def check_criteria(window: Window, project: Path) -> None:
    facts = json.loads((project / "determination/determination.json").read_text())
    for number, one in enumerate(facts["criteria"]):
        row = window.page.locator(".cards tbody tr").nth(number)
        expect(row.locator(".verdict")).to_have_text(one["verdict"], timeout=PATIENCE)
        if one["figure"]:
            expect(row).to_contain_text(one["figure"]["shown"])


def ask_verb(*words: str, cwd: Path) -> dict[str, Any]:
    command = [sys.executable, "-m", "voile", *words, "--json"]
    done = subprocess.run(command, cwd=cwd, capture_output=True, text=True)
    assert done.returncode == 0, done.stderr
    return dict(json.loads(done.stdout))
