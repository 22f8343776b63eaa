"""The map that hides the class: learnt, looked after, and kept in a kit."""

from __future__ import annotations

from typing import TYPE_CHECKING

from voile.core.lazy import lazily

if TYPE_CHECKING:
    from voile.signals.maps.bases import BASES
    from voile.signals.maps.privacy_map import PrivacyMap, SignalsWarning
    from voile.signals.maps.stored import StoredMap

__all__ = [
    "BASES",
    "PrivacyMap",
    "SignalsWarning",
    "StoredMap",
]

__getattr__ = lazily(
    __name__,
    {
        "BASES": "bases",
        "PrivacyMap": "privacy_map",
        "SignalsWarning": "privacy_map",
        "StoredMap": "stored",
    },
)
