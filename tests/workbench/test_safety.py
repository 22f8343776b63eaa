"""What hostile requests, names and values do to the workbench."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest
from playwright.sync_api import Browser, expect
from tests.workbench.served import Workbench, opened
from tests.workbench.window import PATIENCE, Window

NASTY = "<img src=x onerror='window.hacked=1'>"
ROUTES = [
    ("GET", "/state"),
    ("GET", "/history"),
    ("GET", "/screen/data"),
    ("POST", "/plan"),
    ("POST", "/act"),
    ("POST", "/stop"),
    ("POST", "/undo"),
    ("POST", "/end"),
    ("GET", "/reading/screen"),
    ("POST", "/reading/stroke"),
]


@pytest.fixture(scope="module")
def table(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Write a table with hostile names and values."""
    folder = tmp_path_factory.mktemp("hostile")
    place = folder / f"a {NASTY.replace('/', '')}.csv"
    rows = [f"{NASTY},{n % 9 + 30},\"=cmd|'{n}'\"" for n in range(60)]
    place.write_text("\n".join([f'"{NASTY}",age,"__proto__"', *rows]))
    return place


@pytest.fixture(scope="module")
def served(table: Path) -> Iterator[Workbench]:
    with opened(table) as page:
        page.enter()
        yield page


@pytest.mark.parametrize(("method", "path"), ROUTES)
def test_strangers_get_an_error_and_nothing_else(served: Workbench, method: str, path: str) -> None:
    assert served.ask(method, path, Cookie="")[0] == 403
    assert served.ask(method, path, Cookie="voile-page-1=x")[0] == 403
    assert served.ask(method, path, Host="rogue.example")[0] == 403
    foreign = {"Origin": "http://rogue.example", "Sec-Fetch-Site": "cross-site"}
    assert served.ask(method, path, **foreign)[0] == 403
    if method == "POST":
        assert served.ask(method, path, Origin="")[0] == 403


def test_an_address_works_once(served: Workbench) -> None:
    assert served.ask("POST", "/session", served.token, Cookie="")[0] == 403


def test_every_answer_forbids_scripts_of_others(served: Workbench) -> None:
    for path in ("/", "/page.js", "/state", "/nothing"):
        headers = served.ask("GET", path)[2]
        assert "default-src 'none'" in headers["content-security-policy"]
        assert headers["x-content-type-options"] == "nosniff"
        assert headers["cache-control"] == "no-store"


@pytest.mark.parametrize(
    "form",
    [
        {"path": "../../etc/passwd\x00"},
        {"path": "x" * 5000},
        {"path": "/nowhere.csv"},
        {"path": "--out=/tmp/x"},
        {"path": ["a"]},
        {},
    ],
)
def test_a_wrong_field_is_named(served: Workbench, form: dict[str, object]) -> None:
    status, said = served.post("/act", act="data.inspect", form=form)
    assert (status, said["field"]) == (400, "path")


@pytest.mark.parametrize("path", ["screen", "stroke", "session", "page.js", "..%2Fstate"])
def test_nothing_is_passed_on_while_no_verb_serves_a_reading(served: Workbench, path: str) -> None:
    status, said, _ = served.ask("POST", f"/reading/{path}", "{}")
    assert (status, "reading has ended" in said) in {(400, True), (404, False)}


def test_requests_that_the_page_never_sends_are_refused(served: Workbench) -> None:
    for body in (
        "[]",
        "{",
        '{"act": 1}',
        '{"act": "data.rm", "form": {}}',
        '{"act": "data.inspect", "form": 3}',
    ):
        assert served.ask("POST", "/act", body)[0] == 400
    assert served.ask("POST", "/act", "{}" + " " * (1 << 17))[0] == 413
    assert served.ask("GET", "/screen/__init__")[0] == 400


@pytest.mark.browser
def test_names_of_columns_and_files_are_shown_and_not_obeyed(
    chromium: Browser, table: Path
) -> None:
    other = table.with_name("b.csv")
    other.write_bytes(table.read_bytes())
    context = chromium.new_context()
    with opened(other) as served:
        window = Window(context)
        window.open(served.address)
        path = served.address.partition("#")[0]
        window.expect_step("Data")
        window.fill("field-path", f"../{table.name}")
        window.run("data.inspect")
        window.go(2, "Roles")
        expect(window.page.locator(".roles tbody th").first).to_have_text(NASTY, timeout=PATIENCE)
        assert window.page.evaluate("window.hacked") is None
        assert window.page.locator("img").count() == 0
        window.pick("role-0", "drop")
        window.run("roles.save")
        assert served.process.poll() is None
        assert all(one.startswith(path) for one in window.requests)
        assert window.messages == []
    context.close()
    roles = (other.with_name("b-project") / "roles.toml").read_text()
    assert '= "drop"' in roles.splitlines()[7]
