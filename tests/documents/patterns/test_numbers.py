"""Numbers with a check: the right ones are found, one wrong digit is not."""

from __future__ import annotations

import re

import pytest
from hypothesis import given
from hypothesis import strategies as st

from voile.documents.patterns import PATTERNS


def found(name, text):
    return [text[one.start : one.end] for one in PATTERNS[name].find(text)]


def digits(least, most=None):
    return st.text("0123456789", min_size=least, max_size=most or least)


def luhn_digit(number):
    """Give the check digit, by the rule as it is written down: from the right, double, cast 9s."""
    total = 0
    for at, one in enumerate(reversed(number)):
        value = int(one)
        if at % 2 == 0:
            value = value * 2 - 9 if value > 4 else value * 2
        total += value
    return str(-total % 10)


@given(digits(11, 18), st.integers(0, 18), st.integers(1, 9))
def test_cards(number, at, off):
    card = number + luhn_digit(number)
    assert found("card", f"card {card}, paid") == [card]
    at %= len(card)
    wrong = card[:at] + str((int(card[at]) + off) % 10) + card[at + 1 :]
    assert found("card", wrong) == []


@pytest.mark.parametrize(
    "text",
    ["4111-1111-1111-1111", "4111 1111 1111 1111", "4111.1111.1111.1111", "3782 822463 10005"],
)
def test_cards_in_groups(text):
    assert found("card", text) == [text]


@pytest.mark.parametrize(
    "text", ["4111 1111-1111 1111", "41 111111 11111111", "411111111111", "x4111111111111111"]
)
def test_no_cards(text):
    assert found("card", text) == []


@given(
    st.sampled_from([("DE", 22), ("GB", 22), ("NO", 15), ("FR", 27), ("LC", 32)]),
    st.text("ABCXYZ0123456789", min_size=28, max_size=28),
    st.booleans(),
    st.booleans(),
    st.integers(0, 40),
)
def test_ibans(country, bank, spaced, small, at):
    code, length = country
    bank = bank[: length - 4]
    number = int("".join(str(int(c, 36)) for c in f"{bank}{code}00"))
    iban = f"{code}{98 - number % 97:02}{bank}"
    written = " ".join(re.findall(".{1,4}", iban)) if spaced else iban
    written = written.lower() if small else written
    assert found("iban", f"To {written}, and so on") == [written]
    assert found("iban", f"To {written} was paid; {written} x1 2") == [written, written]
    digits_at = [place for place, one in enumerate(iban) if one.isdigit()]
    at = digits_at[at % len(digits_at)]  # one wrong digit never passes; a letter for one may
    wrong = iban[:at] + ("1" if iban[at] == "0" else "0") + iban[at + 1 :]
    assert found("iban", wrong) == []


@pytest.mark.parametrize("text", ["GB82WEST12345698765431", "QQ82WEST12345698765432", "GB82 WEST"])
def test_no_ibans(text):
    assert found("iban", text) == []


@given(digits(3), digits(2), digits(4), st.sampled_from("- ."))
def test_ssns(area, group, serial, sign):
    text = sign.join((area, group, serial))
    given_out = 0 < int(area) < 900 and int(area) != 666 and int(group) > 0 and int(serial) > 0
    assert found("ssn", f"SSN:{text}.") == [text] * given_out
    assert found("ssn", f"1{text}") == found("ssn", f"{text}-1") == found("ssn", f"{text}x") == []


def test_ssns_keep_to_one_sign():
    assert found("ssn", "078-05 1120, 078051120, 078-051120") == []


@pytest.mark.parametrize(
    ("text", "numbers"),
    [
        ("SSN 078051120", ["078051120"]),
        ("SSN: #078051120, MRN 078051121", ["078051120"]),
        ("Social Security number 078 05 1120", ["078 05 1120"]),
        ("soc. sec. no. 078051120", ["078051120"]),
        ("SSN078-05-1120, ssn078051120", ["078-05-1120", "078051120"]),
        ("NASSN 078051120, ASSN078-05-1120", []),
        ("SSN\n078051120", []),
        ("SSN 0780511201, SSN 000051120", []),
    ],
)  # fmt: skip
def test_a_word_before_says_that_it_is_one(text, numbers):
    assert found("ssn", text) == numbers


@given(st.integers(0, 99_999_999), st.sampled_from(["{}{}", "{}-{}", "{} {}"]), st.booleans())
def test_dnis(number, form, small):
    letter = "TRWAGMYFPDXBNJZSQVHLCKE"[number % 23]
    right = form.format(f"{number:08}", letter.lower() if small else letter)
    assert found("dni", f"DNI {right}.") == [right]
    assert found("dni", form.format(f"{(number + 1) % 10**8:08}", letter)) == []


@pytest.mark.parametrize("text", ["X1234567L", "Y-1234567-X", "z1234567r", "12.345.678-Z"])
def test_nies_and_dots(text):
    assert found("dni", f"NIE:{text},") == [text]
    assert found("dni", f"NIE:a{text}") == found("dni", f"NIE:{text}1") == []
