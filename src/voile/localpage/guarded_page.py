"""Answer requests behind the guard: refusals, errors, the session and the page's files."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from importlib.resources import files
from typing import Any

from starlette.applications import Starlette
from starlette.middleware import Middleware
from starlette.middleware.base import BaseHTTPMiddleware, RequestResponseEndpoint
from starlette.requests import Request
from starlette.responses import JSONResponse, Response
from starlette.routing import BaseRoute, Route

from voile.core.errors import VoileError
from voile.localpage.guard import HEADERS, BrowserGuard, StaleError

KINDS = {
    ".css": "text/css",
    ".html": "text/html",
    ".js": "text/javascript",
    ".svg": "image/svg+xml",
}
LONGEST = 1 << 16
"""The largest size of a request in bytes."""


@dataclass(frozen=True)
class GuardedPage:
    """A page that is served to the people of a guard.

    Parameters
    ----------
    notify : called with a sentence about each fault. The sentence contains no value of the data.
    """

    guard: BrowserGuard
    notify: Callable[[str], None]

    def make_application(self, routes: Sequence[BaseRoute]) -> Starlette:
        """Return an ASGI application with these routes and the route of the session."""
        guarded = Middleware(BaseHTTPMiddleware, dispatch=self._guard_request)
        session = Route("/session", self._enter, methods=["POST"])
        return Starlette(routes=[*routes, session], middleware=[guarded])

    async def _guard_request(self, request: Request, answer: RequestResponseEndpoint) -> Response:
        """Refuse foreign requests. No error and no log contains a word of the data."""
        try:
            response = self._refusal(request) or await answer(request)
        except VoileError as error:
            response = answer_error(409 if isinstance(error, StaleError) else 400, str(error))
        except Exception as error:
            self.notify(f"a fault of voile's own: {type(error).__name__}; nothing was lost")
            response = answer_error(500, "voile failed; nothing was lost")
        response.headers.update(HEADERS)
        return response

    def _refusal(self, request: Request) -> Response | None:
        headers = request.headers
        if why := self.guard.refuses(request.method, request.url.path, headers):
            return answer_error(403, f"refused: {why}")
        length = headers.get("content-length", "0")
        if "transfer-encoding" in headers or not length.isdecimal() or int(length) > LONGEST:
            return answer_error(413, "refused: it is too long")
        return None

    async def _enter(self, request: Request) -> Response:
        cookie = self.guard.enter((await request.body()).decode("ascii", "replace"))
        if cookie is None:
            return answer_error(403, "this address was used before, or is of another page")
        return Response(status_code=204, headers={"Set-Cookie": cookie})


def route_files(package: str) -> Iterator[Route]:
    """Yield a route for each file in a package's `files`. Each file is read once."""
    for file in files(package).joinpath("files").iterdir():
        kind = KINDS.get(file.name[file.name.rfind(".") :])
        if kind:
            path = "/" if file.name == "index.html" else f"/{file.name}"
            yield Route(path, _answer_file(file.read_bytes(), kind), methods=["GET"])


def _answer_file(content: bytes, kind: str) -> Callable[[Request], Any]:
    async def answer(_: Request) -> Response:
        return Response(content, media_type=f"{kind}; charset=utf-8")

    return answer


def answer_stranger() -> Response:
    """Refuse a browser without a session."""
    return answer_error(403, "open the address that voile printed")


def answer_error(status: int, text: str) -> Response:
    """Return an error response with one sentence."""
    return JSONResponse({"error": text}, status_code=status)
