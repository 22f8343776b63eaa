"""Readings that the recipient decodes exactly, and that tell an eavesdropper nothing of a class."""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from voile.signals.auditing import Audit, audit
    from voile.signals.codec import Codec
    from voile.signals.information import mutual_information
    from voile.signals.privacy_map import PrivacyMap, SignalsWarning
    from voile.signals.sequence import SequenceCodec
    from voile.signals.sequence_map import SequenceMap
    from voile.signals.session import Session

_PLACES = {
    "Audit": "auditing",
    "Codec": "codec",
    "PrivacyMap": "privacy_map",
    "SequenceCodec": "sequence",
    "SequenceMap": "sequence_map",
    "Session": "session",
    "SignalsWarning": "privacy_map",
    "audit": "auditing",
    "mutual_information": "information",
}

__all__ = [
    "Audit",
    "Codec",
    "PrivacyMap",
    "SequenceCodec",
    "SequenceMap",
    "Session",
    "SignalsWarning",
    "audit",
    "mutual_information",
]


def __getattr__(name: str) -> Any:
    if name not in _PLACES:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    return getattr(import_module(f"{__name__}.{_PLACES[name]}"), name)
