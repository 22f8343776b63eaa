"""Clicks and fields from the demo county's table to a first release: the workbench and DP Wizard.

`python -m benchmarks.workbench_steps` counts those of voile. Add the path of an installed
`dp-wizard` to count those of DP Wizard. A field is a typed text, a chosen option or a chosen file.
"""

from __future__ import annotations

import socket
import subprocess
import sys
import time
import urllib.request
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from tempfile import TemporaryDirectory

from playwright.sync_api import Browser, Page, expect
from tests.browser import launched
from tests.workbench.county import CHANGED, CONTEXT, make_key, make_table
from tests.workbench.served import opened
from tests.workbench.window import PATIENCE, SETTLED

OPTIONAL = (
    *("joint", "kept-columns.accept", "population", "register_file"),
    *("policy", "thresholds", "assumed"),
    *(f"{one}.source" for one in ("singling-out", "inference", "kept-columns")),
)
"""The fields that may stay empty, or that the page fills in."""
IDLE = "!document.documentElement.classList.contains('shiny-busy')"


class CountedPage:
    """A page that counts each click and each field."""

    def __init__(self, page: Page, settled: str) -> None:
        self.page, self.settled = page, settled
        self.clicks = self.fields = 0
        page.set_default_timeout(PATIENCE)

    def press(self, selector: str) -> None:
        button = self.page.locator(selector)
        expect(button).not_to_have_attribute("aria-disabled", "true", timeout=PATIENCE)
        button.click()
        self.clicks += 1
        self.settle()

    def fill(self, selector: str, text: str) -> None:
        self.page.locator(selector).fill(text)
        self.page.keyboard.press("Tab")
        self.fields += 1
        self.settle()

    def choose(self, selector: str, value: str) -> None:
        self.page.locator(selector).select_option(value)
        self.fields += 1
        self.settle()

    def settle(self) -> None:
        """Wait until the page is idle, and stays idle."""
        idle = 0
        while idle < 2:
            self.page.wait_for_timeout(500)
            idle = idle + 1 if self.page.evaluate(self.settled) else 0
        errors = self.page.locator(".error:not(:empty)").all_inner_texts()
        assert errors == [], errors

    def report(self, name: str) -> None:
        print(f"{name}: {self.clicks} clicks, {self.fields} fields", flush=True)


def main() -> None:
    with TemporaryDirectory() as folder, launched() as browser:
        for is_full in (True, False):
            count_voile(browser, Path(folder) / f"county-{is_full}", is_full=is_full)
        for program in sys.argv[1:]:
            count_wizard(browser, make_table(Path(folder) / "wizard"), program)


def count_voile(browser: Browser, folder: Path, *, is_full: bool) -> None:
    """Release the county with the required fields alone, or as the demo, and signed."""
    table = make_table(folder)
    with opened(table) as served:
        hand = CountedPage(browser.new_page(), SETTLED)
        hand.page.goto(served.address)
        hand.press("[id='data.inspect']")
        hand.press("#next-roles")
        if is_full:
            change_roles(hand)
        hand.press("#next-adversary")
        for name, text in CONTEXT.items():
            if is_full or name not in OPTIONAL:
                hand.fill(f"[id='field-{name}']", text)
        hand.press("[id='adversary.fit']")
        hand.press("#next-frontier")
        hand.press("#rule-least-loss")
        hand.press("#next-release")
        hand.press("[id='release.apply']")
        assert (folder / "patients-project/release.csv").exists()
        hand.report(f"voile, release, {'demo' if is_full else 'required fields'}")
        if is_full:
            sign(hand, make_key(folder))
            assert (folder / "patients-project/determination/statements/01.json.sig").exists()
            hand.report("voile, attacked and signed, demo")


def change_roles(hand: CountedPage) -> None:
    names = hand.page.locator(".roles tbody th")
    names.first.wait_for()
    for number, name in enumerate(names.all_inner_texts()):
        if name in CHANGED:
            hand.choose(f"#role-{number}", CHANGED[name])
    hand.press("[id='roles.save']")


def sign(hand: CountedPage, key: Path) -> None:
    hand.press("#next-attack")
    hand.press("[id='attack.run']")
    hand.press("#next-decide")
    hand.press("[id='decide.determine']")
    hand.fill("#field-as", "officer@county.org")
    hand.fill("#field-key", str(key))
    hand.press("[id='decide.sign']")


def count_wizard(browser: Browser, table: Path, program: str) -> None:
    """Download the package of one histogram, of the ages, with all defaults."""
    with started(program) as address:
        hand = CountedPage(browser.new_page(), IDLE)
        hand.page.goto(address)
        hand.page.locator("#private_path").set_input_files(table)
        hand.fields += 1
        hand.settle()
        hand.fill("#max_rows", "20000")
        hand.fill("#contributions", "10")
        hand.press("#go_to_analysis")
        hand.page.locator("#columns_selectize-selectized").click()
        hand.page.locator(".selectize-dropdown .option:visible", has_text="age").first.click()
        hand.page.keyboard.press("Escape")
        hand.fields += 1
        hand.settle()
        hand.fill("input[id$='lower_bound']:visible", "0")
        hand.fill("input[id$='upper_bound']:visible", "100")
        hand.press("#go_to_results")
        with hand.page.expect_download() as package:
            hand.press("#download_package_button")
        assert package.value.suggested_filename.endswith(".zip")
        hand.report("DP Wizard, package of one histogram, defaults")


@contextmanager
def started(program: str) -> Iterator[str]:
    """Run DP Wizard while the block runs, and return its address."""
    with socket.socket() as one:
        one.bind(("127.0.0.1", 0))
        port = one.getsockname()[1]
    command = [program, "--port", str(port), "--no_browser"]
    quiet = subprocess.DEVNULL
    process = subprocess.Popen(command, stdout=quiet, stderr=quiet)
    address = f"http://127.0.0.1:{port}"
    try:
        for _ in range(120):
            try:
                urllib.request.urlopen(address).close()
                break
            except OSError:
                time.sleep(0.5)
        yield address
    finally:
        process.terminate()
        process.wait()


if __name__ == "__main__":
    main()
