"""Readings that the recipient decodes exactly, and that reveal no class to an eavesdropper."""

from __future__ import annotations

from typing import TYPE_CHECKING

from voile.core.lazy import lazily

if TYPE_CHECKING:
    from voile.signals.adversary.map_audit import Audit, audit
    from voile.signals.codec.codec import Codec
    from voile.signals.face import decode, enrol, fit, receive, send
    from voile.signals.information.mutual import mutual_information
    from voile.signals.information.subjects import Subjects
    from voile.signals.maps.checks import SignalsWarning
    from voile.signals.maps.privacy_map import PrivacyMap
    from voile.signals.sequences.sequence_codec import SequenceCodec
    from voile.signals.sequences.sequence_map import SequenceMap
    from voile.signals.sequences.session import Session

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
        "Audit": "adversary.map_audit",
        "Codec": "codec.codec",
        "PrivacyMap": "maps.privacy_map",
        "SequenceCodec": "sequences.sequence_codec",
        "SequenceMap": "sequences.sequence_map",
        "Session": "sequences.session",
        "SignalsWarning": "maps.checks",
        "Subjects": "information.subjects",
        "audit": "adversary.map_audit",
        "mutual_information": "information.mutual",
    },
)
