"""Addresses of mail, of pages, of machines."""

from __future__ import annotations

from ipaddress import ip_address

import pytest
from hypothesis import given
from hypothesis import strategies as st

from voile.documents.patterns import PATTERNS


def found(name, text):
    return [text[one.start : one.end] for one in PATTERNS[name].find(text)]


@pytest.mark.parametrize(
    ("text", "addresses"),
    [
        ("<j.roe+x@ward-3.example.org>.", ["j.roe+x@ward-3.example.org"]),
        ("mailto:a_b@c.de, o'neil@c.de;x@y.z", ["a_b@c.de", "o'neil@c.de", "x@y.z"]),
        ("josé@clínica.example y más", ["josé@clínica.example"]),
        ("m.alonso@ hospital.example", ["m.alonso@ hospital.example"]),
        ("root@localhost", ["root@localhost"]),
        ('to "john doe"@x.org, "a""b"@x.org', ['"john doe"@x.org', '"b"@x.org']),
        ('"a\nb"@x.org ""@x.org', []),
        ("@roe said, see you @ noon, 3@1.5 mg, a@, @b.c", []),
    ],
)
def test_emails(text, addresses):
    assert found("email", text) == addresses


@pytest.mark.parametrize(
    ("text", "addresses"),
    [
        ("(see https://a.example/b_(c)?d=1#e).", ["https://a.example/b_(c)?d=1#e"]),
        ("www.a.example/b, WWW.A.EXAMPLE", ["www.a.example/b", "WWW.A.EXAMPLE"]),
        ("at clinic.org/x?y, a.clinic.com.mx:80", ["clinic.org/x?y", "a.clinic.com.mx:80"]),
        ("ftp://h/a,git+ssh://b", ["ftp://h/a,git+ssh://b"]),
        ("roe@clinic.com", []),
        (".com :// commit.comma 3.4", []),
    ],
)  # fmt: skip
def test_urls(text, addresses):
    assert found("url", text) == addresses


@given(st.ip_addresses())
def test_every_address_is_found(address):
    text = str(address)
    if any(one.isdigit() for one in text):
        assert found("ip", f"from {text}, port 80") == [text]


@given(st.lists(st.integers(0, 999), min_size=4, max_size=4))
def test_version_4_is_what_the_library_takes(parts):
    text = ".".join(map(str, parts))
    try:
        ip_address(text)
    except ValueError:
        assert found("ip", text) == []
    else:
        assert found("ip", text) == [text]


@pytest.mark.parametrize(
    "text", ["1.2.3", "1.2.3.4.5", "v1.2.3.4", "12:30:45", "std::list", "a::b", "1:2:3:4:5:6:7:8:9"]
)
def test_no_addresses(text):
    assert found("ip", text) == []


def test_version_6_with_the_end_of_version_4():
    assert found("ip", "::ffff:192.0.2.1 up") == ["::ffff:192.0.2.1"]


def test_macs():
    assert found("mac", "00-1a-2B-3c-4d-5e 00:1A:2b:3C:4d:5E") == [
        "00-1a-2B-3c-4d-5e",
        "00:1A:2b:3C:4d:5E",
    ]
    assert found("mac", "001B.4411.3AB7, _dead.beef.caf0_") == ["001B.4411.3AB7", "dead.beef.caf0"]
    assert found("mac", "dead.beef.cafe a001B.4411.3AB7 1.001B.4411.3AB7 001B.4411.3AB7.1") == []
    assert found("mac", "00:1A:2b:3C:4d, 100:1A:2b:3C:4d:5E, 00:1A:2b:3C:4d:5Ef") == []
