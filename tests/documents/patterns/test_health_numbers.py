"""Numbers of health insurances: each check digit against all ten."""

from __future__ import annotations

import pytest

from voile.documents.patterns import PATTERNS


def found(text: str) -> list[str]:
    return [text[one.start : one.end] for one in PATTERNS["health-id"].find(text)]


@pytest.mark.parametrize(
    ("number", "place"),
    [
        ("943 476 5919", -1),
        ("A123456780", -1),
        ("1 85 05 78 006 084 91", -1),
        ("529.982.247-25", -1),
        ("130 692 544", -1),
        ("2428 77813 2", -3),
        ("RCCMNL83S18D969H", -2),
        ("2345 6789 0124", -1),
        ("1234567T", 3),
        ("811218-9876", -1),
    ],
)
def test_a_number_is_found_with_its_check_digit_alone(number, place):
    at = place % len(number)
    if not number[at].isdigit():
        at -= 1
    others = [f"{number[:at]}{digit}{number[at + 1 :]}" for digit in range(10)]
    right = [one for one in others if found(f"No. {one}, seen")]
    assert number in right
    assert len(right) <= 2
    assert found(f"x{number}") == found(f"{number}x") == []


def test_numbers_without_a_check_digit_have_their_form():
    assert found("MBI 1EG4-TE5-MK73; NINO AB 12 34 56 C") == ["1EG4-TE5-MK73", "AB 12 34 56 C"]
    assert found("MBI 1SG4-TE5-MK73; NINO QQ 12 34 56 C") == []


@pytest.mark.parametrize(
    "text", ["BP 120/80 98.6 F", "612-555-0134", "2021-03-04", "1200000 copies"]
)
def test_a_look_alike_is_not(text):
    assert found(text) == []
