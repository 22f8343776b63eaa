"""The verb `voile documents review`: a person reads the proposals on a local page."""

from __future__ import annotations

import os
import shlex
from functools import partial
from pathlib import Path
from typing import Any

from voile.core.wording import count
from voile.data.files.outputs import WORK_KIT
from voile.documents.fitting.refit import prepare
from voile.documents.fitting.work import UnmarkedWork
from voile.documents.own_options import ReviewOptions
from voile.documents.reviewing.agreement import agreement
from voile.documents.reviewing.batches import LEARNT
from voile.documents.reviewing.line import types_on_page
from voile.documents.reviewing.local_page import page_server
from voile.documents.reviewing.store import ReviewStore
from voile.release.kit import StoredKit
from voile.release.own_verbs import EndedVerb, VerbReporter

FILE = "review.sqlite"
PURPOSE = "review"
GOAL = 8000
"""The default number of tokens to read."""


def review(
    options: ReviewOptions,
    reporter: VerbReporter,
    *,
    work: str | os.PathLike[str],
    again: str = "",
    after: str = "",
) -> EndedVerb:
    """Serve the review of a work folder until its reviewers end it.

    again, after : the commands to continue the review and to use the new kit, if they differ from
        those of a work folder.
    """
    serve = page_server()
    folder = Path(work)
    with _store(folder, UnmarkedWork.open(folder)) as store:
        for name in ("readers", "goal"):
            if (given := getattr(options, name)) is not None:
                store.note(name, str(given))
        with store.reading():
            goal = int(store.meta.get("goal", GOAL))
        serve(
            store,
            purposes=[PURPOSE],
            reviewers=options.reviewer,
            types=types_on_page(StoredKit.load(folder / WORK_KIT, "documents").facts["labels"]),
            goal=goal,
            prepare=partial(prepare, folder),
            port=options.port,
            browser=options.browser,
        )
        reporter.say(_in_words(store, folder, again, after))
        return EndedVerb(_result(store, folder))


def _store(folder: Path, work: UnmarkedWork) -> ReviewStore:
    """Open the review of a work folder, or begin one."""
    path = folder / FILE
    if not path.exists():
        return ReviewStore.create(path, meta={"fingerprint": work.file.fingerprint})
    store = ReviewStore.open(path)
    store.check_notes(work.file.fingerprint)
    for line in store.lines():
        own = work.documents[line.document : line.document + 1]
        if [one.text[line.start : line.end] for one in own] != [line.text]:
            raise store.describe_damage()
    return store


def _in_words(store: ReviewStore, work: Path, again: str, after: str) -> str:
    """Describe how much was read, whether the kit has learned from it, and the next step."""
    read = sum(map(bool, store.reviewers([PURPOSE]).values()))
    if not read:
        return f"no line was read: the kit of {work} is as it was"
    folder = shlex.quote(str(work))
    if store.meta.get(LEARNT) != str(store.state):
        again = again or f"voile documents review {folder}"
        return f"{count(read, 'line')} read; to learn from them: {again}"
    after = after or f"voile documents apply {folder} NOTES --out RELEASE"
    return f"{count(read, 'line')} read and learnt from; release with {after}"


def _result(store: ReviewStore, work: Path) -> dict[str, Any]:
    by = store.reviewers([PURPOSE])
    agreed, compared = agreement(store, [PURPOSE])
    return {
        "work": str(work),
        "lines": len(by),
        "answered": sum(map(bool, by.values())),
        "compared": compared,
        "agreed": agreed,
    }
