"""Readings that the recipient decodes exactly, and that tell an eavesdropper nothing of a class."""

from __future__ import annotations

from typing import TYPE_CHECKING

from voile.lazy import lazily

if TYPE_CHECKING:
    from voile.signals.auditing import Audit, audit
    from voile.signals.codec import Codec
    from voile.signals.information import mutual_information
    from voile.signals.privacy_map import PrivacyMap, SignalsWarning
    from voile.signals.sequence import SequenceCodec
    from voile.signals.sequence_map import SequenceMap
    from voile.signals.session import Session
    from voile.signals.subjects import Subjects

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
    "mutual_information",
]

__getattr__ = lazily(
    __name__,
    {
        "Audit": "auditing",
        "Codec": "codec",
        "PrivacyMap": "privacy_map",
        "SequenceCodec": "sequence",
        "SequenceMap": "sequence_map",
        "Session": "session",
        "SignalsWarning": "privacy_map",
        "Subjects": "subjects",
        "audit": "auditing",
        "mutual_information": "information",
    },
)
