"""Numbers and addresses keep their look and lose themselves."""

from __future__ import annotations

import re
from ipaddress import ip_address, ip_network

import pytest
from hypothesis import given
from hypothesis import strategies as st

from voile.documents.replacements import codes
from voile.documents.replacements.draws import SurrogateDraws
from voile.keys.secret import Secret

DRAWS = SurrogateDraws(Secret(bytes(range(32))), "17", frozenset())
OTHER = SurrogateDraws(Secret(bytes(range(32))), "18", frozenset())
NETS = [ip_network(n) for n in ("192.0.2.0/24", "198.51.100.0/24", "203.0.113.0/24")]


def shape(value: str) -> str:
    """Return the form of a code: digits, capitals and small letters told apart."""
    return re.sub(r"[a-z]", "a", re.sub(r"[A-Z]", "A", re.sub(r"[0-9]", "0", value)))


@given(st.text("0123456789ABab-. ()/+", min_size=1, max_size=24))
def test_a_number_keeps_its_form_and_its_leading_zeros(value):
    new = codes.scramble(DRAWS, value)
    changes = re.search("[1-9]", value) or re.search("[ABab]", value)
    if not (changes and re.search("[0-9]", value)):
        assert new is None
        return
    assert new is not None
    assert new != value
    assert shape(new) == shape(value)
    digits, moved = re.sub("[^0-9]", "", value), re.sub("[^0-9]", "", new)
    assert len(digits) - len(digits.lstrip("0")) == len(moved) - len(moved.lstrip("0"))


def test_punctuation_and_case_do_not_change_a_number():
    plain = codes.scramble(DRAWS, "ab1234567")
    assert plain is not None
    assert codes.scramble(DRAWS, "AB 123-4567") == f"{plain[:2].upper()} {plain[2:5]}-{plain[5:]}"
    assert codes.scramble(OTHER, "ab1234567") != plain


def test_every_digit_and_letter_comes_up():
    drawn = [codes.scramble(DRAWS, f"{n:05}x") or "" for n in range(10_000, 10_400)]
    for place in range(1, 5):
        counts = [sum(one[place] == digit for one in drawn) for digit in "0123456789"]
        assert min(counts) > 15  # 40 expected, each with a standard deviation of 6
    assert len({one[-1] for one in drawn}) == 26
    assert {one[0] for one in drawn} == set("123456789")


def test_an_extension_stays_readable():
    assert re.fullmatch(r"\d{9} ext \d{4}", codes.scramble(DRAWS, "986413144 ext 1530") or "")


@pytest.mark.parametrize("value", ["casada", "000-00", "", "--", "1" * 201, "five five"])
def test_what_has_no_number_is_not_one(value):
    assert codes.scramble(DRAWS, value) is None


def test_mail_goes_to_example_org():
    one = codes.email(DRAWS, "Anna.Smith@clinic.test")
    assert re.fullmatch(r"[a-z2-7]{12}@example\.org", one or "")
    assert codes.email(DRAWS, "anna.smith@CLINIC.test") == one
    assert codes.email(OTHER, "anna.smith@clinic.test") != one
    assert codes.email(DRAWS, "a@b.c; Anna.Smith@clinic.test").split("; ")[1] == one
    for value in ("Anna at clinic", "mail: a@b.c", "a@b@c", "a@b\ud800"):
        assert codes.email(DRAWS, value) is None


def test_a_page_goes_to_example_org():
    new = codes.url(DRAWS, "https://www.clinic.test/anna?id=7")
    assert re.fullmatch(r"https://www\.example\.org/[a-z2-7]{12}", new or "")
    assert re.fullmatch(r"example\.org/[a-z2-7]{12}", codes.url(DRAWS, "clinic.test") or "")
    for value in ("our page", "clinic", "a.b \x00"):
        assert codes.url(DRAWS, value) is None


@given(st.ip_addresses())
def test_machines_are_moved_to_where_none_is(address):
    new = ip_address(codes.ip(DRAWS, str(address)) or "")
    assert new != address
    if new.version == 4:
        assert any(new in net for net in NETS)
    else:
        assert new in ip_network("2001:db8::/32")


def test_what_is_no_machine_gets_none():
    assert codes.ip(DRAWS, "300.1.2.3") is None
