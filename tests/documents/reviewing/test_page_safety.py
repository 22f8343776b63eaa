"""What hostile notes, addresses, pages and names do at the page, in the system's Chromium."""

from __future__ import annotations

import http.server
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from threading import Thread

import pytest
from playwright.sync_api import Browser, expect
from tests.documents.reviewing.made import Served, found, line, served
from tests.documents.reviewing.window import Window

pytestmark = [pytest.mark.browser, pytest.mark.whole]
Make = Callable[..., Path]
NASTY = (
    "<script>window.hacked=1</script><img src=x onerror='window.hacked=1'> {{7*7}} "
    "\u202edrawkcab\u202c \u200bhidden\x00 </span><style>*{display:none}</style> javascript:x()"
)


def test_markup_scripts_and_directions_of_a_note_are_shown_and_not_obeyed(
    made: Make, window: Callable[..., Window]
) -> None:
    shown = found(NASTY, "drawkcab", "NAME", NASTY, 0.9)
    hostile = line(NASTY, shown, before=NASTY, after=NASTY, why=NASTY)
    with served(made(hostile), "Eva", types=["NAME", "<b>TYPE</b>"]) as server:
        eva = window()
        eva.open(server.addresses["Eva"])
        text = eva.page.locator("#line").inner_text()
        for part in ("<script>", "⟨U+202E⟩", "⟨U+200B⟩", "⟨U+0000⟩", "</span>", "{{7*7}}"):
            assert part in text
        assert "\u202e" not in eva.page.content()
        assert eva.page.evaluate("window.hacked") is None
        assert eva.page.locator("#desk img, #desk script, #desk style").count() == 0
        eva.press("a", "Enter")
        expect(eva.page.locator("#title")).to_have_text("Nothing is left to read")
        assert {one.rsplit("/", 1)[0] for one in eva.requests} == {server.origin}
        assert eva.messages == []


def test_the_token_leaves_the_address_and_the_title_and_addresses_hold_no_text(
    eva: Window, serving: Served
) -> None:
    token = serving.addresses["Eva"].split("#")[1]
    eva.press("Space", "Enter")
    expect(eva.page.locator("#standing")).to_contain_text("3 lines")
    assert eva.page.url == f"{serving.origin}/"
    assert eva.page.title() == "Review · voile"
    asked = {one.removeprefix(serving.origin) for one in eva.requests} - {"/icon.svg"}
    parts = {f"/reading{one}.js" for one in ("", "_cursor", "_frame", "_keys", "_view")}
    files = {"/", "/page.css", "/page.js", "/reading.css", "/dom.js", *parts}
    assert asked == {*files, "/session", "/screen", "/stroke"}
    assert eva.page.evaluate("history.length") <= 2
    eva.page.reload()
    eva.page.wait_for_selector("#line .word")
    assert token not in eva.page.evaluate("[location.href, document.cookie].join()")


def test_an_address_that_was_used_says_so_and_shows_nothing(
    eva: Window, serving: Served, window: Callable[..., Window]
) -> None:
    thief = window()
    thief.page.goto(serving.addresses["Eva"])
    expect(thief.page.locator("#title")).to_have_text("This address was used before")
    thief.page.goto(f"{serving.origin}/?again")
    expect(thief.page.locator("#title")).to_have_text("Open the address that voile printed")
    assert "Osei" not in thief.page.content()


HOSTILE = """<!doctype html><iframe id=frame src="{origin}/"></iframe>
<form id=form action="{origin}/stroke" method=post enctype="text/plain">
<input name='{{"act":"confirm","line":1,"key":0,"label":"' value='"}}'></form>
<script>
window.tried = (async () => {{
  const tries = [
    fetch("{origin}/screen", {{credentials: "include"}}),
    fetch("{origin}/screen", {{credentials: "include", mode: "no-cors"}}).then((r) => r.text()),
    fetch("{origin}/stroke", {{method: "POST", credentials: "include", mode: "no-cors",
      body: JSON.stringify({{act: "confirm", line: 1, key: 0}})}}).then((r) => r.text()),
    import("{origin}/page.js"),
  ];
  return (await Promise.allSettled(tries)).map((one) => one.value ? String(one.value) : "");
}})();
</script>"""


@contextmanager
def hostile_page(origin: str) -> Iterator[str]:
    """Serve a page of another origin on this machine."""

    class Handler(http.server.BaseHTTPRequestHandler):
        def do_GET(self) -> None:
            self.send_response(200)
            self.send_header("Content-Type", "text/html")
            self.end_headers()
            self.wfile.write(HOSTILE.format(origin=origin).encode())

        def log_message(self, *_: object) -> None:
            """Say nothing."""

    server = http.server.ThreadingHTTPServer(("127.0.0.1", 0), Handler)
    Thread(target=server.serve_forever, daemon=True).start()
    yield f"http://localhost:{server.server_port}/"
    server.shutdown()


def test_a_hostile_page_in_the_same_browser_reads_and_changes_nothing(
    eva: Window, serving: Served
) -> None:
    with hostile_page(serving.origin) as address:
        rogue = eva.page.context.new_page()
        rogue.goto(address)
        assert rogue.evaluate("window.tried") == ["", "", "", ""]
        frame = rogue.frames[1]
        assert "Osei" not in frame.content()
        assert frame.locator("#line").count() == 0
        rogue.locator("#form").evaluate("(form) => form.submit()")
        rogue.wait_for_url(f"{serving.origin}/stroke")
        assert "refused: it comes from another page" in rogue.content()
    assert serving.store.answers() == []
    eva.press("Enter")
    expect(eva.page.locator("#standing")).to_contain_text("3 lines")


def test_another_name_that_leads_to_this_machine_shows_nothing(
    serving: Served, chromium: Browser
) -> None:
    rebound = chromium.browser_type.launch(
        executable_path="/usr/bin/chromium",
        args=["--no-sandbox", "--host-resolver-rules=MAP evil.example 127.0.0.1"],
    )
    page = rebound.new_page()
    page.goto(f"http://evil.example:{serving.port}/#{serving.addresses['Eva'].split('#')[1]}")
    assert "this server has another name" in page.content()
    rebound.close()
    assert serving.screen("Eva")["state"] == "line"  # the token was not spent


def test_two_windows_of_one_reviewer_do_not_overwrite_each_other(
    eva: Window, serving: Served
) -> None:
    other = Window(eva.page.context)
    other.open(f"{serving.origin}/")
    eva.press("Space")
    eva.expect_marks("Amara Osei NAME · staff.surname", "12/03/2024 DATE")
    other.press("Enter")
    expect(other.page.locator("#said")).to_contain_text("changed in another window")
    other.expect_marks("Amara Osei NAME · staff.surname", "12/03/2024 DATE")
    assert serving.store.answers() == []
