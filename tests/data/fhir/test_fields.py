"""Elements of another JSON type than FHIR's give no value and no error."""

from __future__ import annotations

import pytest

from voile.data.fhir.fields import (
    list_codings,
    list_objects,
    list_resources,
    read_number,
    take_list,
    take_object,
)

ODD = [None, 7, True, "x", [], {}, [None], [[]]]


@pytest.mark.parametrize("odd", ODD)
def test_a_value_of_another_type_is_empty(odd):
    assert take_object(odd) == {}
    assert take_list(odd) == (odd if isinstance(odd, list) else [])
    assert list_objects(odd) == ([{}] if odd == {} else [])
    assert list_codings(odd) == list_codings({"coding": odd}) == []
    assert read_number(odd) is None
    assert read_number({"value": odd}) == (7 if odd == 7 else None)


def test_codings_and_numbers_are_read_as_they_are():
    codings = [{"code": "1"}, {"system": "s"}]
    assert list_codings({"coding": [7, *codings], "text": "x"}) == codings
    assert [read_number({"value": x}) for x in (0, -1.5, "2", False)] == [0, -1.5, None, None]


def test_a_bundle_keeps_a_place_for_each_entry():
    one, inner = {"resourceType": "Patient"}, {"resourceType": "Bundle", "entry": []}
    bundle = {"resourceType": "Bundle", "entry": [{"resource": one}, 7, {}, {"resource": inner}]}
    assert list_resources(bundle) == [one, {}, {}, inner]
    assert list_resources({"resourceType": "Bundle", "entry": 7}) == []
    assert list_resources(one) == [one]
