"""The local page, as the reading verbs serve it."""

from __future__ import annotations

import sys
from collections.abc import Callable
from functools import partial

from voile.core.errors import RequestError, install


def page_server() -> Callable[..., None]:
    """Return the function that serves the page and prints its addresses.

    Raises
    ------
    RequestError : the libraries of the page are not installed.
    """
    try:
        import uvicorn  # noqa: F401 - the server imports it late

        from voile.documents.reviewing.server import serve
    except ImportError as error:
        what = f"{error.name} is not installed"
        raise RequestError(what, instead=install("review")) from None
    return partial(serve, notify=partial(print, file=sys.stderr, flush=True))
