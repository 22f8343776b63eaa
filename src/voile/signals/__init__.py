"""Readings that the recipient decodes exactly, and that tell an eavesdropper nothing of a class."""

from __future__ import annotations

from typing import TYPE_CHECKING

from voile.core.lazy import lazily

if TYPE_CHECKING:
    from voile.signals.adversary import Audit, audit
    from voile.signals.codec import Codec
    from voile.signals.information import Subjects, mutual_information
    from voile.signals.maps import PrivacyMap, SignalsWarning
    from voile.signals.sequences import SequenceCodec, SequenceMap, Session

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
        "Audit": "adversary",
        "Codec": "codec",
        "PrivacyMap": "maps",
        "SequenceCodec": "sequences",
        "SequenceMap": "sequences",
        "Session": "sequences",
        "SignalsWarning": "maps",
        "Subjects": "information",
        "audit": "adversary",
        "mutual_information": "information",
    },
)
