"""What a form tells of itself."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from voile.documents.words.attributes import (
    AFFIX,
    SHAPE,
    WORD,
    _digits,
    attributes_of,
    is_mark,
    shape_of,
)

words = st.text(st.sampled_from("aAéÉ1²-[]_ß"), min_size=1, max_size=16)


def of(kind, form, listed=()):
    return {name for one, name in attributes_of(form, dict(listed)) if one & kind}


@given(words)
def test_affixes_are_of_one_to_four_letters_and_never_the_word(form):
    affixes = of(AFFIX, form)
    if not form.isalpha():
        assert affixes == set()
        return
    word = form.lower()
    sizes = [size for size in (1, 2, 3, 4) if size < len(word)]
    assert affixes == {"<" + word[:n] for n in sizes} | {word[-n:] + ">" for n in sizes}


@given(words)
def test_an_attribute_has_one_name_and_kind(form):
    names = [name for _, name in attributes_of(form, {form.lower(): ["x"]})]
    assert len(names) == len(set(names))


@given(words, words)
def test_a_name_has_the_same_kind_in_every_form(one, other):
    kinds = {name: kind for kind, name in attributes_of(one, {})}
    assert all(kinds.get(name, kind) == kind for kind, name in attributes_of(other, {}))


@pytest.mark.parametrize(
    ("form", "shape", "short"),
    [
        ("Ana", "Xxx", "Xx"),
        ("ANA", "XXX", "X"),
        ("McCoy", "XxXxx", "XxXx"),
        ("12-3", "00-0", "0-0"),
        ("ñandúñandúñandú", "x" * 12, "x"),
    ],
)
def test_shapes(form, shape, short):
    assert shape_of(form) == shape
    assert of(SHAPE, form) == {f"s={shape}", f"c={short}"}


@pytest.mark.parametrize(
    ("form", "word"), [("Ana", "ana"), ("99", "99"), ("1999", "0000"), ("b123", "b000")]
)
def test_words_are_lower_and_long_numbers_are_their_length(form, word):
    assert of(WORD, form) == {f"w={word}"}


def test_a_list_tells_of_words_and_shapes():
    listed = {"ana": ["given", "city"], "rome": ["city"]}
    assert of(WORD, "ANA", listed) & of(SHAPE, "ANA", listed) == {"list=given", "list=city"}


def test_a_mark_tells_its_label_alone():
    assert attributes_of("[AGE]", {"[age]": ["x"]}) == [(5, "mark"), (5, "mark=AGE")]
    marks = {form: is_mark(form) for form in ("[A]", "[]", "[", "[A", "A]", "A")}
    assert [form for form, like in marks.items() if like] == ["[A]"]


def test_examples_of_attributes_of():
    assert [name for _, name in attributes_of("Ana", {"ana": ["given"]})] == [
        "w=ana",
        "list=given",
        "s=Xxx",
        "c=Xx",
        "<a",
        "<an",
        "a>",
        "na>",
    ]
    assert attributes_of("[NAME]", {}) == [(5, "mark"), (5, "mark=NAME")]


def test_examples_of_shape_of():
    assert (shape_of("McCoy"), shape_of("10B"), shape_of("-")) == ("XxXxx", "00X", "-")


def test_examples_of_digits():
    assert (_digits("10"), _digits("1963"), _digits("b12"), _digits("20943")) == (
        "10",
        "0000",
        "b12",
        "00000",
    )
