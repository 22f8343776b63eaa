"""What several finders find in one text: nothing is lost, and the longest gives the label."""

from __future__ import annotations

import time
from itertools import pairwise

import pytest
from hypothesis import given
from hypothesis import strategies as st

from voile.core.errors import RequestError
from voile.documents.patterns import PATTERNS, patterns_of
from voile.documents.patterns.pattern import TextPattern, find
from voile.documents.patterns.phrase_list import PhraseList
from voile.documents.replacements.removal import RemovalReason, TextRemoval

EXAMPLES = {
    "iban": "GB82WEST12345698765432",
    "card": "4111 1111 1111 1111",
    "ssn": "078-05-1120",
    "dni": "12345678-Z",
    "health-id": "943 476 5919",
    "email": "j.roe@ward-3.example",
    "url": "https://ward.example/notes?of=3",
    "ip": "192.0.2.17",
    "mac": "00:1A:2b:3C:4d:5E",
    "phone": "+44 20 7946 0018",
}
slices = st.tuples(st.integers(0, 30), st.integers(1, 8)).map(lambda at: (at[0], at[0] + at[1]))


def test_every_pattern_has_an_example():
    assert set(EXAMPLES) == set(PATTERNS)


@pytest.mark.parametrize("name", EXAMPLES)
def test_it_is_found_where_it_stands(name):
    found = EXAMPLES[name]
    pattern = PATTERNS[name]
    removal = TextRemoval(6, 6 + len(found), pattern.label, (RemovalReason("pattern", name),))
    for before, after in (("Write ", "."), ("Write ", ", or else"), ("Ask:\n(", ") now")):
        text = f"{before}{found}{after}"
        start = len(before)
        assert pattern.find(text) == [
            TextRemoval(start, start + len(found), removal.label, removal.by)
        ]
    assert pattern.find("") == pattern.find("nothing to see 12 here") == []


@pytest.mark.parametrize("name", EXAMPLES)
@pytest.mark.parametrize("around", ["_{}_", "see_{}_now", "{}_scan"])
def test_an_underscore_is_no_letter(name, around):
    text = around.format(EXAMPLES[name])
    (one,) = PATTERNS[name].find(text)
    assert EXAMPLES[name] in text[one.start : one.end]


@pytest.mark.parametrize(
    ("text", "label"),
    [
        ("4111 1111\n1111 1111", "CARD"),
        ("4111-1111-\r\n  1111-1111", "CARD"),
        ("ES91 2100\n0418 4502 0005 1332", "IBAN"),
        ("ES9121000418 \n45020005 1332", "IBAN"),
        ("078-05-\n1120", "SSN"),
        ("12345678-\nZ", "DNI"),
        ("615-555-\n0123", "PHONE"),
        ("(615)\n555-0123", "PHONE"),
        ("+34 912-\n345 678", "PHONE"),
    ],
)
def test_a_line_may_end_within_a_number(text, label):
    assert [(one.start, one.end, one.label) for one in find(f"To {text}.", patterns_of())] == [
        (3, 3 + len(text), label)
    ]


def test_a_new_line_begins_another_number():
    text = "Tel. 615-555-0123\n37203 Nashville\n4111 1111\n1111\n1111"
    assert [text[one.start : one.end] for one in find(text, patterns_of())] == ["615-555-0123"]


@pytest.mark.parametrize("name", EXAMPLES)
@given(st.data())
def test_hidden_characters_and_look_alikes_do_not_hide_it(name, data):
    found = EXAMPLES[name]
    at = data.draw(st.integers(1, len(found) - 1))
    hidden = data.draw(st.sampled_from(["\u200b", "\u00ad", "\u2060\u200d", "\ufeff"]))
    wide = {chr(code): chr(code + 0xFEE0) for code in range(0x21, 0x7F)}
    written = "".join(wide.get(c, c) if data.draw(st.booleans()) else c for c in found)
    text = f"To {written[:at]}{hidden}{written[at:]}{hidden} it"
    end = 3 + len(found) + len(hidden)
    assert [(one.start, one.end) for one in PATTERNS[name].find(text)] == [(3, end)]


@given(st.lists(st.lists(slices, max_size=4), max_size=4))
def test_overlaps(places):
    finders = [
        TextPattern(str(rank), f"L{rank}", lambda _, these=these: these)
        for rank, these in enumerate(places)
    ]
    found = find("x" * 40, finders)
    flat = [(start, end, rank) for rank, these in enumerate(places) for start, end in these]
    assert {at for one in found for at in range(one.start, one.end)} == {
        at for start, end, _ in flat for at in range(start, end)
    }
    assert all(before.end <= after.start for before, after in pairwise(found))
    for one in found:  # a run without blanks is one number, called after its longest match
        inside = [item for item in flat if one.start <= item[0] and item[1] <= one.end]
        best = min(inside, key=lambda item: (item[0] - item[1], item[0], item[2]))
        assert one.label == f"L{best[2]}"
        assert set(one.by) <= {RemovalReason("pattern", str(rank)) for _, _, rank in inside}


def test_the_order_of_the_table_settles_what_is_as_long():
    nine = "078-05-1120"
    assert [one.label for one in find(nine, patterns_of(["phone", "ssn"]))] == ["SSN"]
    url = "https://ward.example/?to=j.roe@ward.example"
    assert [one.label for one in find(url, patterns_of())] == ["URL"]


def test_a_name_that_there_is_not():
    with pytest.raises(RequestError, match="there is no pattern fone; did you mean phone"):
        patterns_of(["fone"])
    assert patterns_of([]) == ()


RUNS = ["a", "1", ".", "-", "@", " ", "(", "+", ":", "a.", "1.", "1 ", "a@", "1-", "://", "a://",
        "www.", ".com", "a.com", "ES12 ", "tel 1", "(1", "::", "1x1 "]  # fmt: skip


@pytest.mark.whole
@pytest.mark.parametrize("finder", [
    *patterns_of(records=["MRN-######", "/(?:MRN|ID)[ :#]{0,3}[0-9]{4,12}/"]),
    PhraseList(["a a a b", "1 1", "a.a.a.b"]),
], ids=lambda finder: str(finder.by))  # fmt: skip
def test_no_text_takes_long(finder):
    for run in RUNS:
        text = run * (100_000 // len(run))
        begun = time.process_time()
        finder.find(text)
        assert time.process_time() - begun < 2, repr(run)  # of 0.1 s; what is quadratic takes 100
