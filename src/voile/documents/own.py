"""The verbs that only the documents module has. Each is imported when it runs."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from voile.data.files.outputs import WORK
from voile.release.own_verbs import OwnVerb, RunVerb

if TYPE_CHECKING:
    from collections.abc import Callable

    from voile.documents.own_options import (
        AcceptOptions,
        ForecastOptions,
        InitOptions,
        ReaderOptions,
        ReviewOptions,
    )
    from voile.documents.replacements.published import RemovalReplacer
    from voile.release.kit import StoredKit
    from voile.release.manifest import StoredRelease
    from voile.release.own_verbs import EndedVerb, VerbReporter


def _init_options() -> type[InitOptions]:
    from voile.documents.own_options import InitOptions

    return InitOptions


def _load_init() -> RunVerb[InitOptions]:
    from voile.documents.fitting.init import init

    return init


def _review_options() -> type[ReviewOptions]:
    from voile.documents.own_options import ReviewOptions

    return ReviewOptions


def _load_review() -> RunVerb[ReviewOptions]:
    from voile.documents.fitting.review import review

    return review


def _forecast_options() -> type[ForecastOptions]:
    from voile.documents.own_options import ForecastOptions

    return ForecastOptions


def _load_forecast() -> RunVerb[ForecastOptions]:
    from voile.documents.verbs.forecast import forecast

    return forecast


def _accept_options() -> type[AcceptOptions]:
    from voile.documents.own_options import AcceptOptions

    return AcceptOptions


def _load_accept() -> RunVerb[AcceptOptions]:
    return accept


def accept(
    options: AcceptOptions,
    reporter: VerbReporter,
    *,
    kit: StoredKit | str,
    release: StoredRelease | str,
    source: object,
    table: str | None,
    encoding: str | None,
    writer: Callable[[RemovalReplacer], RemovalReplacer] | None = None,
) -> EndedVerb:
    """Open the source of a release, and continue the reading of the release."""
    from voile.documents.reviewing.local_page import page_server
    from voile.documents.text.source import open_source
    from voile.documents.verbs.accept import accept as accept_opened
    from voile.documents.verbs.replacer import make_replacer_of

    origin = open_source(source, table=table, encoding=encoding)
    return accept_opened(
        options,
        reporter,
        kit=kit,
        release=release,
        source=origin,
        page_server=page_server,
        make_replacer=make_replacer_of,
        writer=writer,
    )


def _reader_options() -> type[ReaderOptions]:
    from voile.documents.own_options import ReaderOptions

    return ReaderOptions


def _load_reader() -> RunVerb[ReaderOptions]:
    from voile.documents.verbs.reader import reader

    return reader


OWN_VERBS: tuple[OwnVerb[Any], ...] = (
    OwnVerb["InitOptions"](
        "init",
        "Propose identifiers in notes that nobody marked, and learn from the proposals.",
        _init_options,
        _load_init,
        ("source",),
        {"out": WORK},
    ),
    OwnVerb["ReviewOptions"](
        "review",
        "Read and correct the proposals, on a page of this machine.",
        _review_options,
        _load_review,
        ("work",),
        reads_source=False,
    ),
    OwnVerb["ForecastOptions"](
        "forecast",
        "Estimate how much must be read to accept a release, before anything is fitted.",
        _forecast_options,
        _load_forecast,
        ("source",),
    ),
    OwnVerb["AcceptOptions"](
        "accept",
        "Prove by reading that few identifiers are left in a release.",
        _accept_options,
        _load_accept,
        ("kit", "release", "source"),
        evidence="acceptance",
    ),
    OwnVerb["ReaderOptions"](
        "reader",
        "Install the reader, an encoder that names are learnt on, from files that you have.",
        _reader_options,
        _load_reader,
        ("action", "source"),
        reads_source=False,
    ),
)
