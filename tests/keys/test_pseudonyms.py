"""Pseudonyms, surrogates and date shifts against the standard library's hmac and naive twins."""

from __future__ import annotations

import base64
import hmac
import math
import unicodedata
from collections import Counter
from datetime import UTC, date, datetime, timedelta
from itertools import pairwise

import numpy as np
import pyarrow as pa
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy.stats import chisquare

from voile.core.errors import RequestError
from voile.keys.pseudonyms import (
    Secret,
    choose,
    date_shift,
    pseudonym,
    pseudonyms_of,
    shift_dates,
)

KEY = b"a key known to the tests alone"
SECRET = Secret(KEY)
IDS = [f"P{i:05d}" for i in range(8_000)]
SUBJECTS = st.text(st.characters(exclude_categories=["Cs"]), max_size=8).filter(str.strip)


def keyed(*parts: str) -> bytes:
    """HMAC-SHA-256 by each part in turn, written down independently."""
    key = KEY
    for part in parts:
        key = hmac.new(key, part.encode("utf-8"), "sha256").digest()
    return key


# Pseudonyms


@pytest.mark.parametrize("length", range(12, 52))
def test_a_pseudonym_is_the_first_bits_of_an_hmac(length):
    whole = base64.b32encode(keyed("voile pseudonym", "visit", "é-17")).decode()
    assert pseudonym(SECRET, "é-17", purpose="visit", length=length) == whole[:length]


def test_pseudonyms_stay_what_they_were():
    assert pseudonym(Secret(bytes(32)), "A-17") == "SUBZXSEPQKJMO6YS"


@given(SUBJECTS)
def test_unicode_forms_are_one_subject(subject):
    composed, decomposed = (unicodedata.normalize(form, subject) for form in ("NFC", "NFD"))
    assert pseudonym(SECRET, composed) == pseudonym(SECRET, decomposed)


@given(st.integers(-(2**70), 2**70))
def test_a_whole_number_is_its_digits(number):
    assert pseudonym(SECRET, number) == pseudonym(SECRET, str(number))


def test_a_numpy_integer_is_an_integer():
    assert pseudonym(SECRET, np.int64(7)) == pseudonym(SECRET, 7)


def test_what_differs_stays_apart():
    subjects = ["7", "07", "7 ", "A", "a", "\uff17"]
    assert len({pseudonym(SECRET, subject) for subject in subjects}) == len(subjects)
    assert len({pseudonym(SECRET, "A", purpose=p) for p in ("subject", "visit", "")}) == 3
    assert pseudonym(SECRET, "A") != pseudonym(Secret(bytes(16)), "A")


@pytest.mark.parametrize(
    ("subject", "said"),
    [
        (None, "the subject is missing"),
        *((blank, "the subject is blank") for blank in ("", " \t")),
        *(
            (other, "convert the subject to text or a whole number")
            for other in (7.0, math.nan, True, b"A", [1])
        ),
        *((half, "not valid Unicode") for half in ("\ud800", "a\udfff")),
    ],
)
def test_what_is_no_subject_is_refused(subject, said):
    with pytest.raises(RequestError, match=said):
        pseudonym(SECRET, subject)


@pytest.mark.parametrize("length", [-1, 0, 11, 52])
def test_a_length_out_of_range_is_refused(length):
    with pytest.raises(RequestError, match="12 to 51"):
        pseudonym(SECRET, "A", length=length)
    with pytest.raises(RequestError, match="12 to 51"):
        pseudonyms_of(SECRET, pa.array(["A"]), length=length)


def test_pseudonyms_are_distinct_and_even_in_every_place():
    names = [pseudonym(SECRET, subject) for subject in IDS]
    assert len(set(names)) == len(IDS)
    for place in range(16):
        counts = Counter(name[place] for name in names)
        assert set(counts) == set("ABCDEFGHIJKLMNOPQRSTUVWXYZ234567")
        assert chisquare(list(counts.values())).pvalue > 1e-4


KINDS = [
    pa.array(["A", "B", "A", "é"]),
    pa.array(["A", "B", "A", "é"], pa.large_string()),
    pa.array(["A", "B", "A", "é"], pa.string_view()),
    pa.array([7, 8, 7, -1]),
    pa.array([7, 8, 7, 2**64 - 1], pa.uint64()),
    pa.array(["A", "B", "A"]).dictionary_encode(),
    pa.array([7, 8, 7]).dictionary_encode(),
    pa.array(["x", "A", "B", "A", "y"]).slice(1, 3),
    pa.array([], pa.string()),
    pa.array([], pa.null()),
]


@pytest.mark.parametrize("subjects", KINDS, ids=lambda array: str(array.type))
def test_a_column_equals_one_subject_at_a_time(subjects):
    expected = [pseudonym(SECRET, s, purpose="v", length=20) for s in subjects.to_pylist()]
    whole = pseudonyms_of(SECRET, subjects, purpose="v", length=20)
    assert whole.to_pylist() == expected
    assert whole.type == pa.string()
    chunks = pa.chunked_array([subjects[:1], subjects[1:]])
    chunked = pseudonyms_of(SECRET, chunks, purpose="v", length=20)
    assert chunked.to_pylist() == expected
    assert [len(chunk) for chunk in chunked.chunks] == [len(chunk) for chunk in chunks.chunks]


def test_a_column_without_chunks_gives_none():
    assert pseudonyms_of(SECRET, pa.chunked_array([], pa.string())).to_pylist() == []


@pytest.mark.parametrize(
    ("subjects", "message"),
    [
        (pa.array(["A", None]), "row 2: the subject is missing"),
        (pa.chunked_array([["A", "B"], ["C", " "]]), "row 4: the subject is blank"),
        (pa.array(["A", None]).dictionary_encode(), "row 2: the subject is missing"),
        (pa.array([1, None]), "row 2: the subject is missing"),
        (pa.nulls(1), "row 1: the subject is missing"),
        (pa.array([1.0]), "subjects: the subjects have the type double"),
        (pa.array([True]), "subjects: the subjects have the type bool"),
    ],
)
def test_a_column_with_what_is_no_subject_is_refused_with_its_row(subjects, message):
    with pytest.raises(RequestError, match=message):
        pseudonyms_of(SECRET, subjects)


# Surrogates


def test_a_surrogate_is_known_beforehand():
    candidates = ["Ada", "Ben", "Cora"]
    digest = keyed("voile surrogate", "A-17", "dora")
    expected = candidates[int.from_bytes(digest[:16], "big") % 3]
    assert choose(SECRET, "A-17", "Dora", candidates) == expected


def test_surrogates_stay_what_they_were():
    candidates = ["Ada", "Ben", "Cora", "Dan"]
    chosen = [choose(Secret(bytes(32)), f"P{i}", "Ben", candidates) for i in range(24)]
    assert "".join(name[0] for name in chosen) == "DDAADDADCACCCDDDADDDADAC"


def folded(text: str) -> str:
    return unicodedata.normalize("NFC", unicodedata.normalize("NFC", text).casefold())


@given(SUBJECTS, st.text(max_size=5), st.lists(st.text(max_size=5), max_size=5))
def test_a_surrogate_is_another_candidate_always_the_same(subject, value, candidates):
    if all(folded(candidate) == folded(value) for candidate in candidates):
        with pytest.raises(RequestError, match="every surrogate candidate equals the value"):
            choose(SECRET, subject, value, candidates)
        return
    chosen = choose(SECRET, subject, value, candidates)
    assert chosen in candidates
    assert folded(chosen) != folded(value)
    assert chosen == choose(SECRET, subject, unicodedata.normalize("NFD", value), candidates)


def test_letter_case_does_not_change_the_surrogate():
    candidates = ["Ada", "Ben", "Cora", "Dan"]
    chosen = {choose(SECRET, "A", value, candidates) for value in ("José", "JOSÉ", "jose\u0301")}
    assert len(chosen) == 1


@pytest.mark.parametrize("value", ["Ben", "Zoe"])
def test_surrogates_are_even_over_the_other_candidates(value):
    candidates = ["Ada", "Ben", "Cora", "Dan", "Eva"]
    counts = Counter(choose(SECRET, subject, value, candidates) for subject in IDS)
    assert set(counts) == set(candidates) - {value}
    assert chisquare(list(counts.values())).pvalue > 1e-3


def test_subject_and_value_are_not_run_together():
    many = [str(i) for i in range(10**6)]
    assert choose(SECRET, "ab", "c", many) != choose(SECRET, "a", "bc", many)


# Dates


def test_a_shift_is_known_beforehand():
    below = int.from_bytes(keyed("voile date shift", "A-17"), "big") % 60 - 30
    assert date_shift(SECRET, "A-17", days=30) == (below if below < 0 else below + 1)


@pytest.mark.parametrize("days", [1, 5])
def test_shifts_are_even_and_never_nothing(days):
    counts = Counter(date_shift(SECRET, subject, days=days) for subject in IDS)
    assert set(counts) == set(range(-days, days + 1)) - {0}
    assert chisquare(list(counts.values())).pvalue > 1e-3


@pytest.mark.parametrize("days", [-1, 0, 36_501])
def test_days_out_of_range_are_refused(days):
    with pytest.raises(RequestError, match="1 to 36500"):
        date_shift(SECRET, "A", days=days)
    with pytest.raises(RequestError, match="1 to 36500"):
        shift_dates(SECRET, pa.array([date(2013, 7, 1)]), pa.array(["A"]), days=days)


def naive_shift(moment: date | None, subject: str, days: int) -> tuple[date | None, bool]:
    """The twin: one date at a time, and whether it is set aside."""
    if moment is None:
        return None, False
    try:
        moved = moment + timedelta(days=date_shift(SECRET, subject, days=days))
    except OverflowError:
        return None, True
    fine = 2 <= moment.year <= 9998 and 2 <= moved.year <= 9998
    return (moved, False) if fine else (None, True)


EDGES = st.sampled_from([date.min, date(2, 1, 1), date(1, 12, 31), date(9998, 12, 31), date.max])
DATES = st.one_of(st.none(), st.dates(), EDGES)
ROWS = st.lists(st.tuples(DATES, st.sampled_from("ABCD")), max_size=12)


@given(ROWS, st.sampled_from([1, 365, 36_500]), st.sampled_from(["date32", "date64", "chunks"]))
def test_shifted_dates_equal_the_naive_twin(rows, days, kind):
    dates = pa.array([row[0] for row in rows], pa.date64() if kind == "date64" else pa.date32())
    subjects = pa.array([row[1] for row in rows], pa.string())
    expected = [naive_shift(moment, subject, days) for moment, subject in rows]
    if kind == "chunks":
        dates = pa.chunked_array([dates[:2], dates[2:]])
        subjects = pa.chunked_array([subjects[:5], subjects[5:]])
    shifted = shift_dates(SECRET, dates, subjects, days=days)
    assert shifted.dates.type == dates.type
    assert list(zip(shifted.dates.to_pylist(), shifted.set_aside.to_pylist(), strict=True)) == (
        expected
    )


@given(
    st.lists(st.tuples(st.none() | st.datetimes(), st.sampled_from("ABCD")), max_size=12),
    st.sampled_from([None, "UTC"]),
)
def test_shifted_timestamps_equal_the_naive_twin(rows, zone):
    moments = [m if m is None or zone is None else m.replace(tzinfo=UTC) for m, _ in rows]
    kind = pa.timestamp("us", zone)
    shifted = shift_dates(SECRET, pa.array(moments, kind), pa.array([s for _, s in rows], "string"))
    expected = [naive_shift(m, s, 365) for m, (_, s) in zip(moments, rows, strict=True)]
    assert shifted.dates.type == kind
    found = [m and m.replace(tzinfo=UTC if zone else None) for m in shifted.dates.to_pylist()]
    assert list(zip(found, shifted.set_aside.to_pylist(), strict=True)) == expected


@given(st.lists(st.dates(date(1900, 1, 1), date(2100, 1, 1)), min_size=2, max_size=9))
def test_intervals_of_one_subject_are_kept_and_all_dates_move(days):
    moved = shift_dates(SECRET, pa.array(days), pa.array([17] * len(days))).dates.to_pylist()
    assert [b - a for a, b in pairwise(moved)] == [b - a for a, b in pairwise(days)]
    assert all(before != after for before, after in zip(days, moved, strict=True))


@pytest.mark.parametrize("unit", ["s", "ms", "us", "ns"])
def test_every_unit_moves_by_whole_days(unit):
    noon = datetime(2013, 7, 1, 12, 30, 15)
    shifted = shift_dates(SECRET, pa.array([noon], pa.timestamp(unit)), pa.array(["A"]))
    expected = noon + timedelta(days=date_shift(SECRET, "A"))
    assert shifted.dates.cast(pa.timestamp("us")).to_pylist() == [expected]


@pytest.mark.parametrize("tick", [-(2**63), 2**63 - 1])
@pytest.mark.parametrize("unit", ["s", "ns"])
def test_what_would_overflow_is_set_aside(tick, unit):
    """At an end of 64 bits, half the subjects would wrap round; in seconds, all lie too far out."""
    subjects = pa.array(IDS[:20])
    ends = pa.array([tick] * 20, pa.int64()).cast(pa.timestamp(unit))
    shifted = shift_dates(SECRET, ends, subjects)
    per_day = 86_400 * 10**9
    inside = [
        unit == "ns" and -(2**63) <= tick + date_shift(SECRET, s) * per_day < 2**63
        for s in subjects.to_pylist()
    ]
    assert shifted.set_aside.to_pylist() == [not fits for fits in inside]
    assert shifted.dates.is_valid().to_pylist() == inside


def test_far_off_date32_are_set_aside():
    ends = pa.array([-(2**31), 2**31 - 1], pa.int32()).cast(pa.date32())
    shifted = shift_dates(SECRET, ends, pa.array(["A", "B"]))
    assert shifted.set_aside.to_pylist() == [True, True]
    assert shifted.dates.null_count == 2


def test_no_dates_give_none():
    empty = shift_dates(SECRET, pa.array([], pa.date32()), pa.array([], pa.string()))
    assert (len(empty.dates), len(empty.set_aside)) == (0, 0)


@pytest.mark.parametrize(
    ("dates", "subjects", "message"),
    [
        (pa.array([date(2013, 7, 1)]), pa.array(["A", "B"]), "1 dates for 2 subjects"),
        (pa.array(["2013-07-01"]), pa.array(["A"]), "the dates have the type string"),
        (pa.array([20130701]), pa.array(["A"]), "the dates have the type int64"),
        (pa.array([None], pa.date32()), pa.array([None], pa.string()), "row 1"),
    ],
)
def test_what_cannot_be_shifted_is_refused(dates, subjects, message):
    with pytest.raises(RequestError, match=message):
        shift_dates(SECRET, dates, subjects)


def test_uses_of_one_secret_share_nothing():
    digests = {keyed(use, "A-17") for use in ("voile pseudonym", "voile surrogate")}
    digests |= {SECRET.derive("date shift", "A-17"), SECRET.derive("pseudonym", "date shift")}
    assert len(digests) == 4
    assert SECRET.derive("a", "b") != SECRET.derive("a b")
