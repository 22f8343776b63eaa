"""The verbs that only documents have; each is imported when it runs."""

from __future__ import annotations

from typing import Any

from voile.data.files.outputs import WORK
from voile.documents.verbs.options import (
    AcceptOptions,
    ForecastOptions,
    InitOptions,
    ReaderOptions,
    ReviewOptions,
)
from voile.release.own_verbs import OwnVerb, RunVerb


def _load_init() -> RunVerb[InitOptions]:
    from voile.documents.verbs.init import init

    return init


def _load_review() -> RunVerb[ReviewOptions]:
    from voile.documents.verbs.review import review

    return review


def _load_forecast() -> RunVerb[ForecastOptions]:
    from voile.documents.verbs.forecast import forecast

    return forecast


def _load_accept() -> RunVerb[AcceptOptions]:
    from voile.documents.verbs.accept import accept

    return accept


def _load_reader() -> RunVerb[ReaderOptions]:
    from voile.documents.verbs.reader import reader

    return reader


OWN_VERBS: tuple[OwnVerb[Any], ...] = (
    OwnVerb[InitOptions]("init", InitOptions, _load_init, ("source",), {"out": WORK}),
    OwnVerb[ReviewOptions]("review", ReviewOptions, _load_review, ("work",), reads_source=False),
    OwnVerb[ForecastOptions]("forecast", ForecastOptions, _load_forecast, ("source",)),
    OwnVerb[AcceptOptions](
        "accept", AcceptOptions, _load_accept, ("kit", "release", "source"), evidence="acceptance"
    ),
    OwnVerb[ReaderOptions](
        "reader", ReaderOptions, _load_reader, ("action", "source"), reads_source=False
    ),
)
