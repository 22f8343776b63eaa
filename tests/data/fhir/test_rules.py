"""The rules of each type name elements of that type in FHIR, and give its days."""

from __future__ import annotations

from datetime import date

import pytest
from fhir.resources.R4B import get_fhir_model_class

from voile.data.fhir.rules import ELEMENTS, FIELDS, REQUIRED, find_days


@pytest.mark.parametrize("kind", FIELDS)
def test_each_field_is_an_element_of_its_type(kind):
    names = set(get_fhir_model_class(kind).elements_sequence())
    assert FIELDS[kind].keys() <= names
    assert set(REQUIRED[kind]) <= FIELDS[kind].keys() <= ELEMENTS


def test_days_are_those_of_released_fields():
    one = {
        "date": "2010-01-01",
        "context": {"period": {"start": "2013-05-14", "end": "2013-05-20T10:00:00Z"}, "x": 7},
    }
    assert list(find_days(FIELDS["DocumentReference"], one)) == [
        date(2013, 5, 14),
        date(2013, 5, 20),
    ]
    assert list(find_days(FIELDS["Patient"], {"deceasedDateTime": "2014"})) == []
    assert list(find_days(FIELDS["Encounter"], {"period": [None, 7]})) == []
