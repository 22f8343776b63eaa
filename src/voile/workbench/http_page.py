"""The workbench as a web application, protected like all local pages."""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any

from starlette.applications import Starlette
from starlette.concurrency import run_in_threadpool
from starlette.requests import Request
from starlette.responses import JSONResponse, Response
from starlette.routing import Route

from voile.core.errors import RequestError
from voile.localpage.guard import BrowserGuard
from voile.localpage.guarded_page import GuardedPage, answer_stranger, route_files
from voile.workbench.page_people import check_holder
from voile.workbench.project_session import ProjectSession
from voile.workbench.project_view import FieldError

Handler = Callable[[str, Mapping[str, Any]], Any]


@dataclass(frozen=True)
class WorkbenchPage:
    """The web application that answers the browsers of a project's people.

    Parameters
    ----------
    session : the served project.
    guard : the check of each browser's cookie.
    notify : a function that prints a message.
    leave : a function that ends the server.
    """

    session: ProjectSession
    guard: BrowserGuard
    notify: Callable[[str], None]
    leave: Callable[[], None]

    def application(self) -> Starlette:
        """Return the page as an ASGI application."""
        session = self.session
        routes = [
            *route_files("voile.localpage"),
            *route_files("voile.workbench"),
            self._route("/state", "GET", lambda person, _: session.describe_state(person)),
            self._route("/history", "GET", lambda person, _: session.describe_history(person)),
            self._route(
                "/screen/{step}",
                "GET",
                lambda one, given: session.describe_screen(one, given["step"]),
            ),
            self._route("/plan", "POST", lambda one, given: session.plan(one, *_read_act(given))),
            self._route("/act", "POST", lambda one, given: session.perform(one, *_read_act(given))),
            self._route("/stop", "POST", lambda one, _: session.stop(one)),
            self._route("/undo", "POST", lambda one, _: {"step": session.undo(one)}),
            self._route("/end", "POST", lambda one, _: self._end(one)),
            Route("/reading/{path}", self._relay_reading, methods=["GET", "POST"]),
        ]
        return GuardedPage(self.guard, self.notify).make_application(routes)

    def _end(self, person: str) -> None:
        check_holder(person)
        self.leave()

    async def _relay_reading(self, request: Request) -> Response:
        """Relay a request of the reading inside the page to the session."""
        person = self.guard.find_person(request.headers)
        if person is None:
            return answer_stranger()
        body = await request.body()
        path = request.path_params["path"]
        status, content = await run_in_threadpool(self.session.relay_reading, person, path, body)
        return Response(content, status_code=status, media_type="application/json")

    def _route(self, path: str, method: str, handle: Handler) -> Route:
        """Return a route for people with a cookie. A thread handles the request."""

        async def answer(request: Request) -> Response:
            person = self.guard.find_person(request.headers)
            if person is None:
                return answer_stranger()
            given = dict(request.path_params)
            if method == "POST":
                given |= _read_object(await request.body())
            try:
                found = await run_in_threadpool(handle, person, given)
            except FieldError as error:
                wrong = {"error": str(error), "field": error.field, "problems": error.problems}
                return JSONResponse(wrong, status_code=400)
            return Response(status_code=204) if found is None else JSONResponse(found)

        return Route(path, answer, methods=[method])


def _read_object(body: bytes) -> dict[str, Any]:
    try:
        data = json.loads(body or b"{}")
    except (json.JSONDecodeError, UnicodeDecodeError):
        data = None
    if not isinstance(data, dict):
        raise RequestError("the request is malformed")
    return data


def _read_act(given: Mapping[str, Any]) -> tuple[str, Mapping[str, Any]]:
    act, form = given.get("act"), given.get("form", {})
    if not isinstance(act, str) or not isinstance(form, dict):
        raise RequestError("the request is malformed")
    return act, form
