"""The documents wing as the faces see it: its verbs and their options, loaded when asked for."""

from __future__ import annotations

from voile.core.lazy import VERBS, lazily
from voile.data.files.outputs import WORK
from voile.documents.verbs.options import (
    AXES,
    AcceptOptions,
    ApplyOptions,
    AssessOptions,
    AttackOptions,
    FitOptions,
    ForecastOptions,
    InitOptions,
    ReviewOptions,
)
from voile.release.own_verbs import OwnVerb

KIND = "documents"
SUMMARY = "free text: notes, e-mails, rulings"
WAYS = ("max_relative_risk", "max_loss", "policy", "least_loss", "knee")
OWN_VERBS = (
    OwnVerb("init", InitOptions, "init", ("source",), {"out": WORK}),
    OwnVerb("review", ReviewOptions, "review", ("work",), reads_source=False),
    OwnVerb("forecast", ForecastOptions, "forecast", ("source",)),
    OwnVerb("accept", AcceptOptions, "accept", ("kit", "release", "source"), evidence="acceptance"),
)

__all__ = [
    "AXES",
    "KIND",
    "OWN_VERBS",
    "SUMMARY",
    "WAYS",
    "ApplyOptions",
    "AssessOptions",
    "AttackOptions",
    "FitOptions",
]

__getattr__ = lazily(
    __name__,
    {
        **VERBS,
        "accept": "verbs.accept",
        "forecast": "verbs.forecast",
        "init": "verbs.init",
        "open_source": "text.source",
        "review": "verbs.review",
    },
    package="voile.documents",
)
