"""Forms: dates, ages, numbers and addresses that their form gives away, and look-alikes."""

from __future__ import annotations

from time import process_time

import pytest
from hypothesis import given
from hypothesis import strategies as st

from voile.documents.patterns.pattern import find
from voile.documents.start.rules.forms import FORMS, date_forms


def found(text: str) -> list[str]:
    return [f"{text[one.start : one.end]}={one.label}" for one in find(text, FORMS)]


@pytest.mark.parametrize(
    ("text", "forms"),
    [
        ("admitted 2021-03-04T14:22:00Z", ["2021-03-04T14:22:00Z=DATE"]),
        ("2021.03.04; 04MAR2021; 20210304", ["2021.03.04=DATE", "04MAR2021=DATE", "20210304=DATE"]),
        ("March the 4th; the 4th of March", ["March the 4th=DATE", "4th of March=DATE"]),
        ("seen on 3/4 and 3/9, f/u 9/6", ["3/4 and 3/9=DATE", "9/6=DATE"]),
        ("Q1 2021, 10/2019, Christmas Day", ["Q1 2021=DATE", "10/2019=DATE", "Christmas Day=DATE"]),
        ("101 yo M, aged ninety-three", ["101 yo=AGE", "ninety-three=AGE"]),
        ("DL S123-4567-8901; acc S21-12903", ["S123-4567-8901=ID", "S21-12903=ID"]),
        ("VIN 1HGCM82633A004352; Plate ABC-1234", ["1HGCM82633A004352=ID", "ABC-1234=ID"]),
        ("Duluth, MN 55802. P.O. Box 99", ["Duluth, MN 55802=ADDRESS", "P.O. Box 99=ADDRESS"]),
        ("London SW1A 2AA", ["London SW1A 2AA=ADDRESS"]),
        ("Hauptstraße 5, 10115 Berlin", ["Hauptstraße 5, 10115 Berlin=ADDRESS"]),
        ("lives in Baton Rouge with", ["Baton Rouge=PLACE"]),
        ("at Kessler Medical Center", ["Kessler Medical Center=HOSPITAL"]),
    ],
)
def test_a_form_is_found_whole(text, forms):
    assert found(text) == forms


@pytest.mark.parametrize(
    "text",
    [
        "BP 120/80, pain 3/10, strength 5/5, 2/6 murmur",
        "on 5/5 strength",
        "in the OR. On PA exam",
        "order 2 tabs of 5 mg; case 12; a lot of pain",
        "May have 5 mg; march on; 67 years old",
        "the record 2019 was good",
    ],
)
def test_a_look_alike_is_not(text):
    assert found(text) == []


def test_dates_have_the_label_of_the_corpus():
    text = "seen 2021-03-04, aged ninety-three"
    assert [one.label for one in find(text, date_forms("FECHAS"))] == ["FECHAS"]


@given(st.text(st.sampled_from("A a1/-.,Pox MN:#"), max_size=60))
def test_no_text_is_cut_or_refused(text):
    for one in find(text, FORMS):
        assert text[one.start : one.end].strip()


@pytest.mark.parametrize("piece", ["Aa of ", "1-", "MRN A1-", "ninety ", "3/4 and ", "Aa "])
def test_a_long_text_takes_no_longer_than_its_characters(piece):
    began = process_time()
    find(piece * 20_000, FORMS)
    assert process_time() - began < 20
