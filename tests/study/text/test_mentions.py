"""The rule for mentions, over random policies, people and texts: no note says more than its row."""

from __future__ import annotations

from dataclasses import replace
from datetime import date, timedelta
from itertools import pairwise

import pyarrow as pa
import pytest
from hypothesis import given
from hypothesis import strategies as st

from voile.demo.notes import in_words
from voile.documents.replacements.marks import LabelMarks
from voile.documents.replacements.removal import TextRemoval
from voile.documents.text.document import Document
from voile.keys.date_rule import DateRule
from voile.keys.pseudonyms import Secret, date_shift, pseudonym
from voile.study.plan.entries import MentionEntry
from voile.study.readers import reader_of
from voile.study.text.mentions import NO_ROW, SUPPRESSED_PERSON, MentionRules, writer_of
from voile.study.text.shown import PersonIntervals
from voile.tables.recoding.codebook import CodebookEntry, CodedColumn, ReleaseCodebook

SECRET = Secret(bytes(32))
MENTIONS = {
    "AGE": MentionEntry(column="age"),
    "ZIP": MentionEntry(column="zip"),
    "DATE": MentionEntry(shift=True),
    "DOB": MentionEntry(),
    "SEX": MentionEntry(column="sex", keep=True),
}


def rules(cuts: list[int], age: int, zip_area: str = "002") -> MentionRules:
    """Return the rules for one person P, under a policy of these cuts between ages."""
    edges = sorted({0, *cuts, 105})
    ages = tuple(CodebookEntry(f"{a}-{b - 1}", str(a), str(b - 1)) for a, b in pairwise(edges))
    zips = (
        CodebookEntry("00201-00299", "00201", "00299"),
        CodebookEntry("00301-00399", "00301", "00399"),
    )
    book = ReleaseCodebook(
        (
            CodedColumn("age", ("age",), "integer", "day", (), (), ages),
            CodedColumn("zip", ("zip",), "text", "day", (), (), zips),
        )
    )
    own = next(i for i, entry in enumerate(ages) if int(entry.first) <= age <= int(entry.last))
    rows = {"age": frozenset([own]), "zip": frozenset([0 if zip_area == "002" else 1])}
    shown = PersonIntervals(book, SECRET, {pseudonym(SECRET, "P"): rows}, {pseudonym(SECRET, "R")})
    readers = {label: reader_of(label) for label in ("AGE", "ZIP", "DOB")}
    return MentionRules(MENTIONS, readers, shown, DateRule(30), None, "english")


def write(own: MentionRules, text: str, label: str, value: str) -> str:
    """Return a text in which this value was found as a mention."""
    whole = text.format(value)
    start = text.index("{}")
    removal = TextRemoval(start, start + len(value), label)
    return writer_of(own)(LabelMarks())(Document(whole, subject="P"), [removal]).text


CUTS = st.lists(st.integers(1, 104), max_size=8)
AGES = st.integers(0, 104)
FORMS = st.sampled_from(["{}", "{}-year-old", "aged {}", "{} years", "age of {}"])


@given(CUTS, AGES, AGES, FORMS, st.booleans())
def test_an_age_is_written_as_the_interval_of_the_row_or_marked(cuts, own, said, form, spelt):
    """The person's row shows one interval: any age outside it is another's, or of another year."""
    these = rules(cuts, own)
    value = form.format(in_words(said) if spelt and said < 100 else said)
    written = these.write("P", "AGE", value)
    [label] = these.shown.labels("P", "age")
    low, high = map(int, label.split("-"))
    if low == said == high:
        assert written == value
    elif low <= said <= high:
        assert label in written
        assert written.replace(label, "").strip(" -") in value
    else:
        assert written == "[AGE]"
    assert not these.says_more("P", "AGE", written)
    assert these.says_more("P", "AGE", value) == (not low == said == high)


@given(st.text(max_size=12))
def test_whatever_was_found_as_a_mention_is_an_interval_or_a_mark(value):
    these = rules([40, 50], 47)
    for label in ("AGE", "ZIP", "DOB"):
        assert not these.says_more("P", label, these.write("P", label, value))


@pytest.mark.parametrize(
    ("label", "value", "written"),
    [
        ("AGE", "47-year-old", "40-49-year-old"),
        ("AGE", "forty-seven", "40-49"),
        ("AGE", "75", "[AGE]"),
        ("AGE", "8 months", "[AGE]"),
        ("AGE", "in the forties", "in the forties"),
        ("AGE", "mid-forties", "40-49"),
        ("AGE", "in her forties", "[AGE]"),
        ("AGE", "retired", "[AGE]"),
        ("AGE", "47 and 12", "[AGE]"),
        ("ZIP", "00214", "00201-00299"),
        ("ZIP", "00214-1234", "00201-00299"),
        ("ZIP", "00314", "[ZIP]"),
        ("DOB", "3 May 1966", "[DOB]"),
        ("SEX", "She", "She"),
        ("DATE", "Easter", "[DATE]"),
    ],
)
def test_worked_examples(label, value, written):
    assert write(rules([40, 50], 47), "Seen: {} .", label, value) == f"Seen: {written} ."


def test_a_date_moves_by_the_offset_of_its_person():
    days = date_shift(SECRET, "P", days=30)
    moved = write(rules([], 47), "On {} .", "DATE", "2013-05-01")
    assert moved == f"On {date(2013, 5, 1) + timedelta(days=days)} ."


@pytest.mark.parametrize(
    ("written", "more"),
    [
        ("40-49-year-old", False),
        ("aged 40-49", False),
        ("[AGE]", False),
        ("47", True),
        ("40-49, 47", True),
        ("40-49 forty-seven", True),
        ("30-39", True),
        ("", True),
    ],
)
def test_what_says_more_than_a_row(written, more):
    assert rules([30, 40, 50], 47).says_more("P", "AGE", written) is more


@pytest.mark.parametrize(
    ("subject", "said"),
    [("P", None), ("R", SUPPRESSED_PERSON), *((nobody, NO_ROW) for nobody in ("Q", None, " "))],
)
def test_whose_text_may_be_released(subject, said):
    assert rules([], 47).refuse(Document("Nothing new .", subject=subject)) == said


DAYS = st.dates(date(1990, 1, 1), date(2020, 12, 31))
DATE_RULES = st.builds(
    DateRule,
    st.integers(7, 400),
    weeks=st.booleans(),
    months=st.booleans(),
    first=st.none() | st.just(date(2000, 1, 1)),
    last=st.none() | st.just(date(2010, 12, 31)),
)


@given(DATE_RULES, DAYS, st.text("abc123", min_size=1, max_size=6))
def test_a_date_in_text_moves_as_it_does_in_a_column_or_is_marked(rule, day, who):
    own = replace(rules([], 40), dates=rule)
    written = own.write(who, "DATE", day.isoformat())
    [column] = rule.move(SECRET, pa.array([day]), pa.array([who])).dates.to_pylist()
    if column is None or rule.months:
        assert written == "[DATE]"
    else:
        assert written == column.isoformat()
        assert (column - day).days == rule.offset(SECRET, who)
    if column is not None and rule.months:
        assert column.day == 1
