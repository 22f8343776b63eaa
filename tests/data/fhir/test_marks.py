"""A mark is added and removed without any other byte changed."""

from __future__ import annotations

import json

import pytest

from voile.data.fhir.marks import URL, add_mark, find_mark, remove_mark
from voile.data.fhir.spans import BrokenJsonError, apply_edits, find_members

TAG = {"field": "weight", "number": 3}
OTHER = '"modifierExtension" : [ {"url": "urn:a", "valueBoolean": true} ],'


@pytest.mark.parametrize("more", ["", OTHER])
def test_a_mark_comes_and_goes(more):
    text = f'{{ "id":"a",{more} "valueQuantity" : {{"value":1}} }}'
    members = find_members(text, 0)
    assert find_mark(text, members) is None
    marked = apply_edits(text, [add_mark(text, members, TAG)])
    members = find_members(marked, 0)
    mark = find_mark(marked, members)
    assert mark.facts == TAG
    assert json.loads(marked[mark.span.start : mark.span.end])["url"] == URL
    assert apply_edits(marked, [remove_mark(marked, members, mark)]) == text


def test_a_mark_is_added_to_an_empty_list():
    text = '{"modifierExtension": [ ], "valueQuantity": {"value":1}}'
    marked = apply_edits(text, [add_mark(text, find_members(text, 0), TAG)])
    assert find_mark(marked, find_members(marked, 0)).facts == TAG
    assert len(json.loads(marked)["modifierExtension"]) == 1


@pytest.mark.parametrize("extension", [7, [7], [{}], [{"url": "number"}]])
def test_a_mark_of_another_form_is_broken(extension):
    text = json.dumps({"modifierExtension": [{"url": URL, "extension": extension}]})
    with pytest.raises(BrokenJsonError):
        find_mark(text, find_members(text, 0))
