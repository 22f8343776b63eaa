"""`voile documents review`: a person reads what is proposed, on a page of this machine."""

from __future__ import annotations

import os
import sys
from collections.abc import Callable
from functools import partial
from pathlib import Path
from typing import Any

from voile.core.errors import RequestError, install
from voile.documents.reviewing.agreement import agreement
from voile.documents.reviewing.store import Store
from voile.documents.verbs.options import ReviewOptions
from voile.release.own_verbs import Ended, Reporter

FILE = "review.sqlite"
PURPOSE = "review"


def review(options: ReviewOptions, reporter: Reporter, *, work: str | os.PathLike[str]) -> Ended:
    """Serve the review of a work folder until its reviewers end it."""
    serve = _serve()
    with Store.open(Path(work) / FILE) as store:
        for name in ("readers", "goal"):
            if (given := getattr(options, name)) is not None:
                store.note(name, str(given))
        meta = store.meta
        serve(
            store,
            reviewers=options.reviewer,
            types=meta["types"].split(","),
            goal=int(meta.get("goal", 0)),
            port=options.port,
            browser=options.browser,
            notify=partial(print, file=sys.stderr, flush=True),
        )
        return Ended(_result(store, Path(work)))


def _serve() -> Callable[..., None]:
    try:
        from voile.documents.reviewing.server import serve
    except ImportError as error:
        what = f"{error.name} is not installed"
        raise RequestError(what, instead=install("review")) from None
    return serve


def _result(store: Store, work: Path) -> dict[str, Any]:
    by = store.reviewers([PURPOSE])
    agreed, compared = agreement(store, [PURPOSE])
    return {
        "work": str(work),
        "lines": len(by),
        "answered": sum(map(bool, by.values())),
        "compared": compared,
        "agreed": agreed,
    }
