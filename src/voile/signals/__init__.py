"""Readings that the recipient decodes exactly, and that reveal no class to an eavesdropper."""

from __future__ import annotations

from typing import TYPE_CHECKING

from voile.core.lazy import lazily

if TYPE_CHECKING:
    from voile.signals.face import decode, enrol, fit, receive, send
    from voile.signals.fitting.audit import Audit, audit
    from voile.signals.fitting.maps.privacy_map import PrivacyMap
    from voile.signals.fitting.sequences.sequence_map import SequenceMap
    from voile.signals.information.mutual import mutual_information
    from voile.signals.information.subjects import Subjects
    from voile.signals.model.codec.codec import Codec
    from voile.signals.model.maps.checks import SignalsWarning
    from voile.signals.model.sequences.sequence_codec import SequenceCodec
    from voile.signals.model.sequences.session import Session

__all__ = [
    "Audit",
    "Codec",
    "PrivacyMap",
    "SequenceCodec",
    "SequenceMap",
    "Session",
    "SignalsWarning",
    "Subjects",
    "audit",
    "decode",
    "enrol",
    "fit",
    "mutual_information",
    "receive",
    "send",
]

__getattr__ = lazily(
    __name__,
    {
        "decode": "face",
        "enrol": "face",
        "fit": "face",
        "receive": "face",
        "send": "face",
        "Audit": "fitting.audit",
        "Codec": "model.codec.codec",
        "PrivacyMap": "fitting.maps.privacy_map",
        "SequenceCodec": "model.sequences.sequence_codec",
        "SequenceMap": "fitting.sequences.sequence_map",
        "Session": "model.sequences.session",
        "SignalsWarning": "model.maps.checks",
        "Subjects": "information.subjects",
        "audit": "fitting.audit",
        "mutual_information": "information.mutual",
    },
)
