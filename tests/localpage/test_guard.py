"""The guard of a local page: one browser for each address, and requests of this page alone."""

from __future__ import annotations

import pytest

from voile.localpage.guard import BrowserGuard

PORT = 8123
HOST = f"127.0.0.1:{PORT}"
OURS = {"host": HOST, "origin": f"http://{HOST}", "sec-fetch-site": "same-origin"}


@pytest.fixture
def guard() -> BrowserGuard:
    return BrowserGuard(PORT, ["Eva", "Ben"])


def enter(guard: BrowserGuard, name: str) -> str | None:
    return guard.enter(guard.addresses[name].partition("#")[2])


def test_each_address_is_of_this_machine_and_has_a_token_of_its_own(guard: BrowserGuard) -> None:
    assert {*guard.addresses} == guard.people == {"Eva", "Ben"}
    places = {one.partition("#")[0] for one in guard.addresses.values()}
    tokens = {one.partition("#")[2] for one in guard.addresses.values()}
    assert places == {f"http://{HOST}/"}
    assert len(tokens) == 2
    assert all(len(one) >= 32 for one in tokens)


def test_a_token_works_once_and_its_cookie_names_the_person(guard: BrowserGuard) -> None:
    token = guard.addresses["Eva"].partition("#")[2]
    cookie = guard.enter(token)
    assert cookie is not None
    assert cookie.endswith("; Path=/; HttpOnly; SameSite=Strict")
    assert guard.enter(token) is None
    assert guard.find_person({"cookie": cookie.partition(";")[0]}) == "Eva"
    assert enter(guard, "Ben") != cookie


@pytest.mark.parametrize("cookie", ["", "voile-page-8123=x", "voile-page-8124=x", "=; ,;{}"])
def test_another_cookie_is_nobodys(guard: BrowserGuard, cookie: str) -> None:
    enter(guard, "Eva")
    assert guard.find_person({"cookie": cookie}) is None


@pytest.mark.parametrize("token", ["", "x", "\udcff", "é" * 32])
def test_another_token_enters_nobody(guard: BrowserGuard, token: str) -> None:
    assert guard.enter(token.encode("utf-8", "replace").decode()) is None
    assert len(guard.addresses) == 2


@pytest.mark.parametrize(
    ("method", "path", "changed"),
    [
        ("GET", "/", {"host": "rogue.example"}),
        ("GET", "/state", {"host": f"127.0.0.1:{PORT + 1}"}),
        ("GET", "/state", {"sec-fetch-site": "cross-site"}),
        ("POST", "/act", {"origin": "http://rogue.example"}),
        ("POST", "/act", {"origin": "null"}),
        ("POST", "/", {"sec-fetch-site": "same-site"}),
    ],
)
def test_requests_of_others_are_refused(
    guard: BrowserGuard, method: str, path: str, changed: dict[str, str]
) -> None:
    assert guard.refuses(method, path, OURS) == ""
    assert guard.refuses(method, path, OURS | changed)


def test_a_link_of_another_page_may_open_the_empty_page(guard: BrowserGuard) -> None:
    assert guard.refuses("GET", "/", OURS | {"sec-fetch-site": "cross-site"}) == ""
