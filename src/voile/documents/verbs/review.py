"""`voile documents review`: a person reads what is proposed, on a page of this machine."""

from __future__ import annotations

import os
import sys
from collections.abc import Callable
from functools import partial
from pathlib import Path
from typing import Any

from voile.core.errors import RequestError, install
from voile.data.files.outputs import WORK_KIT
from voile.documents.reviewing.agreement import agreement
from voile.documents.reviewing.store import Store
from voile.documents.verbs.options import ReviewOptions
from voile.documents.verbs.refit import prepare
from voile.documents.verbs.work import Work
from voile.release.kit import Kit
from voile.release.own_verbs import Ended, Reporter

FILE = "review.sqlite"
PURPOSE = "review"
GOAL = 8000
"""Tokens to read where nobody set a goal."""
COMMON = ("NAME", "DATE", "PHONE", "ADDRESS", "ID", "EMAIL", "AGE", "HOSPITAL", "PROFESSION")
"""Types that a reviewer may need though none was proposed, in the order of their keys."""


def review(options: ReviewOptions, reporter: Reporter, *, work: str | os.PathLike[str]) -> Ended:
    """Serve the review of a work folder until its reviewers end it."""
    serve = _serve()
    folder = Path(work)
    with _store(folder, Work.open(folder).file.fingerprint) as store:
        for name in ("readers", "goal"):
            if (given := getattr(options, name)) is not None:
                store.note(name, str(given))
        serve(
            store,
            purposes=[PURPOSE],
            reviewers=options.reviewer,
            types=_types(folder),
            goal=int(store.meta.get("goal", GOAL)),
            prepare=partial(prepare, folder),
            port=options.port,
            browser=options.browser,
            notify=partial(print, file=sys.stderr, flush=True),
        )
        return Ended(_result(store, folder))


def _store(folder: Path, fingerprint: str) -> Store:
    path = folder / FILE
    if not path.exists():
        return Store.create(path, meta={"fingerprint": fingerprint})
    store = Store.open(path)
    store.check_notes(fingerprint)
    return store


def _types(folder: Path) -> list[str]:
    labels = Kit.load(folder / WORK_KIT, "documents").facts["labels"]
    return list(dict.fromkeys([*COMMON, *labels]))


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
