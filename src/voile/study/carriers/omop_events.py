"""What a row of an OMOP table says of its person that an acquaintance may know."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from voile.study.carriers.carrier import DEATHS, DIAGNOSES, READINGS, VISITS

_SAYS = {
    "condition_occurrence": (DIAGNOSES, ("condition_concept_id",)),
    "measurement": (
        READINGS,
        ("measurement_concept_id", "value_as_number", "value_as_concept_id", "unit_concept_id"),
    ),
    "visit_occurrence": (VISITS, ("visit_concept_id",)),
}
_VALUES = ("value_as_number", "value_as_concept_id")


def event_of(table: str, row: Mapping[str, Any]) -> tuple[str, tuple[Any, ...] | None]:
    """Return of what kind a row is, and what it says; a concept of 0 says nothing."""
    if table == "death":
        return DEATHS, ("died",)
    kind, columns = _SAYS.get(table, (table, ()))
    said = tuple(row[name] or None for name in columns if name not in _VALUES)
    values = tuple(row[name] for name in columns if name in _VALUES)
    enough = any(x is not None for x in values) if values else any(said)
    return kind, (*said, *values) if enough else None
