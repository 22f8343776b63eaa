"""The verb `voile open`, which serves a project's page until a person ends it."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from contextlib import ExitStack, closing, suppress
from importlib.util import find_spec
from pathlib import Path
from threading import Event
from typing import TYPE_CHECKING

from voile.core.errors import RequestError, install
from voile.data.files.locks import hold_lock
from voile.localpage.guard import BrowserGuard
from voile.localpage.server import listen, open_browser, run_application
from voile.workbench.page_people import HOLDER, OTHERS
from voile.workbench.project_folder import PROJECT, ProjectFolder

if TYPE_CHECKING:
    from starlette.applications import Starlette

LOCK, OPENER = ".open.lock", ".open.html"
OFTEN = 0.2  # the interval in seconds between checks for the end


def serve_project(
    given: Path | None,
    *,
    port: int,
    browser: bool,
    notify: Callable[[str], None],
    people: Sequence[str] = (),
) -> None:
    """Serve the page of a project, or of a table's project, until a person ends it.

    Parameters
    ----------
    given : a project's folder or a table. None means the current folder.
    port : the port, or 0 for a free one.
    browser : whether to open the address in a browser.
    notify : a function that receives the addresses, and one sentence for each fault.
    people : reviewer, approver or both, in addition to the data holder. Each has a separate
        address.

    Raises
    ------
    RequestError : the folder is not a project, another voile serves it, or the port is in use.
    """
    for name in ("starlette", "uvicorn"):
        if find_spec(name) is None:
            raise RequestError(f"{name} is not installed", instead=install("workbench"))
    place = Path() if given is None else given
    folder = ProjectFolder.open_or_create(place)
    with suppress(KeyboardInterrupt), ExitStack() as stack:
        remedy = "use its page, or end it first"
        served = RequestError(
            "another voile serves this project", where=str(folder.path), instead=remedy
        )
        stack.enter_context(hold_lock(folder.path / LOCK, served))
        listening = stack.enter_context(closing(listen(port)))
        others = [OTHERS[one] for one in dict.fromkeys(people)]
        guard = BrowserGuard(listening.getsockname()[1], [HOLDER, *others])
        address = guard.addresses[HOLDER]
        notify(f"{folder.path / PROJECT}: {address}")
        for name in others:
            notify(f"{name}: {guard.addresses[name]}")
        notify("keep this running while you work; Ctrl-C ends it, and every step is saved")
        if browser:
            stack.callback((folder.path / OPENER).unlink, missing_ok=True)
            open_browser(address, folder.path / OPENER, notify)
        ended = Event()
        application = _make_application(folder, guard, notify, ended.set)
        with run_application(application, listening):
            while not ended.wait(OFTEN):
                pass


def _make_application(
    folder: ProjectFolder,
    guard: BrowserGuard,
    notify: Callable[[str], None],
    leave: Callable[[], None],
) -> Starlette:
    """Import the page's libraries after the browser can connect, and return the application."""
    from voile.workbench.http_page import WorkbenchPage
    from voile.workbench.project_session import ProjectSession

    session = ProjectSession(folder, str(folder.path))
    return WorkbenchPage(session, guard, notify, leave).application()
