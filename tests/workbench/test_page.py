"""The page's states and its looks, in the system's Chromium."""

from __future__ import annotations

import json
import statistics
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path

import pytest
from axe_playwright_python.sync_playwright import Axe
from playwright.sync_api import expect
from tests.workbench.served import opened
from tests.workbench.window import PATIENCE, Window

pytestmark = [pytest.mark.browser]
STEPS = ("Data", "Roles", "Adversary", "Frontier", "Release", "Attack", "Decide", "Again")
SIZES = [(1280, 900), (768, 1024), (390, 844)]
MOST = 40  # milliseconds of a drag's frame, on a machine with nothing else to do
Make = Callable[..., Window]


def test_no_step_has_a_fault_of_accessibility_in_any_width_and_scheme(
    finished: Path, window: Make
) -> None:
    with opened(finished) as served:
        one = window()
        one.open(served.address)
        for width, height in SIZES:
            one.page.set_viewport_size({"width": width, "height": height})
            for number, title in enumerate(STEPS, 1):
                one.go(number, title)
                for scheme in ("light", "dark"):
                    one.page.emulate_media(color_scheme=scheme)  # type: ignore[arg-type]
                    found = Axe().run(one.page).response["violations"]
                    faults = [(x["id"], [n["target"] for n in x["nodes"]]) for x in found]
                    assert faults == [], (title, width, scheme)
                wide = one.page.evaluate("document.documentElement.scrollWidth - innerWidth")
                assert wide <= 0, (title, width)
        assert one.messages == []


def test_an_empty_project_says_what_each_step_waits_for(tmp_path: Path, window: Make) -> None:
    table = tmp_path / "people.csv"
    table.write_text("\n".join(["age,city", *(f"{n % 50},c{n % 3}" for n in range(200))]))
    with opened(table) as served:
        one = window()
        one.open(served.address)
        for number, title in enumerate(STEPS, 1):
            one.go(number, title)
            assert Axe().run(one.page).response["violations"] == [], title
            if number > 1:
                step = one.page.locator(f"#step-{title.lower()}")
                expect(step).to_have_class("blocked", timeout=PATIENCE)
                expect(one.page.locator(".lede")).to_contain_text("first.")
        assert one.messages == []


def test_values_stay_hidden_until_a_person_asks_for_five_minutes(
    finished: Path, window: Make
) -> None:
    row = (finished / "release.csv").read_text().splitlines()[1]
    first = row.split(",")[0].strip('"')
    with opened(finished) as served:
        one = window()
        one.page.clock.install()
        one.open(served.address)
        one.go(5, "Release")
        cell = one.page.locator(".scroll tbody td").first
        expect(cell).to_contain_text("hidden", timeout=PATIENCE)
        one.page.keyboard.press("v")
        expect(cell).to_have_text(first, timeout=PATIENCE)
        one.page.clock.run_for(5 * 60 * 1000 + 2000)
        expect(cell).to_contain_text("hidden", timeout=PATIENCE)
        assert first not in one.page.title()


def test_errors_stand_at_their_control(project: Path, window: Make) -> None:
    with opened(project) as served:
        one = window()
        one.open(served.address)
        one.go(3, "Adversary")
        one.fill("field-max_risk", "0.5")
        one.press("adversary.save")
        error = one.page.locator("#field-max_risk-error")
        expect(error).to_contain_text("The odds is no number from 1", timeout=PATIENCE)
        assert one.page.evaluate("document.activeElement.id") == "field-max_risk"
        expect(one.page.locator("#field-max_risk")).to_have_attribute("aria-invalid", "true")
        assert Axe().run(one.page).response["violations"] == []
        one.tab_to("next-frontier")
        one.go(4, "Frontier")
        one.press("rule-safe-harbor")
        error = one.page.locator("[id='frontier.choose-error']")
        expect(error).to_contain_text("safe-harbor", timeout=PATIENCE)
        assert Axe().run(one.page).response["violations"] == []


def test_a_later_choice_makes_the_release_stale_and_undo_takes_it_back(
    project: Path, window: Make
) -> None:
    with opened(project) as served:
        one = window()
        one.open(served.address)
        one.go(4, "Frontier")
        one.run("rule-risk-100")
        expect(one.page.locator("#step-release")).to_have_class("stale", timeout=PATIENCE)
        one.go(5, "Release")
        expect(one.page.locator("h1")).to_have_text("The release is older than your choice")
        assert Axe().run(one.page).response["violations"] == []
        one.page.keyboard.press("u")
        expect(one.page.locator("#step-release")).to_have_class("done", timeout=PATIENCE)


def test_a_policy_is_edited_with_a_pointer_and_with_keys(project: Path, window: Make) -> None:
    answer = json.loads(voile("tables", "frontier", "patients.kit", "--json", cwd=project))
    number = next(x["number"] for x in answer["policies"][::-1] if x["family"] == "global")
    voile("tables", "choose", "patients.kit", "--policy", number, *OUT, cwd=project)
    with opened(project) as served:
        one = window(viewport={"width": 1280, "height": 900})
        one.open(served.address)
        one.go(4, "Frontier")
        splits = one.page.locator(".people").first.locator(".split")
        count = splits.count()
        one.run("merge-0")
        expect(splits).to_have_count(count - 1, timeout=PATIENCE)
        expect(one.page.locator(".chart .ring")).to_be_visible()
        bars = one.page.locator(".people").first
        box = bars.bounding_box()
        assert box is not None
        bars.click(position={"x": box["width"] / 2, "y": box["height"] / 2})
        expect(splits).to_have_count(count, timeout=PATIENCE)
        for scheme in ("light", "dark"):
            one.page.emulate_media(color_scheme=scheme)  # type: ignore[arg-type]
            assert Axe().run(one.page).response["violations"] == []
        one.page.keyboard.press("u")
        expect(splits).to_have_count(count - 1, timeout=PATIENCE)
        assert one.messages == []
    assert "voile tables edit patients.kit" in (project / "history.sh").read_text()


OUT = ("--out", "policy.toml", "--force")


def voile(*words: object, cwd: Path) -> str:
    command = [sys.executable, "-m", "voile", *map(str, words)]
    return subprocess.run(command, cwd=cwd, capture_output=True, text=True, check=True).stdout


def test_long_work_shows_itself_and_stops(project: Path, window: Make) -> None:
    before = (project / "history.sh").read_text()
    with opened(project) as served:
        one = window()
        one.open(served.address)
        one.go(6, "Attack")
        one.press("attack.run")
        expect(one.page.locator("#job")).to_contain_text("voile tables attack", timeout=PATIENCE)
        expect(one.page.locator("[id='attack.run']")).to_have_attribute("aria-disabled", "true")
        assert Axe().run(one.page).response["violations"] == []
        one.page.reload()  # the page closes, and the command goes on
        expect(one.page.locator("#job")).to_be_visible(timeout=PATIENCE)
        one.press("stop")
        expect(one.page.locator("#job")).to_be_hidden(timeout=PATIENCE)
    assert (project / "history.sh").read_text() == before
    assert not (project / ".pending.json").exists()


def test_a_page_without_its_server_says_how_to_go_on(project: Path, window: Make) -> None:
    with opened(project) as served:
        one = window()
        one.open(served.address)
        served.process.kill()
        expect(one.page.locator("h1")).to_have_text("voile has stopped", timeout=PATIENCE)
        expect(one.page.locator("#main")).to_contain_text("voile open")
        assert Axe().run(one.page).response["violations"] == []


def test_two_windows_show_the_same_project_and_one_address_enters_once(
    finished: Path, window: Make
) -> None:
    with opened(finished) as served:
        one, other = window(), window()
        one.open(served.address)
        other.page.goto(served.address)
        expect(other.page.locator("h1")).to_have_text("This address was used before")
        stranger = window()
        stranger.page.goto(served.origin)
        title = "Open the address that voile printed"
        expect(stranger.page.locator("h1")).to_have_text(title, timeout=PATIENCE)


def test_a_drag_paints_at_once(project: Path, window: Make) -> None:
    with opened(project) as served:
        one = window(viewport={"width": 1280, "height": 900})
        one.open(served.address)
        one.go(4, "Frontier")
        expect(one.page.locator("#slider")).to_be_visible(timeout=PATIENCE)
        times = one.page.evaluate(DRAG)
        chosen = statistics.quantiles(times, n=20)
        print(f"drag: median {statistics.median(times):.1f} ms, 95th percentile {chosen[-1]:.1f}")
        assert statistics.median(times) < MOST


DRAG = """async () => {
  const svg = document.querySelector(".chart svg"), box = svg.getBoundingClientRect();
  const times = [];
  const send = (type, x) => svg.dispatchEvent(new PointerEvent(type,
    {pointerId: 1, button: 0, clientX: x, clientY: box.top + 90, bubbles: true}));
  svg.setPointerCapture = () => {};
  svg.hasPointerCapture = () => true;
  send("pointerdown", box.right - 20);
  for (let i = 0; i < 120; i += 1) {
    const before = performance.now();
    send("pointermove", box.right - 20 - 4 * i);
    document.body.getBoundingClientRect();
    await new Promise((done) => requestAnimationFrame(() => setTimeout(done)));
    times.push(performance.now() - before);
  }
  return times;
}"""
