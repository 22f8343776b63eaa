"""The server of the local page on the loopback interface, one for each folder."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from contextlib import ExitStack, closing, suppress
from pathlib import Path
from threading import Event

from voile.core.errors import RequestError
from voile.data.files.locks import hold_lock
from voile.documents.reviewing.batches import ReviewBatches
from voile.documents.reviewing.desk import ReviewDesk
from voile.documents.reviewing.line import Purpose
from voile.documents.reviewing.page import ReviewPage
from voile.documents.reviewing.progress import LineCounts
from voile.documents.reviewing.refitting import Refit, RefitProcess
from voile.documents.reviewing.store import ReviewStore
from voile.localpage.guard import BrowserGuard
from voile.localpage.server import listen, open_browser, run_application

OFTEN = 0.2  # seconds between two checks whether the server must end
OPENER_FILE = "open-review.html"


def serve(
    store: ReviewStore,
    *,
    purposes: Sequence[Purpose] = ("review",),
    reviewers: Sequence[str] = ("reviewer",),
    types: Sequence[str] = ("NAME",),
    goal: int = 0,
    prepare: Callable[[], Refit] | None = None,
    more: Callable[[], bool] | None = None,
    port: int = 0,
    browser: bool = True,
    notify: Callable[[str], None] = print,
) -> None:
    """Serve the page until a reviewer ends it, or the user presses Ctrl-C.

    Parameters
    ----------
    purposes : the purposes of the lines to read; disagreements on them are adjudicated.
    reviewers : the reviewers; each gets an address that works once.
    types : the types of identifiers, in the order of the digits that set them.
    goal : the total number of tokens to read; 0 for those in the store.
    prepare : returns the function that learns from the answers and finds the next lines of the
        first purpose. It runs in its own process between batches, and in this process once at the
        end.
    more : called when no line waits for a reviewer. It adds lines to the store, and returns whether
        it did. Earlier answers are then final.
    port : the port; 0 for a free port.
    browser : whether to open the address of the first reviewer.
    notify : a function that receives the addresses and descriptions of failures, never a word of
        the text.

    Raises
    ------
    RequestError : another server has this review, or the port is in use.
    """
    with ExitStack() as stack:
        stack.enter_context(hold_lock(store.path.with_suffix(".lock"), _is_served(store.path)))
        counts, batches = LineCounts(store, purposes, goal), None
        if prepare is not None:  # start the process before there are threads
            refitting = stack.enter_context(closing(RefitProcess(prepare)))
            batches = ReviewBatches(store, purposes[0], counts, refitting, notify)
        listening = stack.enter_context(closing(listen(port)))
        guard = BrowserGuard(listening.getsockname()[1], reviewers)
        stack.callback((store.path.parent / OPENER_FILE).unlink, missing_ok=True)
        ended = Event()
        desk = ReviewDesk(store, purposes, more)
        page = ReviewPage(desk, counts, batches, types, guard, notify, ended.set)
        with run_application(page.application(), listening), suppress(KeyboardInterrupt):
            _announce(guard.addresses, store.path.parent, notify, browser=browser)
            while not ended.wait(OFTEN):
                pass
        if batches is not None and prepare is not None:
            notify("learning from the last answers; Ctrl-C leaves them for the next time")
            with suppress(KeyboardInterrupt):
                batches.finish(prepare())


def _is_served(path: Path) -> RequestError:
    remedy = "use its page, or end it first"
    return RequestError("another voile serves this review", where=str(path.parent), instead=remedy)


def _announce(
    addresses: dict[str, str], folder: Path, notify: Callable[[str], None], *, browser: bool
) -> None:
    for name, address in addresses.items():
        notify(f"{name}: {address}")
    notify("keep this running while you read; Ctrl-C ends it, and every answer is saved")
    if browser:
        open_browser(next(iter(addresses.values())), folder / OPENER_FILE, notify)
