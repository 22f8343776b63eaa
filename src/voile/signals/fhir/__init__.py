"""Readings in HL7 FHIR R4: the values of Observations encoded and decoded where they stand.

Source: HL7 FHIR R4 (4.0.1), resource Observation, datatypes Quantity and Extension. Codes are
LOINC's unless a field says otherwise, units are UCUM's.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from voile.core.lazy import lazily

if TYPE_CHECKING:
    from voile.signals.fhir.files import FileSummary, decode, encode
    from voile.signals.fhir.schemes import SequenceScheme, SingleScheme

__all__ = [
    "FileSummary",
    "SequenceScheme",
    "SingleScheme",
    "decode",
    "encode",
]

__getattr__ = lazily(
    __name__,
    {
        "FileSummary": "files",
        "SequenceScheme": "schemes",
        "SingleScheme": "schemes",
        "decode": "files",
        "encode": "files",
    },
)
