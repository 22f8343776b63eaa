"""A person without a mouse takes the demo county from its table to a signature, in Chromium."""

from __future__ import annotations

import json
import re
from pathlib import Path

import pytest
from playwright.sync_api import Browser, expect
from tests.workbench.county import CHANGED, CONTEXT, make_key, make_table
from tests.workbench.served import opened
from tests.workbench.window import PATIENCE, Window

pytestmark = [pytest.mark.browser]
WORDS = {"identifier": "identifies a person", "drop": "drop"}


@pytest.mark.parametrize(("width", "height"), [(1280, 900), (390, 844)])
def test_a_table_becomes_a_signed_release_by_keyboard_alone(
    chromium: Browser, tmp_path: Path, width: int, height: int
) -> None:
    folder = tmp_path / "county"
    table, key = make_table(folder), make_key(folder)
    context = chromium.new_context(viewport={"width": width, "height": height})
    with opened(table) as served:
        window = Window(context)
        window.open(served.address)
        window.expect_step("Data")
        window.run("data.inspect")
        window.press("next-roles")
        window.expect_step("Roles")
        choose_roles(window)
        window.press("next-adversary")
        window.expect_step("Adversary")
        names = window.page.locator("form [name]").evaluate_all("(all) => all.map((x) => x.name)")
        for name in (name for name in names if name in CONTEXT):
            window.fill(f"field-{name}", CONTEXT[name])
        window.run("adversary.fit")
        window.press("next-frontier")
        window.expect_step("Frontier")
        window.tab_to("slider")
        with window.page.expect_response("**/act"):
            window.page.keyboard.press("ArrowLeft")
        expect(window.page.locator("#jump option:checked")).to_contain_text(
            "policy 384", timeout=PATIENCE
        )
        window.run("rule-least-loss")
        window.press("next-release")
        window.expect_step("Release")
        window.run("release.apply")
        window.press("next-attack")
        window.run("attack.run")
        window.press("next-decide")
        window.run("decide.determine")
        window.fill("field-as", "officer@county.org")
        window.fill("field-key", str(key))
        window.run("decide.sign")
        expect(window.page.locator("#main")).to_contain_text("officer@county.org")
        assert not window.page.evaluate("document.documentElement.scrollWidth > innerWidth")
        assert window.messages == []
        assert {re.sub(r"[^/]*$", "", one.split("?")[0]) for one in window.requests} <= {
            f"{served.origin}/",
            f"{served.origin}/screen/",
        }
    context.close()
    statement = folder / "patients-project/determination/statements/01.json"
    assert json.loads(statement.read_text())["signer"] == "officer@county.org"


def choose_roles(window: Window) -> None:
    names = window.page.locator(".roles tbody th").all_inner_texts()
    for number, name in enumerate(names):
        if name in CHANGED:
            window.pick(f"role-{number}", WORDS[CHANGED[name]])
    window.run("roles.save")
