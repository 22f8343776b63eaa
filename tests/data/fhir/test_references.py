"""Ids and references are read in each form that FHIR has for them."""

from __future__ import annotations

import pytest

from voile.core.errors import SourceError
from voile.data.fhir.fields import find_references, find_target, read_id, read_reference


@pytest.mark.parametrize(
    "text",
    [
        "Patient/p-1.A",
        "https://a.example/fhir/Patient/p-1.A",
        "Patient/p-1.A/_history/2",
        "urn:uuid:p-1.A",
    ],
)
def test_a_reference_has_the_id_of_its_target(text):
    assert find_target({"reference": text, "display": "Anna"}, "Patient") == "p-1.A"


@pytest.mark.parametrize(
    "odd",
    ["Encounter/1", "Patient/", "Patient/a b", "xPatient/1", "Patient/1?x", "#p", "", 7, None],
)
def test_another_text_has_no_patient(odd):
    assert find_target({"reference": odd}, "Patient") is None
    assert find_target(odd, "Patient") is None


def test_a_reference_is_a_text_or_nothing():
    assert read_reference({"reference": "Patient/1"}) == "Patient/1"
    assert [read_reference(odd) for odd in ({"reference": ""}, {"reference": 7}, [], None)] == [
        None
    ] * 4


def test_every_reference_is_found_at_any_depth():
    resource = {
        "subject": {"reference": "a"},
        "context": [{"encounter": [{"reference": "b"}, {"reference": {"reference": "c"}}]}],
    }
    assert list(find_references(resource)) == ["a", "b", "c"]


@pytest.mark.parametrize("odd", [None, 7, "", "a b", "a" * 65, "a\n"])
def test_an_id_that_fhir_does_not_allow_is_refused(odd):
    assert read_id({"id": "p-1.A"}, "here") == "p-1.A"
    with pytest.raises(SourceError, match=r"^here: the resource has no valid id$"):
        read_id({"id": odd}, "here")
