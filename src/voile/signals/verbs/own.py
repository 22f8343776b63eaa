"""The verbs that only signals have. Each is imported when it runs."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from voile.data.files.outputs import ENROLMENT, READINGS
from voile.release.own_verbs import OwnVerb, RunVerb

if TYPE_CHECKING:
    from voile.signals.options import (
        DecodeFhirOptions,
        DecodeOptions,
        EncodeFhirOptions,
        EnrolOptions,
        ReceiveOptions,
        SendOptions,
    )


def _decode_options() -> type[DecodeOptions]:
    from voile.signals.options import DecodeOptions

    return DecodeOptions


def _load_decode() -> RunVerb[DecodeOptions]:
    from voile.signals.verbs.decode import decode_release

    return decode_release


def _enrol_options() -> type[EnrolOptions]:
    from voile.signals.options import EnrolOptions

    return EnrolOptions


def _load_enrol() -> RunVerb[EnrolOptions]:
    from voile.signals.verbs.enrol import enrol

    return enrol


def _send_options() -> type[SendOptions]:
    from voile.signals.options import SendOptions

    return SendOptions


def _load_send() -> RunVerb[SendOptions]:
    from voile.signals.verbs.send import send

    return send


def _receive_options() -> type[ReceiveOptions]:
    from voile.signals.options import ReceiveOptions

    return ReceiveOptions


def _load_receive() -> RunVerb[ReceiveOptions]:
    from voile.signals.verbs.receive import receive

    return receive


def _encode_fhir_options() -> type[EncodeFhirOptions]:
    from voile.signals.options import EncodeFhirOptions

    return EncodeFhirOptions


def _load_encode_fhir() -> RunVerb[EncodeFhirOptions]:
    from voile.signals.verbs.fhir import encode_fhir

    return encode_fhir


def _decode_fhir_options() -> type[DecodeFhirOptions]:
    from voile.signals.options import DecodeFhirOptions

    return DecodeFhirOptions


def _load_decode_fhir() -> RunVerb[DecodeFhirOptions]:
    from voile.signals.verbs.fhir import decode_fhir

    return decode_fhir


OWN_VERBS: tuple[OwnVerb[Any], ...] = (
    OwnVerb["DecodeOptions"](
        "decode",
        "Decode the readings of a release, given each subject's class.",
        _decode_options,
        _load_decode,
        ("kit", "release"),
        {"out": READINGS},
    ),
    OwnVerb["EnrolOptions"](
        "enrol",
        "Write the keys that one device needs to authenticate and encrypt its messages.",
        _enrol_options,
        _load_enrol,
        ("kit",),
        {"out": ENROLMENT},
    ),
    OwnVerb["SendOptions"](
        "send",
        "Send readings live, encoded, until each has its receipt.",
        _send_options,
        _load_send,
        ("kit", "source"),
        {"spool": None},
    ),
    OwnVerb["ReceiveOptions"](
        "receive",
        "Receive readings live, and decode them, until stopped.",
        _receive_options,
        _load_receive,
        ("kit",),
        {"out": None},
    ),
    OwnVerb["EncodeFhirOptions"](
        "encode-fhir",
        "Encode the readings in a file of FHIR R4 Observations.",
        _encode_fhir_options,
        _load_encode_fhir,
        ("kit", "source"),
        {"out": READINGS},
    ),
    OwnVerb["DecodeFhirOptions"](
        "decode-fhir",
        "Decode what encode-fhir encoded: the same file, to the byte.",
        _decode_fhir_options,
        _load_decode_fhir,
        ("kit", "source"),
        {"out": READINGS},
    ),
)
