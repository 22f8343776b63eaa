"""Observations are found wherever a document has them, with their subjects, times and numbers."""

from __future__ import annotations

import json

import pytest

from voile.core.errors import RequestError, SourceError
from voile.data.fhir.marks import URL
from voile.data.fhir.observations import find_elements, read_elements
from voile.data.fhir.reading_fields import ReadingField

WEIGHT = ReadingField("weight", "29463-7", "kg")
CODE = {"coding": [7, {"system": "http://loinc.org", "code": "29463-7"}]}
KG = {"value": 70.5, "unit": "kg"}
ONE = {"resourceType": "Observation", "code": CODE, "subject": {"reference": "Patient/1"}}


def elements(found, place="here"):
    return list(find_elements(json.dumps(found), place))


def test_elements_are_found_in_components_entries_and_contained_resources():
    whole = {**ONE, "component": [{"code": CODE, "valueQuantity": KG}]}
    report = {"resourceType": "DiagnosticReport", "contained": [ONE]}
    entries = [{"resource": report}, {}, {"resource": whole}, {"resource": {}}]
    found = elements({"resourceType": "Bundle", "entry": entries})
    assert [(one.place, one.has_value) for one in found] == [
        ("here, entry 1, contained", False),
        ("here, entry 3", False),
        ("here, entry 3", True),
    ]
    assert {one.subject for one in found} == {"Patient/1"}
    assert [one.find_field([WEIGHT]) for one in found] == [0, 0, 0]
    number = found[2].find_reading(WEIGHT)
    assert found[2].text[number.start : number.end] == "70.5"
    assert elements({"resourceType": "Patient"}) == elements({"code": CODE}) == []
    assert list(find_elements(" \n", "here")) == []


@pytest.mark.parametrize(
    ("times", "time"),
    [
        ({"effectiveDateTime": "2024-03", "effectivePeriod": {"start": "2023"}}, "2024-03"),
        ({"effectiveInstant": "2024-03-02T08:00:00Z"}, "2024-03-02T08:00:00Z"),
        ({"effectivePeriod": {"start": "2024", "end": "2025"}}, "2024"),
        ({"effectivePeriod": 7}, ""),
        ({}, ""),
    ],
)
def test_the_time_is_the_first_that_an_observation_has(times, time):
    assert [one.time for one in elements({**ONE, **times})] == [time]


@pytest.mark.parametrize(
    ("value", "why"),
    [
        ({"valueString": "70.5"}, "the observation's value is not a Quantity"),
        ({"valueQuantity": 70.5}, "the Quantity has no number"),
        ({"valueQuantity": {**KG, "value": True}}, "the Quantity has no number"),
        ({"valueQuantity": {**KG, "comparator": "<"}}, "the Quantity gives a bound"),
        (
            {"valueQuantity": {**KG, "code": "lb"}},
            "the unit is lb, but the map requires the UCUM unit kg",
        ),
    ],
)
def test_a_value_that_is_no_reading_is_refused_without_the_value(value, why):
    (one,) = elements({**ONE, **value})
    with pytest.raises(RequestError) as caught:
        one.find_reading(WEIGHT)
    assert str(caught.value).startswith(f"here: {why}")
    assert "70.5" not in str(caught.value)


def test_a_mark_of_another_form_is_refused_by_its_place():
    (one,) = elements({**ONE, "valueQuantity": KG, "modifierExtension": [{"url": URL}]})
    with pytest.raises(SourceError, match=r"^here: the file is not FHIR in JSON$"):
        one.find_mark()


@pytest.mark.parametrize("text", ["{", "[]", '{"resourceType":"Observation","component":[7]}'])
def test_a_document_that_is_no_fhir_is_refused_by_its_place(tmp_path, text):
    (tmp_path / "a.ndjson").write_text(f"{{}}\n{text}\n")
    with pytest.raises(SourceError, match=r"^a\.ndjson, line 2: the file is not FHIR in JSON$"):
        list(read_elements(tmp_path / "a.ndjson"))
