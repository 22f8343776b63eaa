"""The local page as a web application: what it may be asked, and what it answers."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from importlib.resources import files
from typing import Any

from starlette.applications import Starlette
from starlette.middleware import Middleware
from starlette.middleware.base import BaseHTTPMiddleware, RequestResponseEndpoint
from starlette.requests import Request
from starlette.responses import JSONResponse, Response
from starlette.routing import Route

from voile.core.errors import VoileError
from voile.documents.reviewing.batches import Batches
from voile.documents.reviewing.desk import Desk, StaleError
from voile.documents.reviewing.guard import HEADERS, BrowserGuard
from voile.documents.reviewing.progress import LineCounts
from voile.documents.reviewing.screen import screen_of, stroke_of

KINDS = {
    ".css": "text/css",
    ".html": "text/html",
    ".js": "text/javascript",
    ".svg": "image/svg+xml",
}
LONGEST = 1 << 16
"""Bytes of a request."""


@dataclass(frozen=True)
class Page:
    """Answer the browser of each reviewer.

    Parameters
    ----------
    batches : gives further lines; None where there are no others.
    types : of identifiers, in the order of the digits that set them.
    notify : told what went wrong, in a sentence without a word of the text.
    leave : ends the server.
    """

    desk: Desk
    counts: LineCounts
    batches: Batches | None
    types: Sequence[str]
    guard: BrowserGuard
    notify: Callable[[str], None]
    leave: Callable[[], None]

    def application(self) -> Starlette:
        """Return it as an ASGI application."""
        routes = [
            *_files(),
            Route("/session", self._enter, methods=["POST"]),
            Route("/screen", self._show, methods=["GET"]),
            Route("/stroke", self._strike, methods=["POST"]),
            Route("/end", self._end, methods=["POST"]),
        ]
        guarded = Middleware(BaseHTTPMiddleware, dispatch=self._guarded)
        return Starlette(routes=routes, middleware=[guarded])

    async def _guarded(self, request: Request, answer: RequestResponseEndpoint) -> Response:
        """Refuse what is not for us; no word of the text is in an error, nor in a log."""
        try:
            response = self._refusal(request) or await answer(request)
        except VoileError as error:
            response = _error(409 if isinstance(error, StaleError) else 400, str(error))
        except Exception as error:
            self.notify(f"a fault of voile's own: {type(error).__name__}; nothing was lost")
            response = _error(500, "voile failed; nothing was lost")
        response.headers.update(HEADERS)
        return response

    def _refusal(self, request: Request) -> Response | None:
        headers = request.headers
        if why := self.guard.refuses(request.method, request.url.path, headers):
            return _error(403, f"refused: {why}")
        length = headers.get("content-length", "0")
        if "transfer-encoding" in headers or not length.isdecimal() or int(length) > LONGEST:
            return _error(413, "refused: it is too long")
        return None

    async def _enter(self, request: Request) -> Response:
        cookie = self.guard.enter((await request.body()).decode("ascii", "replace"))
        if cookie is None:
            return _error(403, "this address was used before, or is of another review")
        return Response(status_code=204, headers={"Set-Cookie": cookie})

    async def _show(self, request: Request) -> Response:
        reviewer = self.guard.reviewer(request.headers)
        return _stranger() if reviewer is None else JSONResponse(self._screen(reviewer))

    async def _strike(self, request: Request) -> Response:
        reviewer = self.guard.reviewer(request.headers)
        if reviewer is None:
            return _stranger()
        stroke = stroke_of(await request.body(), self.types)
        said = self.desk.strike(reviewer, stroke)
        return JSONResponse({**self._screen(reviewer), "said": said})

    async def _end(self, request: Request) -> Response:
        if self.guard.reviewer(request.headers) is None:
            return _stranger()
        self.leave()
        return Response(status_code=204)

    def _screen(self, reviewer: str) -> dict[str, Any]:
        if self.batches is not None:
            self.batches.refill()
        look = self.desk.look(reviewer)
        standing = self.counts.standing(reviewer)
        learning = self.batches is not None and self.batches.is_learning
        sheet = self.desk.sheet(look, reviewer) if look else ()
        others = look is None and any(map(self._waits, self.guard.reviewers - {reviewer}))
        return screen_of(
            look,
            standing,
            sheet,
            reviewer=reviewer,
            types=self.types,
            learning=learning,
            others=others,
        )

    def _waits(self, reviewer: str) -> bool:
        return self.desk.store.waiting(reviewer, self.desk.purposes) > 0


def _files() -> Iterator[Route]:
    """Yield the routes of the page's own files, which are read once."""
    for file in files("voile.documents.reviewing").joinpath("files").iterdir():
        kind = KINDS.get(file.name[file.name.rfind(".") :])
        if kind:
            path = "/" if file.name == "index.html" else f"/{file.name}"
            yield Route(path, _file(file.read_bytes(), f"{kind}; charset=utf-8"), methods=["GET"])


def _file(content: bytes, kind: str) -> Callable[[Request], Any]:
    async def answer(_: Request) -> Response:
        return Response(content, media_type=kind)

    return answer


def _stranger() -> Response:
    return _error(401, "open the address that voile printed")


def _error(status: int, said: str) -> Response:
    error: Mapping[str, str] = {"error": said}
    return JSONResponse(error, status_code=status)
