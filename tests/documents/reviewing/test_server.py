"""The server answers the browser that was given the address, and nobody else."""

from __future__ import annotations

import json
import time
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest
from tests.documents.reviewing.made import TYPES, Served, everything, letter, served

from voile.core.errors import RequestError
from voile.documents.reviewing.progress import LineCounts
from voile.documents.reviewing.server import serve
from voile.documents.reviewing.store import ReviewStore

pytestmark = pytest.mark.whole
Make = Callable[..., Path]


@pytest.fixture
def serving(made: Make) -> Iterator[Served]:
    with served(made(), "Eva") as server:
        yield server


def test_a_key_is_saved_before_it_is_answered(serving: Served) -> None:
    assert serving.screen("Eva")["line"]["number"] == 1
    screen = serving.stroke("Eva", "clear", 9, 10)
    other = ReviewStore.open(serving.store.path)
    look = other.shown_to(1, "Eva")
    assert look is not None
    assert len(look.spans) == len(screen["line"]["marks"]) == 2
    assert serving.stroke("Eva", "confirm")["line"]["number"] == 2
    assert [one.line for one in other.answers()] == [1]


@pytest.mark.parametrize("path", ["/", "/page.js", "/page.css", "/screen", "/none"])
@pytest.mark.parametrize("host", ["evil.example", "127.0.0.1", "127.0.0.1:1", "evil.example:{}"])
def test_another_name_that_leads_here_is_answered_nothing(
    serving: Served, path: str, host: str
) -> None:
    cookie = serving.enter("Eva")
    host = host.format(serving.port)
    status, said, _ = serving.ask("GET", path, host=host, cookie=cookie)
    assert (status, "line" in said) == (403, False)


@pytest.mark.parametrize("origin", ["", "null", "http://evil.example", "http://127.0.0.1:1"])
@pytest.mark.parametrize("path", ["/stroke", "/session", "/end"])
def test_what_another_page_sends_changes_nothing(serving: Served, path: str, origin: str) -> None:
    cookie = serving.enter("Eva")
    sent = json.dumps({"act": "confirm", "line": 1, "key": 0})
    assert serving.ask("POST", path, sent, origin=origin, cookie=cookie)[0] == 403
    assert serving.store.answers() == []
    assert serving.screen("Eva")["line"]["number"] == 1


def test_another_page_may_not_read_though_the_cookie_came_along(serving: Served) -> None:
    cookie = serving.enter("Eva")
    for site in ("cross-site", "same-site"):
        asked = serving.ask("GET", "/screen", cookie=cookie, sec_fetch_site=site)
        assert asked[0] == 403
    assert serving.ask("GET", "/", sec_fetch_site="cross-site")[0] == 200  # no word of the text


@pytest.mark.parametrize(
    ("method", "path"), [("GET", "/screen"), ("POST", "/stroke"), ("POST", "/end")]
)
def test_without_a_cookie_of_this_server_there_is_no_text(
    serving: Served, method: str, path: str
) -> None:
    for cookie in ("", "voile-page-1=x", f"voile-page-{serving.port}=x", "=; ,;{}"):
        status, said, _ = serving.ask(method, path, cookie=cookie)
        assert (status, json.loads(said)) == (403, {"error": "open the address that voile printed"})


def test_a_token_works_once(serving: Served) -> None:
    token = serving.addresses["Eva"].split("#")[1]
    serving.enter("Eva")
    for tried in (token, "", "x", token[:-1]):
        status, _, headers = serving.ask("POST", "/session", tried)
        assert status == 403
        assert "set-cookie" not in headers
    assert serving.screen("Eva")["state"] == "line"


def test_the_cookie_stays_with_this_site_and_out_of_scripts(serving: Served) -> None:
    _, _, headers = serving.ask("POST", "/session", serving.addresses["Eva"].split("#")[1])
    assert {"HttpOnly", "SameSite=Strict", "Path=/"} <= set(headers["set-cookie"].split("; "))


def test_every_answer_forbids_frames_scripts_from_elsewhere_and_copies(serving: Served) -> None:
    for path in ("/", "/page.js", "/screen", "/none"):
        _, _, headers = serving.ask("GET", path)
        policy = headers["content-security-policy"]
        assert "default-src 'none'" in policy
        assert "frame-ancestors 'none'" in policy
        assert "unsafe" not in policy
        assert headers["cache-control"] == "no-store"
        assert headers["x-frame-options"] == "DENY"
        assert headers["referrer-policy"] == "no-referrer"
        assert "server" not in headers


@pytest.mark.parametrize(
    "sent",
    [
        "", "[]", "{", '{"act": "confirm"}', '{"act": "drop", "line": 1, "key": 0}',
        '{"act": "mark", "line": 1, "key": 0, "words": [0, 1], "label": "<b>"}',
        '{"act": "mark", "line": 1, "key": 0, "words": [0, 9999], "label": "NAME"}',
        '{"act": "mark", "line": 1, "key": 0, "words": [-1, 1], "label": "NAME"}',
        '{"act": "confirm", "line": 1e99, "key": 0}', '"\\ud800"',
    ],
)  # fmt: skip
def test_what_the_page_never_sends_is_refused_in_a_sentence(serving: Served, sent: str) -> None:
    status, said, _ = serving.ask("POST", "/stroke", sent, cookie=serving.enter("Eva"))
    assert status == 400
    assert set(json.loads(said)) == {"error"}
    assert serving.store.answers() == []


def test_what_is_too_long_is_refused_before_it_is_read(serving: Served) -> None:
    cookie = serving.enter("Eva")
    assert serving.ask("POST", "/stroke", "x" * 70_000, cookie=cookie)[0] == 413
    chunked = serving.ask("POST", "/stroke", "", cookie=cookie, transfer_encoding="chunked")
    assert chunked[0] == 413


def test_an_old_window_is_told_so_and_saves_nothing(serving: Served) -> None:
    cookie = serving.enter("Eva")
    serving.stroke("Eva", "clear", 9, 10)
    sent = json.dumps({"act": "confirm", "line": 1, "key": 0})
    status, said, _ = serving.ask("POST", "/stroke", sent, cookie=cookie)
    assert status == 409
    assert "another window" in said
    assert serving.store.answers() == []


def test_a_second_server_of_a_review_is_refused(serving: Served) -> None:
    with pytest.raises(RequestError, match="another voile serves this review"):
        serve(ReviewStore.open(serving.store.path), browser=False)


def test_a_port_that_is_taken_is_refused(serving: Served, tmp_path: Path) -> None:
    other = ReviewStore.create(tmp_path / "other.sqlite", meta={})
    with pytest.raises(RequestError, match=f"the port {serving.port} is taken; use another --port"):
        serve(other, port=serving.port, browser=False)


def test_it_listens_on_the_loopback_interface_alone(serving: Served) -> None:
    table = Path("/proc/net/tcp").read_text() + Path("/proc/net/tcp6").read_text()
    bound = [one.split()[1] for one in table.splitlines() if f":{serving.port:04X} " in one[:30]]
    assert {one.split(":")[0] for one in bound} == {"0100007F"}


def test_the_browser_is_opened_by_a_private_file(
    made: Make, monkeypatch: pytest.MonkeyPatch
) -> None:
    opened: list[str] = []
    monkeypatch.setattr("webbrowser.open", lambda url: opened.append(url))
    with served(made(), "Eva", browser=True) as server:
        file = server.store.path.parent / "open-review.html"
        while not opened:
            time.sleep(0.01)
        assert server.addresses["Eva"] in file.read_text()
        assert file.stat().st_mode & 0o777 == 0o600
    assert opened == [file.resolve().as_uri()]
    assert not file.exists()
    assert "#" not in opened[0]


def test_two_reviewers_have_a_line_each(made: Make) -> None:
    with served(made(), "Eva", "Bo") as server:
        assert server.screen("Eva")["line"]["number"] == 1
        assert server.screen("Bo")["line"]["number"] == 2
        assert server.screen("Bo")["reviewer"] == "Bo"


def test_lines_that_are_added_are_counted(made: Make) -> None:
    with ReviewStore.open(made()) as store:
        counts = LineCounts(store, ["review"], goal=100)
        assert counts.standing("Eva").lines == 4
        store.add([letter()], batch=2)
        assert counts.standing("Eva").lines == 5
        assert counts.standing("Eva").goal == 100
        store.add([letter()] * 10, batch=3)  # more than was planned
        assert counts.standing("Eva").goal > 150


def test_how_much_is_left_is_shown_and_the_end_ends_it(made: Make) -> None:
    with served(made(), "Eva", goal=100) as server:
        first = server.screen("Eva")["standing"]
        assert (first["read"], first["goal"], first["lines"]) == (0, 100, 4)
        after = server.stroke("Eva", "confirm")["standing"]
        assert after["read"] > 10
        assert after["lines"] == 3
        for _ in range(3):
            last = server.stroke("Eva", "confirm")
        assert (last["state"], last["types"]) == ("done", list(TYPES))
        assert server.stroke("Eva", "undo")["line"]["number"] == 4


def test_no_word_of_the_text_is_said_or_logged(
    made: Make, capfd: pytest.CaptureFixture[str], caplog: pytest.LogCaptureFixture
) -> None:
    with served(made(), "Eva") as server:
        server.stroke("Eva", "all", 9, 10)
        server.stroke("Eva", "confirm")
        server.ask("POST", "/stroke", '{"act": "Osei"}', cookie=server.cookies["Eva"])
        server.ask("GET", "/Osei?q=Osei", cookie=server.cookies["Eva"])
        server.store.run("UPDATE lines SET proposals = '[[1]]', text = 'Osei'")
        assert server.ask("GET", "/screen", cookie=server.cookies["Eva"])[0] == 400
        server.store.run("DROP TABLE lines")
    said = "".join([*everything(server.said), *capfd.readouterr(), caplog.text])
    assert "Osei" not in said
    assert "Summer" not in said


def test_a_fault_of_its_own_is_said_without_what_it_holds(
    made: Make, monkeypatch: pytest.MonkeyPatch, capfd: pytest.CaptureFixture[str]
) -> None:
    def fail(*_: object) -> None:
        raise ZeroDivisionError("Osei")

    with served(made(), "Eva") as server:
        server.enter("Eva")
        with monkeypatch.context() as patched:
            patched.setattr("voile.documents.reviewing.desk.ReviewDesk.look", fail)
            status, said, _ = server.ask("GET", "/screen", cookie=server.cookies["Eva"])
        assert (status, json.loads(said)) == (500, {"error": "voile failed; nothing was lost"})
        assert server.screen("Eva")["state"] == "line"
    noted = everything(server.said)
    assert any("ZeroDivisionError" in one for one in noted)
    assert "Osei" not in "".join([*noted, *capfd.readouterr()])


def test_a_key_is_answered_in_50_milliseconds_in_a_long_review(made: Make) -> None:
    from tests.documents.reviewing.made import summers

    with served(made(*summers(2000)), "Eva") as server:
        times = []
        for _ in range(40):
            began = time.perf_counter()
            server.stroke("Eva", "confirm")
            times.append(time.perf_counter() - began)
        assert sorted(times)[len(times) // 2] / 2 < 0.05  # a stroke here is two requests
