"""Real exports, there and back: opened as a table of people and their notes, written as they came.

A carrier knows nothing of studies: it is given what was released of each person and of each note.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from voile.core.lazy import lazily

if TYPE_CHECKING:
    from voile.study.carriers.fhir import FhirCarrier
    from voile.study.carriers.omop import OmopCarrier

__all__ = ["FhirCarrier", "OmopCarrier"]

__getattr__ = lazily(__name__, {"FhirCarrier": "fhir", "OmopCarrier": "omop"})
