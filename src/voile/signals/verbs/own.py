"""The verbs that only signals have; each is imported when it runs."""

from __future__ import annotations

from typing import Any

from voile.data.files.outputs import ENROLMENT, READINGS
from voile.release.own_verbs import OwnVerb, RunVerb
from voile.signals.options import (
    DecodeFhirOptions,
    DecodeOptions,
    EncodeFhirOptions,
    EnrolOptions,
    ReceiveOptions,
    SendOptions,
)


def _load_decode() -> RunVerb[DecodeOptions]:
    from voile.signals.verbs.decode import decode_release

    return decode_release


def _load_enrol() -> RunVerb[EnrolOptions]:
    from voile.signals.verbs.enrol import enrol

    return enrol


def _load_send() -> RunVerb[SendOptions]:
    from voile.signals.verbs.send import send

    return send


def _load_receive() -> RunVerb[ReceiveOptions]:
    from voile.signals.verbs.receive import receive

    return receive


def _load_encode_fhir() -> RunVerb[EncodeFhirOptions]:
    from voile.signals.verbs.fhir import encode_fhir

    return encode_fhir


def _load_decode_fhir() -> RunVerb[DecodeFhirOptions]:
    from voile.signals.verbs.fhir import decode_fhir

    return decode_fhir


OWN_VERBS: tuple[OwnVerb[Any], ...] = (
    OwnVerb[DecodeOptions](
        "decode", DecodeOptions, _load_decode, ("kit", "release"), {"out": READINGS}
    ),
    OwnVerb[EnrolOptions]("enrol", EnrolOptions, _load_enrol, ("kit",), {"out": ENROLMENT}),
    OwnVerb[SendOptions]("send", SendOptions, _load_send, ("kit", "source"), {"spool": None}),
    OwnVerb[ReceiveOptions]("receive", ReceiveOptions, _load_receive, ("kit",), {"out": None}),
    OwnVerb[EncodeFhirOptions](
        "encode-fhir", EncodeFhirOptions, _load_encode_fhir, ("kit", "source"), {"out": READINGS}
    ),
    OwnVerb[DecodeFhirOptions](
        "decode-fhir", DecodeFhirOptions, _load_decode_fhir, ("kit", "source"), {"out": READINGS}
    ),
)
