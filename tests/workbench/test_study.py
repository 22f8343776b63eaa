"""A folder of tables becomes a signed study in Chromium: each figure on the page is the verb's."""

from __future__ import annotations

import csv
import json
import random
from pathlib import Path

import pytest
from playwright.sync_api import Browser, expect
from tests.workbench.county import CONTEXT, make_key
from tests.workbench.replayed import SCRIPTS, check_replay
from tests.workbench.served import opened
from tests.workbench.test_notes import ask_verb, check_criteria, check_looks
from tests.workbench.window import PATIENCE, Window

from voile.report.charts.numbers import share

pytestmark = [pytest.mark.browser]
REASON = "The recipient signed a contract that forbids it"
ACCEPTED = {
    **{f"{one}.accept": REASON for one in ("re-identification", "singling-out", "linkability")},
    "inference.accept": REASON,
    "text-left.accept": REASON,
    "text-left.source": "The privacy officer",
    "linkability.source": "The privacy officer",
    "population": "",
    "register_file": "",
}


def make_export(folder: Path) -> None:
    """Write a table of people and a table of their visits, with a hostile name."""
    draw = random.Random(5)
    folder.mkdir()
    with (folder / "people.csv").open("w", newline="") as file:
        writer = csv.writer(file)
        writer.writerow(["person_id", "age", "sex", "zip"])
        for n in range(300):
            code = draw.choice(["10101", "10102", "10103", "10201"])
            writer.writerow([f"P{n:04}", 20 + draw.randrange(60), draw.choice("FM"), code])
    with (folder / "visits.csv").open("w", newline="") as file:
        writer = csv.writer(file)
        writer.writerow(["person_id", "<img src=x onerror='window.hacked=1'>"])
        for n in range(300):
            for _ in range(draw.choice([1, 1, 2])):
                writer.writerow([f"P{n:04}", draw.choice(["asthma", "diabetes", "fracture"])])


def test_a_folder_becomes_a_signed_study(chromium: Browser, tmp_path: Path) -> None:
    make_export(tmp_path / "export")
    key = make_key(tmp_path)
    project = tmp_path / "export-project"
    context = chromium.new_context(viewport={"width": 1280, "height": 900})
    with opened(tmp_path / "export") as served:
        window = Window(context)
        window.open(served.address)
        window.run("data.inspect")
        expect(window.page.locator(".figures")).to_contain_text("people, visits", timeout=PATIENCE)
        window.press("next-roles")
        window.expect_step("Roles")
        names = window.page.locator(".roles tbody th").all_inner_texts()
        assert len(names) == 6
        check_looks(window)
        window.run("roles.check")
        window.press("next-adversary")
        window.expect_step("Adversary")
        fields = window.page.locator("form [name]").evaluate_all("(all) => all.map((x) => x.name)")
        typed = CONTEXT | ACCEPTED
        for name in (name for name in fields if typed.get(name)):
            window.fill(f"field-{name}", typed[name])
        window.fill("field-k", "6")
        window.run("adversary.fit")
        window.press("next-frontier")
        check_frontier(window, project)
        check_looks(window)
        window.run("rule-knee")
        check_frontier(window, project)
        assert "knee = true" in (project / "study.toml").read_text()
        save_another_limit(window)
        window.press("next-release")
        window.run("release.apply")
        check_release(window, project)
        check_looks(window)
        window.press("next-attack")
        window.run("attack.run")
        check_attack(window, project)
        window.press("next-decide")
        window.run("decide.determine")
        check_criteria(window, project)
        window.pick("field-decision", "refuse")
        window.fill("field-as", "officer@county.org")
        window.fill("field-key", str(key))
        window.run("decide.sign")
        expect(window.page.locator("#main")).to_contain_text("officer@county.org")
        check_looks(window)
        assert window.page.evaluate("window.hacked") is None
        assert window.messages == []
    context.close()
    assert "k = 6" in (project / "study.toml").read_text()
    assert ask_verb("study", "verify", "study.toml", cwd=project)["ok"]
    for script in SCRIPTS:
        check_replay(project, script)


def save_another_limit(window: Window) -> None:
    """Change a limit without a fit: the frontier is stale, and Undo takes it back."""
    window.go(3, "Adversary")
    window.fill("field-k", "7")
    with window.page.expect_response("**/act"):
        window.press("adversary.save")
    expect(window.page.locator("#step-frontier")).to_have_class("stale", timeout=PATIENCE)
    window.go(4, "Frontier")
    expect(window.page.locator(".lede")).to_have_text("The plan changed after the fit.")
    window.page.keyboard.press("u")
    expect(window.page.locator("#step-frontier")).to_have_class("done", timeout=PATIENCE)
    window.go(4, "Frontier")


def check_frontier(window: Window, project: Path) -> None:
    """Compare the figures of the picked policy with those of the verb."""
    policies = ask_verb("study", "frontier", "study.toml", cwd=project)["policies"]
    slider = window.page.locator("#slider")
    expect(slider).to_be_visible(timeout=PATIENCE)
    one = policies[int(slider.input_value())]
    facts = json.loads((project / "study.kit/kit.json").read_text())["facts"]
    assert one["number"] == facts["chosen"]["people"]
    shown = window.page.locator("#main .figures .big").all_inner_texts()
    words = [f"{one['joint']:.3g}people", f"{one['table']:.3g}people", share(one["loss"])]
    assert [one.replace("\n", "").replace(" ", "") for one in shown] == words


def check_release(window: Window, project: Path) -> None:
    """Compare the joint figure, and each part's contribution, with the manifest."""
    place = project / "study.release.private/manifest.json"
    figures = json.loads(place.read_text())["figures"]
    big = window.page.locator("#main .figures .big").first
    expect(big).to_contain_text(f"{figures['expected_matches(all parts)']:.3g}", timeout=PATIENCE)
    rows = window.page.locator("main table").first.locator("tbody tr")
    expect(rows).to_have_count(3)
    expect(rows.nth(0)).to_contain_text(f"{figures['expected_matches(people)']:.3g}")
    alone = figures["expected_matches(one row of visits)"]
    expect(rows.nth(1)).to_contain_text(f"{alone:.3g} by one row")


def check_attack(window: Window, project: Path) -> None:
    """Look for each attack on all parts, and on each part by itself."""
    private = project / "study.release.private"
    files = [private / "evidence.json", *sorted(private.glob("*/evidence.json"))]
    attacks = [one for file in files for one in json.loads(file.read_text())["evidence"]]
    expect(window.page.locator(".story")).to_have_count(len(attacks), timeout=PATIENCE)
