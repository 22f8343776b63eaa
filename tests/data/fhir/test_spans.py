"""The positions of JSON values agree with the values that a parser reads, and edits with both."""

from __future__ import annotations

import json

import pytest
from hypothesis import given
from hypothesis import strategies as st

from voile.data.fhir.spans import (
    UNIQUE,
    BrokenJsonError,
    TextEdit,
    apply_edits,
    find_items,
    find_members,
    read_document,
    remove_part,
)

PLAIN = st.none() | st.booleans() | st.integers() | st.text()
VALUES = st.recursive(
    PLAIN, lambda inner: st.lists(inner) | st.dictionaries(st.text(), inner), max_leaves=9
)
INDENTS = st.sampled_from([None, 0, 3])


@given(st.dictionaries(st.text(), VALUES), INDENTS)
def test_members_are_the_values_of_an_object(found, indent):
    text = f" {json.dumps(found, indent=indent)}\n"
    value, span = read_document(text)
    assert (value, text[span.start : span.end]) == (found, text.strip())
    members = find_members(text, span.start)
    assert {name: json.loads(text[one.start : one.end]) for name, one in members.items()} == found
    for name, one in members.items():
        left = apply_edits(text, [remove_part(list(members.values()), one)])
        assert json.loads(left) == {key: x for key, x in found.items() if key != name}


@given(st.lists(VALUES), INDENTS)
def test_items_are_the_values_of_a_list(found, indent):
    text = json.dumps(found, indent=indent)
    items = find_items(text, 0)
    assert [json.loads(text[one.start : one.end]) for one in items] == found
    for n, one in enumerate(items):
        left = apply_edits(text, [remove_part(items, one)])
        assert json.loads(left) == found[:n] + found[n + 1 :]


def test_edits_are_applied_in_the_order_of_their_positions():
    assert apply_edits("abcdef", [TextEdit(4, 5, "X"), TextEdit(1, 1, "-")]) == "a-bcdXf"


@pytest.mark.parametrize(
    "text", ["", "{", "{} {}", "\ufeff{}", '{"a":NaN}', "[" * 99_999, "9" * 9999]
)
def test_a_text_that_is_not_one_json_value_is_broken(text):
    with pytest.raises(BrokenJsonError):
        read_document(text)


@pytest.mark.parametrize("text", ["[]", '{"a" 1}', '{"a":1 "b":2}', '{"a":1,"a":2}'])
def test_what_is_no_object_has_no_members(text):
    with pytest.raises(BrokenJsonError):
        find_members(text, 0)


def test_two_members_of_one_name_are_refused_at_any_depth():
    text = '{"a":[{"b":1,"b":2}]}'
    assert read_document(text)[0] == {"a": [{"b": 2}]}
    with pytest.raises(BrokenJsonError):
        read_document(text, decoder=UNIQUE)
