"""Forms: dates, ages, numbers and addresses that their form gives away, and look-alikes."""

from __future__ import annotations

from time import process_time

import pytest
from hypothesis import given
from hypothesis import strategies as st

from voile.documents.model.start.rules.forms import FORMS, LISTS, date_forms
from voile.documents.patterns.pattern import find


def found(text: str) -> list[str]:
    return [f"{text[one.start : one.end]}={one.label}" for one in find(text, (*FORMS, *LISTS))]


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
        ("drove from Duluth to Grand Rapids", ["Duluth=PLACE", "Grand Rapids=PLACE"]),
        ("seen in Jackson; lives in Normal", ["Jackson=PLACE", "Normal=PLACE"]),
        ("vecino de Marbella; vive en Granada", ["Marbella=PLACE", "Granada=PLACE"]),
        ("at St. Mary's Medical Center", ["St. Mary's Medical Center=HOSPITAL"]),
        ("to Maple Grove SNF", ["Maple Grove SNF=HOSPITAL"]),
        (
            "CHU de Nantes; Klinikum Augsburg",
            ["CHU de Nantes=HOSPITAL", "Klinikum Augsburg=HOSPITAL"],
        ),
        ("the third of March; March third", ["third of March=DATE", "March third=DATE"]),
        ("since early March; in May", ["March=DATE", "May=DATE"]),
        ("el tres de marzo, el 3/4", ["tres de marzo=DATE", "3/4=DATE"]),
        ("9/6 BP 130/80; Cr 1.2 (9/16)", ["9/6=DATE", "9/16=DATE"]),
        ("CT head 3/12 negative", ["3/12=DATE"]),
        ("turned 93; in her 90s; 94F with fever", ["93=AGE", "90s=AGE", "94F=AGE"]),
        ('{"mrn": 100234, "id": "A77-12"}', ["100234=ID", "A77-12=ID"]),
        ("24-S-00123; accession 24:H00123", ["24-S-00123=ID", "24:H00123=ID"]),
        ("hospital no: 99-1234, 00019283", ["99-1234=ID", "00019283=ID"]),
        ("4512 N. Oak Ave Apt 3", ["4512 N. Oak Ave Apt 3=ADDRESS"]),
        ("12 rue de la Paix; Via Roma 12", ["12 rue de la Paix=ADDRESS", "Via Roma 12=ADDRESS"]),
        ("Ottawa K1A 0B1; Apdo. 12", ["Ottawa=PLACE", "K1A 0B1=ADDRESS", "Apdo. 12=ADDRESS"]),
        ("by dr lindqvist, mrs van der berg", ["lindqvist=NAME", "van der berg=NAME"]),
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
        "may 2 weeks later; patient may go; order 1000 mL NS; T2N0M0",
        "Boston brace, Glasgow Coma Scale, plaster of Paris, Rome IV criteria, Norwalk virus",
        "Reading the chart. Dr. London; Jack London",
        "Pain Clinic, Home Health, the General Hospital, Hospital Course, Hospital Medicine",
        "Cardiology Clinic; transferred to ICU; Hospital de Día",
        "viral load 1200000 copies/mL, platelets 250000, NCT01234567, 2019 CT Chest",
        "98F with chills; 100 years ago; 800/160, 5/325 mg, q4-6h, L4-5",
        "dr will see him; dr may call",
        "3/4 de la superficie; on 2/3 of days; 2/2 sets; VA 6/6; Apgar 8/9",
    ],
)
def test_a_look_alike_is_not(text):
    assert found(text) == []


def test_dates_have_the_label_of_the_corpus():
    text = "seen 2021-03-04, aged ninety-three"
    assert [one.label for one in find(text, date_forms("FECHAS"))] == ["FECHAS"]


@given(st.text(st.sampled_from("A a1/-.,Pox MN:#"), max_size=60))
def test_no_text_is_cut_or_refused(text):
    for one in find(text, (*FORMS, *LISTS)):
        assert text[one.start : one.end].strip()


@pytest.mark.parametrize("piece", ["Aa of ", "1-", "MRN A1-", "ninety ", "3/4 and ", "Aa "])
def test_a_long_text_takes_no_longer_than_its_characters(piece):
    began = process_time()
    find(piece * 20_000, (*FORMS, *LISTS))
    assert process_time() - began < 20
