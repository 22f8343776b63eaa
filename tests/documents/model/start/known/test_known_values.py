"""Known values are found in the notes of their subject, in the forms in which notes write them."""

from __future__ import annotations

import pyarrow as pa
import pytest

from voile.data import open_source
from voile.documents.model.start.known.known_values import KnownValues
from voile.documents.text.document import Document

PATIENTS = pa.table(
    {
        "pid": ["1", "2"],
        "first_name": ["Juan Luis", "Rose"],
        "surname": ["De Miguel-Rivera", "May"],
        "birth": ["1963-10-03", "1970-02-01"],
        "phone": ["+34 912 345 678", "(212) 555-0147"],
        "mrn": ["0012345", "MRN-99887"],
        "address": ["Calle Carmen Romero, 23, 1D", "12 Elm Street, Apt 4"],
        "email": ["jl@x.es", "rose.may@mail.com"],
        "city": ["Madrid", "New York"],
    }
)
STAFF = pa.table({"doctor": ["Dr. Estefanía Romero Selas"], "hospital": ["Hospital del Mar"]})
FILLER = Document("She may go. A rose is in bloom, and it rose again.", subject="9")


def found(subject: str, text: str) -> list[tuple[str, bool]]:
    known = KnownValues.read(open_source(PATIENTS), "pid", people=open_source(STAFF))
    removals = known.propose([Document(text, subject=subject), FILLER])[0]
    return [(text[one.start : one.end], known.sure(one)) for one in removals]


@pytest.mark.parametrize(
    "form",
    [
        *("Juan Luis de Miguel Rivera", "DE MIGUEL-RIVERA, JUAN LUIS", "J.L. de Miguel", "Rivera"),
        *("Rivera, J.L.", "juan luis rivera", "Rivrea", "Mguel Rivera", "Jaun Rivera", "JuanLuis"),
        *("Rivero", "Jua"),  # which is a name as well; of four letters three
        *("3/10/1963", "03-10-63", "1963.10.03", "03101963", "3 de octubre de 1963", "3-oct-63"),
        *("October 3rd, 1963", "Oct. 3, 1963", "912345678", "91 234 56 78", "(+34) 912-345-678"),
        *("+34912345678", "0034 912 34 56 78", "12345", "0012345", "00-12345", "12 345"),
        *("C/ Carmen Romero nº 23, 1ºD", "calle carmen romero 23", "jl@x.es", "JL@X.ES"),
        *("Madrid", "MADRID", "Estefania Romero", "E. Romero Selas", "Hospital del Mar"),
    ],
)
def test_a_form_is_found_whole_and_for_sure(form):
    assert found("1", f"Visto: {form} hoy.") == [(form, True)]


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("visto juan rivrea hoy", "juan rivrea"),
        ("visto j. rivera hoy", "j. rivera"),
        ("visto: juan hoy", "juan"),
        ("visto rivrea hoy", "rivrea"),
        ("VISTO RIVREA HOY; TAC", "RIVREA"),
    ],
)
def test_a_note_may_be_in_small_letters_or_capitals_alone(text, expected):
    assert found("1", text) == [(expected, True)]


def test_a_frequent_word_in_small_letters_is_no_name_with_a_typo():
    assert found("1", "paseo por la ribera") == []
    assert found("1", "Visto rivrea hoy") == []  # here small letters say that it is a word


def test_one_word_of_people_known_to_all_notes_is_a_proposal():
    text = "Romero test. Dra. Romero. E. Romero. Selas Romero. romero.selas@mar.es"
    assert found("3", text) == [
        ("Romero", False),
        ("Romero", True),
        ("E. Romero", True),
        ("Selas Romero", True),
    ]


@pytest.mark.parametrize("form", ["Slas", "Selsa", "Romreo", "ROMREO"])
def test_one_word_of_people_known_to_all_notes_may_have_a_typo(form):
    assert found("3", f"Visto por {form} hoy.") == [(form, False)]


def test_a_frequent_word_is_theirs_where_the_note_has_more_of_the_name():
    assert found("3", "Visto por Romeo hoy.") == []
    assert found("3", "Romero Selas. Visto por Romeo hoy.") == [
        ("Romero Selas", True),
        ("Romeo", False),
    ]
    assert ("Romeo", False) not in found("3", "Romero, hoy. Selas. Visto por Romeo.")


@pytest.mark.parametrize("form", ["Estefania+Romero", "E. Romero", "Romero+20Selas"])
def test_a_name_may_be_joined_by_signs(form):
    assert found("3", f"Visto por {form} hoy.") == [(form, True)]


def test_the_small_letters_of_a_name_behind_an_apostrophe_make_it_no_word():
    table = pa.table({"doctor": ["Tim O'rourke"]})
    known = KnownValues.read(None, people=open_source(table))
    texts = ["O'rourke, Tim", "Seen by O'rourke."]
    assert [len(one) for one in known.propose([Document(text) for text in texts])] == [1, 1]


def test_another_patients_values_are_not_looked_for():
    assert found("3", "Rose May, 212-555-0147; Juan; 12345 in Madrid") == []


def test_a_name_that_is_a_word_needs_support():
    assert found("2", "She may rise. May came. Ms. May. R. May. Rose May.") == [
        ("May", False),
        ("May", True),
        ("R. May", True),
        ("Rose May", True),
    ]
