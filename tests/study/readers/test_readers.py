"""Readers: what each finds in running text, and reads of a mention; what it must leave alone."""

from __future__ import annotations

import re

import pytest
from hypothesis import given
from hypothesis import strategies as st

from voile.core.errors import RequestError
from voile.demo.notes import in_words
from voile.documents.patterns.pattern import find
from voile.study.readers import MentionFinder, finds_alone, read_words, reader_of
from voile.study.readers.ages import AgeReader
from voile.study.readers.sexes import SexReader
from voile.study.readers.values import ValueReader, ZipCodes

AGES = AgeReader()
SENTENCES = (
    "A {}-year-old from here .",
    "Known , aged {} .",
    "She is {} years old .",
    "The patient turned {} in May .",
    "age: {} .",
    "Pt {} yo , well .",
    "Discharge of Rita Lin ( {} years , 00243 ) .",
    "Mrs Lin , {} , was well .",
)


@given(st.integers(1, 104), st.sampled_from(SENTENCES), st.booleans())
def test_each_form_of_an_age_is_found_and_read(age, sentence, spelt):
    said = in_words(age) if spelt and age < 100 else str(age)
    text = sentence.format(said)
    [(start, end)] = AGES.slices(text)
    found = AGES.read_mention(text[start:end])
    assert found.cells == (str(age),)
    assert text[start:end][found.start : found.end] == said


@pytest.mark.parametrize(
    ("text", "mention", "cells"),
    [
        ("Now in her forties .", "forties", range(40, 50)),
        ("A man in his mid-fifties .", "mid-fifties", range(54, 57)),
        ("Probably early 60s .", "early 60s", range(60, 64)),
        ("In the late nineties .", "late nineties", range(97, 100)),
        ("In his teens .", "teens", range(13, 20)),
        ("An octogenarian .", "octogenarian", range(80, 90)),
        ("After the 47th birthday .", "47th", [47]),
        ("Retired , well .", "Retired", None),
        ("An elderly person .", "elderly", None),
    ],
)
def test_decades_and_implied_ages(text, mention, cells):
    [(start, end)] = AGES.slices(text)
    assert text[start:end] == mention
    found = AGES.read_mention(mention)
    assert (found and found.cells) == (cells and tuple(map(str, cells)))


@pytest.mark.parametrize(
    "text",
    [
        "On aspirin for 10 years .",
        "Pulse in the 60s .",
        "Aged 40 to 49 .",
        "A 40 to 49-year-old , 40 to 49 years old , under 90 years old .",
        "aged 40-49 , and a 40-49-year-old",
        "Turned 45% of it .",
        "Age 40/50",
        "Room 47 , bed 3 .",
    ],
)
def test_what_is_no_age_is_left_alone(text):
    assert list(AGES.slices(text)) == []


@pytest.mark.parametrize(
    ("word", "cells", "neutral"),
    [
        ("She", ("F",), "They"),
        ("his", ("M",), "their"),
        ("WOMAN", ("F",), "Person"),
        ("Mr", ("M",), "Mx"),
        ("They", ("F", "M", "O"), None),
    ],
)
def test_words_for_a_sex(word, cells, neutral):
    sexes = SexReader(["F", "M", "O"])
    assert sexes.read_mention(word).cells == cells
    assert sexes.neutral(word) == neutral
    assert not neutral or sexes.read_mention(neutral).cells == ("F", "M", "O")
    assert sexes.read_mention("patient") is None


@given(st.text("she rmwan.,", max_size=40))
def test_nothing_that_is_found_and_written_neutrally_is_found_again(text):
    sexes = SexReader(["F", "M"])
    written = re.sub(
        "|".join({re.escape(text[a:b]) for a, b in sexes.slices(text)}) or "$^",
        lambda one: sexes.neutral(one[0]) or one[0],
        text,
    )
    assert all(
        sexes.read_mention(written[a:b]).cells == ("F", "M") for a, b in sexes.slices(written)
    )


def test_a_column_of_other_codes_is_not_guessed():
    assert SexReader(["1", "2"]).read_mention("She").cells == ()


def test_words_are_read_from_a_list(tmp_path):
    path = tmp_path / "cities.csv"
    path.write_text("words,zip\nOakfield,00214\nOakfield,00219\nNew Elm,00301\n")
    places = ValueReader((), read_words(path, "zip"))
    assert places.read_mention("OAKFIELD").cells == ("00214", "00219")
    assert [x.label for x in find("In new  elm now", [MentionFinder("CITY", places)])] == ["CITY"]
    with pytest.raises(RequestError, match=r"cities\.csv: the list of words has no column county"):
        read_words(path, "county")


def test_a_zip_code_of_a_list_is_found_with_the_four_digits_behind_it():
    """Else they would stay behind its interval; and a code that the list lacks is found, too."""
    codes = reader_of("ZIP", ["00214"], {"00214": ("00214",), "Oakfield": ("00214", "00219")})
    text = "At 00214-1234 , Oakfield , 00214 , zip 77777 ."
    found = sorted(codes.slices(text))
    assert [text[a:b] for a, b in found] == ["00214-1234", "Oakfield", "00214", "77777"]
    assert [codes.read_mention(text[a:b]).cells for a, b in found] == [
        ("00214",),
        ("00214", "00219"),
        ("00214",),
        ("77777",),
    ]


@pytest.mark.parametrize(
    ("kind", "labels"),
    [
        (AgeReader, ["AGE"]),
        (SexReader, ["SEX", "PATIENT_GENDER"]),
        (ZipCodes, ["ZIP", "POSTCODE"]),
        (ValueReader, ["JOB", "CITY"]),
    ],
)
def test_each_type_has_its_reader(labels, kind):
    assert {type(reader_of(label)) for label in labels} == {kind}
    assert {finds_alone(label, words=False) for label in labels} == {kind is SexReader}
