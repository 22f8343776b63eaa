"""The review page as a web application: its routes and its responses."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

from starlette.applications import Starlette
from starlette.requests import Request
from starlette.responses import JSONResponse, Response
from starlette.routing import Route

from voile.documents.reviewing.batches import ReviewBatches
from voile.documents.reviewing.desk import ReviewDesk
from voile.documents.reviewing.progress import LineCounts
from voile.documents.reviewing.screen import screen_of, stroke_of
from voile.localpage.guard import BrowserGuard
from voile.localpage.guarded_page import GuardedPage, answer_stranger, route_files


@dataclass(frozen=True)
class ReviewPage:
    """The web application that answers the browser of each reviewer.

    Parameters
    ----------
    batches : the source of further lines; None if there are no others.
    types : the types of identifiers, in the order of the digits that set them.
    notify : a function that receives each failure, as a sentence without any word of the text.
    leave : a function that ends the server.
    """

    desk: ReviewDesk
    counts: LineCounts
    batches: ReviewBatches | None
    types: Sequence[str]
    guard: BrowserGuard
    notify: Callable[[str], None]
    leave: Callable[[], None]

    def application(self) -> Starlette:
        """Return the page as an ASGI application."""
        routes = [
            *route_files("voile.localpage"),
            *route_files("voile.documents.reviewing"),
            Route("/screen", self._show, methods=["GET"]),
            Route("/stroke", self._strike, methods=["POST"]),
            Route("/end", self._end, methods=["POST"]),
        ]
        return GuardedPage(self.guard, self.notify).make_application(routes)

    async def _show(self, request: Request) -> Response:
        reviewer = self.guard.find_person(request.headers)
        return answer_stranger() if reviewer is None else JSONResponse(self._screen(reviewer))

    async def _strike(self, request: Request) -> Response:
        reviewer = self.guard.find_person(request.headers)
        if reviewer is None:
            return answer_stranger()
        stroke = stroke_of(await request.body(), self.types)
        said = self.desk.strike(reviewer, stroke)
        return JSONResponse({**self._screen(reviewer), "said": said})

    async def _end(self, request: Request) -> Response:
        if self.guard.find_person(request.headers) is None:
            return answer_stranger()
        self.leave()
        return Response(status_code=204)

    def _screen(self, reviewer: str) -> dict[str, Any]:
        if self.batches is not None:
            self.batches.refill()
        look = self.desk.look(reviewer)
        standing = self.counts.standing(reviewer)
        learning = self.batches is not None and self.batches.is_learning
        sheet = self.desk.sheet(look, reviewer) if look else ()
        others = look is None and any(map(self._waits, self.guard.people - {reviewer}))
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
