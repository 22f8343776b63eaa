"""Codes and units pass by their form, and no name does."""

from __future__ import annotations

import pytest

from voile.data.fhir.values import CODES, UCUM, keep_coding, keep_quantity


@pytest.mark.parametrize("name", ["anna", "anna-smith", "ANNA", "SMITH", "555-123-4567"])
@pytest.mark.parametrize("system", CODES)
def test_no_name_passes_for_a_code(system, name):
    assert keep_coding({"system": system, "code": name}) is None


UNITS = "kg g mg/dL mmol/L mm[Hg] 10*3/uL 10*9/L % 1 /min [pH] m[IU]/L Cel kg/m2 mL/min U/L"


@pytest.mark.parametrize("unit", UNITS.split())
def test_units_of_readings_stay(unit):
    given = {"value": 1, "unit": "of Anna", "system": UCUM, "code": unit}
    assert keep_quantity(given) == {**given, "unit": unit}


@pytest.mark.parametrize("unit", ["Anna", "Anna-Smith", "MRN12345678", "12345678", "kg Anna"])
def test_no_name_and_no_number_passes_for_a_unit(unit):
    assert keep_quantity({"value": 1, "system": UCUM, "code": unit}) == {"value": 1}
