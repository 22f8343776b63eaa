"""Surrogates betray nothing of what they stand for, and read as the text did."""

from __future__ import annotations

import re
from collections import Counter

import pytest
from hypothesis import given
from hypothesis import strategies as st
from tests.documents.replacements.test_surrogates import SECRET, document, surrogates

from voile.documents.replacements.kinds import KINDS
from voile.documents.replacements.names import (
    LANGUAGES,
    builtin_names,
    builtin_pool,
    fold,
    name_words,
)
from voile.documents.replacements.removal import TextRemoval
from voile.documents.replacements.surrogates import Surrogates
from voile.documents.text.document import Document

LISTS = {language: builtin_names(language) for language in LANGUAGES}


def given_and_surnames(language):
    names = LISTS[language]
    given_names = {fold(one) for one in (*names.female, *names.male)}
    return given_names, {fold(one) for one in names.surnames}


def turned_round(name: str) -> str:
    """Return a name that is on no list and ends as this one does."""
    return (name[-4::-1] + name[-3:]).capitalize() if len(name) > 5 else f"Xw{name.lower()}"


@pytest.mark.parametrize("language", LANGUAGES)
@pytest.mark.parametrize("form", ["{} Koehlwein", "Koehlwein, {}", "Dr. {} Koehlwein"])
def test_a_rare_given_name_becomes_a_given_name_as_a_common_one_does(language, form):
    given_names, surnames = given_and_surnames(language)
    replacer = Surrogates(SECRET, language=language)
    listed = [*LISTS[language].female[:100], *LISTS[language].male[:100]]
    rare = [n for n in map(turned_round, listed) if fold(n) not in given_names | surnames]
    assert len(rare) > 150
    for number, name in enumerate(listed + rare):
        value = form.format(name)
        (new,) = surrogates(("NAME", value), subject=str(number), replacer=replacer)
        (became,) = re.fullmatch(form.format(r"(\S+)").replace("Koehlwein", ".+?"), new).groups()
        assert fold(became) in given_names


def test_the_word_itself_never_counts_for_its_role():
    pool = builtin_pool("english")
    without = type(pool)([LISTS["english"]])
    for name in ("Karen", "Gary", "Wendy", "Dixon", "Parker"):
        own = LISTS["english"]
        kept = {
            what: tuple(one for one in getattr(own, what) if fold(one) != fold(name))
            for what in ("female", "male", "surnames")
        }
        less = type(pool)([type(own)(**kept)])
        word = fold(name)
        assert pool.leans_given(word) == less.leans_given(word) == without.leans_given(word)


@pytest.mark.parametrize("language", LANGUAGES)
def test_no_two_people_of_a_document_share_a_name(language):
    first, last = LISTS[language].female[:300], LISTS[language].surnames[:900]
    words = {fold(name) for name in LISTS[language].female}
    last = [name for name in last if words.isdisjoint(name_words(name))]
    replacer = Surrogates(SECRET, language=language)
    for subject in range(60):
        people = [
            f"{first[(subject * 31 + n) % len(first)]} {last[(subject * 17 + n) % len(last)]}"
            for n in range(40)
        ]
        values = (("NAME", one) for one in people)
        found = surrogates(*values, subject=str(subject), replacer=replacer)
        words = Counter(word for new in found for word in new.split(maxsplit=1))
        assert max(words.values()) == 1


def test_a_person_is_the_same_wherever_the_text_names_the_others():
    people = [("NAME", name) for name in ("Anna Smith", "Tom Baker", "Eve Miller", "Smith")]
    forward, backward = surrogates(*people), surrogates(*people[::-1])
    assert forward == backward[::-1]


@given(
    st.lists(
        st.tuples(
            st.sampled_from(KINDS),
            st.one_of(
                st.text(min_size=1, max_size=12),
                st.sampled_from(["Mrs", "Easter", "old", "@anna", "smith42", "NHS", "the", "ward"]),
                st.sampled_from(["12/03", "Monday", "300.1.2.3", "our page", "68 or 93", "-"]),
            ),
        ),
        min_size=1,
        max_size=6,
    )
)
def test_no_mark_is_left_among_surrogates(values):
    for language in LANGUAGES:
        made = Surrogates(SECRET, language=language)(*document(*values))
        for edit, (_, value) in zip(made.edits, values, strict=False):
            new = made.text[edit.start : edit.end]
            assert new.strip()
            assert "[" in value or not re.search(r"\[[A-Z_]+\]", new)


def read(text: str, language="english") -> str:
    """Return a text with what stands in braces replaced: {patient|NAME}."""
    removals, plain = [], ""
    for part in re.split(r"(\{[^}]+\})", text):
        value, _, label = part.strip("{}").partition("|")
        if label:
            removals.append(TextRemoval(len(plain), len(plain) + len(value), label))
        plain += value if label else part
    return Surrogates(SECRET, language=language)(Document(plain, subject="17"), removals).text


@pytest.mark.parametrize(
    ("text", "pattern", "language"),
    [
        ("The {patient|NAME} left.", r"The [a-z]+[^s] left\.", "english"),
        ("The {wards|HOSPITAL} close.", r"The [a-z]+s close\.", "english"),
        ("She came {in|NAME} today.", r"She came (on|at|near) today\.", "english"),
        ("{The|NAME} pain is gone.", r"(This|That) pain is gone\.", "english"),
        ("We met the {Smiths|NAME}.", r"We met the [A-Z][\w']+s\.", "english"),
        ("Seen by an {engineer|JOB}.", r"Seen by an [aeiou][a-z ]+\.", "english"),
        ("At an {Exeter|CITY} clinic.", r"At an [AEIOU][\w' -]+ clinic\.", "english"),
        ("La {enfermera|PROFESION} vino.", r"La [a-zé]+a\b[\w ]* vino\.", "spanish"),
        ("Los {pacientes|NAME} vinieron.", r"Los [a-zñ]+s vinieron\.", "spanish"),
        ("Seen by {anna smith|NAME}.", r"Seen by [a-z]+ [a-z]+\.", "english"),
    ],
)
def test_a_sentence_still_reads(text, pattern, language):
    made = read(text, language)
    assert re.fullmatch(pattern, made), made


def test_a_small_letter_name_after_an_article_is_its_person_where_the_text_names_that():
    made = read("{Anna|NAME} came. The {anna|NAME} again.")
    one, two = re.fullmatch(r"(\w+) came\. The (\w+) again\.", made).groups()
    assert one.lower() == two


@pytest.mark.parametrize(
    ("text", "pattern", "language"),
    [
        ("{St. Mary's Hospital|HOSPITAL}", r"St\. .+ Hospital", "english"),
        ("{Enron Corp.|ORG}", r"(?!Enron)[\w' -]+ Corp\.", "english"),
        ("{12 High Street, Flat 3B|ADDRESS}", r"\d\d [\w']+ Street, Flat \d[A-Z]", "english"),
        ("{C/ Velázquez, 12, 3º B|CALLE}", r"C/ [\w ]+, \d\d, \dº B", "spanish"),
        (
            "{Hospital Universitario de La Princesa|HOSPITAL}",
            r"Hospital Universitario de La (?!Princesa).+",
            "spanish",
        ),
        ("{España|PAIS}", r"(?!España)\w[\w ]+", "spanish"),
        ("{13/02/1999|DATE}", r"\d\d/\d\d/\d{4}", "english"),
        ("{March 12|DATE}", r"[A-Z][a-z]+ \d\d?", "english"),
        ("{next Monday morning|DATE}", r"next (?!Monday)[A-Z][a-z]+day morning", "english"),
    ],
)
def test_what_had_no_surrogate_has_one_of_its_form(text, pattern, language):
    made = read(text, language)
    assert re.fullmatch(pattern, made), made


@pytest.mark.parametrize("language", LANGUAGES)
@pytest.mark.parametrize("what", ["places", "countries", "professions"])
def test_lists_of_other_kinds_hold_each_entry_once(language, what):
    from voile.documents.replacements.document_surrogates import read_list

    entries = read_list(language, what)
    assert len(entries) == len({fold(one) for one in entries}) > 150
    assert all(one == one.strip() and not re.search(r"[\d\[\]]", one) for one in entries)
