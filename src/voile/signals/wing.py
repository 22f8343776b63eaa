"""The signals wing as the faces see it: its verbs and their options, loaded when asked for."""

from __future__ import annotations

from voile.core.lazy import VERBS, lazily
from voile.data.files.outputs import ENROLMENT, READINGS
from voile.release.own_verbs import OwnVerb
from voile.signals.verbs.options import (
    AXES,
    ApplyOptions,
    AttackOptions,
    DecodeFhirOptions,
    DecodeOptions,
    EncodeFhirOptions,
    EnrolOptions,
    FitOptions,
    ReceiveOptions,
    SendOptions,
)

KIND = "signals"
SUMMARY = "readings sent again and again to a recipient who knows each person's class"
WAYS = ("max_relative_risk", "max_loss", "policy", "least_loss", "knee")
OWN_VERBS = (
    OwnVerb("decode", DecodeOptions, "decode_release", ("kit", "release"), {"out": READINGS}),
    OwnVerb("enrol", EnrolOptions, "enrol", ("kit",), {"out": ENROLMENT}),
    OwnVerb("send", SendOptions, "send", ("kit", "source"), {"spool": None}),
    OwnVerb("receive", ReceiveOptions, "receive", ("kit",), {"out": None}),
    OwnVerb("encode-fhir", EncodeFhirOptions, "encode_fhir", ("kit", "source"), {"out": READINGS}),
    OwnVerb("decode-fhir", DecodeFhirOptions, "decode_fhir", ("kit", "source"), {"out": READINGS}),
)

__all__ = [
    "AXES",
    "KIND",
    "OWN_VERBS",
    "SUMMARY",
    "WAYS",
    "ApplyOptions",
    "AttackOptions",
    "FitOptions",
]

__getattr__ = lazily(
    __name__,
    {
        **VERBS,
        "decode": "verbs.decode",
        "decode_fhir": "verbs.fhir",
        "decode_release": "verbs.decode",
        "encode_fhir": "verbs.fhir",
        "enrol": "verbs.enrol",
        "receive": "verbs.receive",
        "send": "verbs.send",
    },
    package="voile.signals",
)
