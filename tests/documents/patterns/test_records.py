"""Record numbers: formats find what they say, and nothing that could take long."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from voile.core.errors import RequestError
from voile.documents.patterns import patterns_of
from voile.documents.patterns.records import record_pattern

MEANING = {"#": "0123456789", "9": "0123456789", "@": "abzABZñ", "*": "a0Z9"}
formats = st.lists(st.sampled_from(["#", "9", "@", "*", "-", "/", ".", "M", "r", r"\#", r"\@"]))


def found(format, text):
    return [text[one.start : one.end] for one in record_pattern(format).find(text)]


@given(formats.filter(lambda parts: {"#", "9"} & set(parts) and parts[0] != "/"), st.data())
def test_a_format_finds_what_it_says(parts, data):
    record = "".join(
        data.draw(st.sampled_from(MEANING[part])) if part in MEANING else part[-1] for part in parts
    )
    format = "".join(parts)
    assert found(format, f"see {record} there") == [record]
    assert found(format, f"see {record.upper()}\n{record.lower()}") == [
        record.upper(),
        record.lower(),
    ]
    if record[0].isalnum() and record[-1].isalnum():
        assert found(format, f"_{record}_") == [record]
    for inside in (f"x{record}", f"{record}0"):
        at_edge = record[0] if inside[0] != record[0] else record[-1]
        if at_edge.isalnum():
            assert record not in found(format, inside)


@pytest.mark.parametrize(
    ("format", "text", "records"),
    [
        ("MRN-######", "mrn-004711, MRN-0047111, MRN-00471", ["mrn-004711"]),
        ("@@999", "ab123 abc123 ab1234 ÑÑ123", ["ab123", "ÑÑ123"]),
        ("NHC: ####", "NHC: 1234\nNHC:  4321 NHC:\n1111", ["NHC: 1234", "NHC:  4321"]),
        (r"\9-##", "9-12 8-12", ["9-12"]),
        ("/MRN:? ?[0-9]{5,8}/", "MRN: 12345 mrn123456789 MRN1234567", ["MRN: 12345", "MRN1234567"]),
        ("nº##", "Nº12, no13", ["Nº12", "no13"]),
    ],
)  # fmt: skip
def test_worked_examples(format, text, records):
    assert found(format, text) == records


@pytest.mark.parametrize("format", ["", "@@@@", "MRN", "***", r"\#"])
def test_what_would_find_words(format):
    with pytest.raises(RequestError, match="would find words without a digit; write # for a digit"):
        record_pattern(format)


@pytest.mark.parametrize(
    "expression",
    [
        "[0-9]+",
        "a*1",
        "(?:a{1,9}){1,9}1",
        "(?:a|a){1,12}1",
        "(?:a?){60}a{60}",
        r"([0-9]{3})\1",
        "(?:[0-9]{1,4}){5,}",
        "a{1,9}b{1,9}c{1,9}",
        "[0-9]{1000}",
        "(?=a{1,40})a{1,40}",
        "a++1",
    ],
)
def test_what_could_take_long(expression):
    with pytest.raises(RequestError, match=r"could take long on some text; use \{1,12\}"):
        record_pattern(f"/{expression}/")


@pytest.mark.parametrize("expression", ["(", "[0-9", "(?i)a1", "(?P<x>1)(?P<x>2)", "[9-0]"])
def test_what_is_no_expression(expression):
    with pytest.raises(RequestError, match="is not a regular expression"):
        record_pattern(f"/{expression}/")


def test_what_matches_nothing():
    with pytest.raises(RequestError, match="matches where there is nothing"):
        record_pattern("/[0-9]{0,3}/")


def test_records_come_first():
    first, *_ = patterns_of(["phone"], records=["###-##-####"])
    assert (first.name, first.label) == ("record ###-##-####", "RECORD")


def test_examples_of_record_pattern():
    assert [
        (one.start, one.end) for one in record_pattern("MRN-######").find("See MRN-004711.")
    ] == [(4, 14)]
