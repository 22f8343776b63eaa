"""Telephone numbers, by their form or by what is said before them."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from voile.documents.patterns import PATTERNS


def found(text):
    return [text[one.start : one.end] for one in PATTERNS["phone"].find(text)]


@pytest.mark.parametrize(
    "number",
    [
        "+34 912 345 678",
        "+1-202-555-0143x12",
        "+41 (0)44 668 18 00",
        "+442079460018",
        "(+49) 30 901820",
        "0034 912345678",
        "001-202-555-0143",
        "(202) 555-0143",
        "(202)555-0143 ext. 7",
        "202.555.0143",
        "1-202-555-0143",
        "020 7946 0018",
        "01 99 00 12 34",
        "(08) 8747 6301",
        "912 345 678",
        "912345678",
        "912 34 56 78",
        "91 234 56 78",
        "34 912 345 678",
        "0341 8387176",
        "615/555-0123",
        "030/901820",
    ],
)
def test_forms(number):
    assert found(f"Reach us: {number}, or not") == [number]
    assert found(f"x\n{number}\n") == [number]


@pytest.mark.parametrize(
    "text",
    [
        "born 12-03-1999 10.04.2001 2001-04-10",
        "leucocitos 12 300, plaquetas 230.000 (150.000-400.000)",
        "TA 120/80, FC 80 - 100, 1.5-2.5 mg",
        "NASS: 74 45634539 39. NHC: 4867202",
        "A912345678 912345678A",
        "call 12345, call on 12-03-1999",
        "en la calle 123456",
        "+999 12",
        "1998 1999 2000",
        "call: BP 120/80, 12/03/1999, 03/1999, 1/500 200",
        "Toronto 010 200 000 - 3 8 1",
        "Final: 67 612 345 678 70",
        "paid $ 612 345 678, or 612 345 678 euros, or €600 000 000",
        "1. Osei 912 345 678 12.50",
    ],
)
def test_no_telephones(text):
    assert found(text) == []


@pytest.mark.parametrize(
    ("text", "numbers"),
    [
        ("Tel.: 78 651 450", ["78 651 450"]),
        ("Teléfono (trabajo) 4867202", ["4867202"]),
        ("Phone:\n467 3395\n\nE-mail", ["467 3395"]),
        ("please call me on 9472 7916!", ["9472 7916"]),
        ("Tfno/Fax 78 651 450 / 78 651 451", ["78 651 450", "78 651 451"]),
        ("Tel.: 0 30/901820, Tel. 1/2/2001", ["0 30/901820"]),
        ("781 1704 office", ["781 1704"]),
        ("Móvil 555 123, nota 555 124", ["555 123"]),
    ],
)
def test_words_around(text, numbers):
    assert found(text) == numbers


@given(st.text("0123456789", min_size=6, max_size=40), st.sampled_from([" ", "-", ".", ""]))
def test_after_a_word_the_whole_run_goes(digits, sign):
    number = f"7{sign}".join([digits[:3], digits[3:5], digits[5:]])
    assert found(f"Tel. {number} here") == [number]
