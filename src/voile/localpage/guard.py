"""Admit requests to the local server only from the browser that received the address.

Another page in that browser may send requests here, and its own domain name may lead here (DNS
rebinding). So every request must name this server as its host, and any change must come from this
page. Only a browser with the cookie, which no other site can send, receives text. The page gets the
cookie once, in exchange for the token of the address. It then removes the token from the history.
"""

from __future__ import annotations

import hmac
import secrets
from collections.abc import Mapping, Sequence
from http.cookies import CookieError, SimpleCookie

from voile.core.errors import RequestError

HEADERS = {
    "Content-Security-Policy": (
        "default-src 'none'; script-src 'self'; style-src 'self'; connect-src 'self'; "
        "img-src 'self'; base-uri 'none'; form-action 'none'; frame-ancestors 'none'; "
        "require-trusted-types-for 'script'; trusted-types 'none'"
    ),
    "Cache-Control": "no-store",
    "Cross-Origin-Opener-Policy": "same-origin",
    "Cross-Origin-Resource-Policy": "same-origin",
    "Permissions-Policy": "camera=(), geolocation=(), microphone=()",
    "Referrer-Policy": "no-referrer",
    "X-Content-Type-Options": "nosniff",
    "X-Frame-Options": "DENY",
}
"""The headers of every response.

They forbid outside content, caching, and framing by another page.
"""


class StaleError(RequestError):
    """The page shows an old state of the server. Load the page again."""


class BrowserGuard:
    """A guard that recognises each person's browser.

    Parameters
    ----------
    port : the port of the server on the loopback interface.
    people : the names of the people. Each person has a separate address.
    """

    def __init__(self, port: int, people: Sequence[str]) -> None:
        self._port = port
        self._tokens = {secrets.token_urlsafe(24): name for name in people}
        self._sessions: dict[str, str] = {}
        self.people = frozenset(people)
        # Browsers send a cookie to every port of a machine, so its name includes the port.
        self._cookie = f"voile-page-{port}"

    @property
    def addresses(self) -> dict[str, str]:
        """The address for each person.

        A browser does not send the part after the # to the server.
        """
        return {
            name: f"http://127.0.0.1:{self._port}/#{token}" for token, name in self._tokens.items()
        }

    def refuses(self, method: str, path: str, headers: Mapping[str, str]) -> str:
        """Return why a request is refused, or an empty text. Everybody may get the empty page."""
        hosts = {f"{name}:{self._port}" for name in ("127.0.0.1", "localhost")}
        host = headers.get("host", "")
        if host not in hosts:
            return "this server has another name"
        is_ours = headers.get("sec-fetch-site", "none") in ("same-origin", "none")
        if method not in ("GET", "HEAD"):
            is_ours &= headers.get("origin") == f"http://{host}"
        return "" if is_ours or (method, path) == ("GET", "/") else "it comes from another page"

    def enter(self, token: str) -> str | None:
        """Exchange a token, once, for the value of `Set-Cookie`.

        Return None for an unknown token.
        """
        known = [one for one in self._tokens if hmac.compare_digest(one.encode(), token.encode())]
        if not known:
            return None
        session = secrets.token_urlsafe(24)
        self._sessions[session] = self._tokens.pop(known[0])
        return f"{self._cookie}={session}; Path=/; HttpOnly; SameSite=Strict"

    def find_person(self, headers: Mapping[str, str]) -> str | None:
        """Return the person of the browser that sent a request, or None without a valid cookie."""
        try:
            cookie = SimpleCookie(headers.get("cookie", "")).get(self._cookie)
        except CookieError:
            return None
        return self._sessions.get(cookie.value) if cookie else None
