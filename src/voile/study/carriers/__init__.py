"""Open real exports as a table of people and their notes, and write them back in their own form.

A carrier does not depend on studies. It receives the released values of each person and each note.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from voile.core.lazy import lazily

if TYPE_CHECKING:
    from voile.study.carriers.fhir import FhirCarrier
    from voile.study.carriers.omop import OmopCarrier

__all__ = ["FhirCarrier", "OmopCarrier"]

__getattr__ = lazily(__name__, {"FhirCarrier": "fhir", "OmopCarrier": "omop"})
