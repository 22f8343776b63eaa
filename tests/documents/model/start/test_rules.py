"""Rules: what they propose, that they keep to their document, and that no text takes them long."""

from __future__ import annotations

from dataclasses import replace
from itertools import pairwise
from time import process_time

import pytest
from hypothesis import given
from hypothesis import strategies as st

from voile.core.errors import RequestError
from voile.documents import Document
from voile.documents.model.start.rules import LanguageRules, find_rules
from voile.documents.model.start.rules.language import check_language
from voile.documents.model.start.rules.vocabulary import vocabulary
from voile.documents.words.tokens import tokenise


def proposed(text: str, language: str = "english") -> dict[str, str]:
    """Return what is proposed of a text, and by which rules."""
    found = LanguageRules(language).propose([Document(text)])[0]
    return {text[one.start : one.end]: ", ".join(by.name for by in one.by) for one in found}


NAMES = {
    "title": ("Seen by Dr. Osei today.", "Osei"),
    "label": ("Patient: Kwame Osei-Bonsu\n", "Kwame Osei-Bonsu"),
    "last, first": ("Osei, John was seen.", "Osei, John"),
    "first m. last": ("It was Kwame K. Osei.", "Kwame K. Osei"),
    "initials": ("as K. O. Osei wrote", "K. O. Osei"),
    "greeting": ("Dear Kwame,\nwe met", "Kwame"),
    "addressed": ("Kwame,\nwe met", "Kwame"),
    "signature": ("See you.\nRegards,\n\nKwame Osei", "Kwame Osei"),
    "title and word": ("by Dr. May today", "May"),
    "relative": ("his wife Abena came", "Abena"),
    "handle": ("ask @kwame77 now", "@kwame77"),
    "listed": ("then Mary came", "Mary"),
}


@pytest.mark.parametrize("rule", NAMES)
def test_a_name_is_found_where_its_rule_says(rule):
    text, name = NAMES[rule]
    found = proposed(text)
    assert rule.partition(" and ")[0] in found[name]


@pytest.mark.parametrize(
    ("text", "name"),
    [
        ("Nombre: Ernesto.\nApellidos: Oyono Nsue.\n", "Oyono Nsue"),
        ("Remitido por: Dra. Oyono Nsue.", "Oyono Nsue"),
        ("Autor: Ana Eva Del Oyono Nsue de la Fuente\n", "Ana Eva Del Oyono Nsue de la Fuente"),
        ("Médico: Samir Oyono-nsue Mba NºCol: 7", "Samir Oyono-nsue Mba"),
        ("valorada por la Dra. de la Fuente", "de la Fuente"),
        ("Estimada Obdulia:\n", "Obdulia"),
    ],
)
def test_a_spanish_name_is_found(text, name):
    assert name in proposed(text, "spanish")


DETAILS = {
    ("english", "date in figures"): ("seen 12/03/1999 again", "12/03/1999"),
    ("english", "date in words"): ("on March 3rd, 1999 and", "March 3rd, 1999"),
    ("english", "year"): ("since 1999 well", "1999"),
    ("english", "years old"): ("a 46-year-old man", "46-year-old"),
    ("english", "age"): ("Age: 46 F", "46"),
    ("english", "record"): ("MRN: A-00123 next", "A-00123"),
    ("english", "address"): ("Address: 12 Elm, Accra\n", "12 Elm, Accra"),
    ("english", "place"): ("City: Accra\n", "Accra"),
    ("english", "house and street"): ("at 12 Elm Grove Road", "12 Elm Grove Road"),
    ("english", "institution"): ("to Korle Bu Hospital by", "Korle Bu Hospital"),
    ("english", "address on a network"): ("to osei@canary.org now", "osei@canary.org"),
    ("spanish", "date in figures"): ("Fecha: 12.03.1999.", "12.03.1999"),
    ("spanish", "date in words"): ("el 3 de marzo de 1999 vino", "3 de marzo de 1999"),
    ("spanish", "year"): ("desde 1999 bien", "1999"),
    ("spanish", "person of an age"): ("Mujer de 46 años que", "46 años"),
    ("spanish", "record"): ("CIPA: nhc-150679. ", "nhc-150679"),
    ("spanish", "street"): ("en Calle de la Paz, 23, Cuenca", "Calle de la Paz, 23"),
    ("spanish", "postcode and town"): ("28007 Madrid.", "28007 Madrid"),
    ("spanish", "institution"): ("en el Hospital de La Paz ayer", "Hospital de La Paz"),
}


@pytest.mark.parametrize(("language", "rule"), DETAILS)
def test_a_detail_is_found_where_its_rule_says(language, rule):
    text, wanted = DETAILS[language, rule]
    found = proposed(text, language)
    assert [rule in by for it, by in found.items() if it == wanted] == ([True] if wanted else [])


@pytest.mark.parametrize(
    ("text", "age"),
    [
        ("seen today (57 years), well", "57 years"),
        ("( 57 years ) of", "57 years"),
        ("a woman, 57 years, came", "57 years"),
        ("Female (7 years) with", "7 years"),
        ("a 57 yr male came", "57 yr"),
        ("58 y/o, well", "58 y/o"),
        ("a 57yo F", "57yo"),
        ("at the age of 61 he", "61"),
    ],
)
def test_an_age_is_found_in_the_forms_that_notes_have(text, age):
    assert age in proposed(text, "english")


@pytest.mark.parametrize(
    "text", ["for 57 years", "(5 years later)", "a follow-up (20 years of it)"]
)
def test_years_alone_are_no_age(text):
    assert not proposed(text, "english")


FIELDS = {
    "record": (
        "MRN: |A-00123", "Lic. No. |12345", "Reg. No.: |12345", "License #: |A12345",
        "Acct. #|12345", "NºCol: |28 28 98702", "Nº Col. |28 28 98702", "N.º Col: |28-28-98702",
        "Núm. col.: |282898702", "Colegiado nº |28/28/98702", "Nº SS: |28/1234567890",
        "N.A.S.S.: |281234567890", "NASS: |26 63514095 12", "DNI: |12345678-A",
        "Historia clínica nº: |12345", "Nº de historia clínica: |1234", "Fall-Nr.: |123456",
        "Versicherungsnummer: |A123456789", "N° dossier : |123456", "Matricola: |1234",
        "N° de sécurité sociale : |1 85 05 78 006 084 36", "Nº utente: |123456789",
        "Cartão de cidadão nº |12345678", "Cod. fiscale: |RSSMRA85T10A562S",
    ),
    "place": (
        "CP: |28016", "Code postal : |75011", "CAP: |00100", "PLZ: |80331", "Postcode: |SW1A 1AA",
        "Localidad/ Provincia: |Osuna, Soria", "Wohnort: |Osuna",
    ),
    "postcode": ("CP |28016", "Postcode |SW1A 1AA", "zip |12345"),
    "date in words": (
        "|marzo de 2015", "|Marzo 2015", "|marzo del 2015", "|March 2015", "|March of 2015",
        "|Mar. 2015", "|15. März 2015", "|mars 2015", "|3 maggio 2015", "|maio de 2015",
        "|3 de março de 2015", "|marzo-15", "|mars-2015",
    ),
}  # fmt: skip


@pytest.mark.parametrize(
    "street",
    ["Avda. de la Paz, s/n", "C/. Ossa el Bueno, 98, 6.º D", "C/ Ossa, 19 - 10º D",
     "C/ Ossa 60, 7ºA", "Calle Ossa 188 A-6", "Av. Vall d´Ossa, 119-129", "C/ Ossa 345, 2º-1ª",
     "Carretera de Ossa, km. 12.500"],
)  # fmt: skip
def test_a_street_is_found_with_its_number_its_floor_and_its_door(street):
    assert "street" in proposed(f"en {street}, 28 casos", "spanish")[street]


@pytest.mark.parametrize("language", ["english", "spanish"])
@pytest.mark.parametrize(("rule", "field"), [(by, one) for by, of in FIELDS.items() for one in of])
def test_a_field_or_a_month_is_found_whatever_the_language_of_the_note(rule, field, language):
    label, _, value = field.partition("|")
    assert rule in proposed(f"then {label}{value} .", language).get(value, "")


@pytest.mark.parametrize("language", ["english", "spanish"])
@pytest.mark.parametrize(
    "text",
    ["Leucocitos: 13500", "PLT: 250000", "PSA: 12,3 ng", "INR: 1.2", "No 5 of 12", "Ki-67: 30",
     "number of visits: 5", "Nº de hijos: 3", "E.V.A.: 7", "marzo", "record: none",
     "the history of 3 visits", "Marco 3"],
)  # fmt: skip
def test_measures_and_counts_are_no_fields(text, language):
    found = LanguageRules(language).propose([Document(f"then {text} .")])[0]
    assert [one.label for one in found if one.label != "NAME"] == []


def test_the_label_of_a_number_is_no_part_of_the_name_before_it():
    found = proposed("Médico: Ana Oyono NºCol: 28 28 98702.", "spanish")
    assert list(found) == ["Ana Oyono", "28 28 98702"]


@pytest.mark.parametrize(
    "text", ["won 3 - 1", "score 21-19-21", "version 1.2.3", "BP 120/80", "12/31/x", "a 3-0 win"]
)
def test_scores_and_measures_are_no_dates(text):
    assert "DATE" not in [
        one.label for one in LanguageRules("english").propose([Document(text)])[0]
    ]


def test_a_text_of_the_other_language_is_refused():
    spanish = "La paciente de la que se habla en el informe de los servicios y del centro. " * 3
    with pytest.raises(RequestError, match="seems to be Spanish"):
        check_language("english", [spanish], "leave it out")
    check_language("spanish", [spanish], "leave it out")
    check_language("english", ["Madrid", "12345"], "leave it out")


@pytest.mark.parametrize(
    "text", ["The patient was seen.", "Final score 3 - 1, 12.50 each", "Dr. was called", "@ 5 pm"]
)
def test_what_no_rule_knows_stays(text):
    assert proposed(text) == {}


def test_further_mentions_are_those_of_the_same_document():
    notes = [Document("Dr. Zzyvra came. Zzyvra left."), Document("Zzyvra left.")]
    found = LanguageRules("english").propose(notes)
    assert [len(one) for one in found] == [2, 0]


def test_a_rule_does_not_reach_into_the_next_document():
    notes = [Document("Thank you.\nRegards,"), Document("Zzyvra Quoxxle\n")]
    assert LanguageRules("english").propose(notes) == [[], []]


def test_hidden_characters_do_not_hide_a_name():
    text = "Dr. Os\u200bei came"
    assert list(proposed(text)) == ["Os\u200bei"]


def test_another_language_is_refused():
    with pytest.raises(RequestError, match="no rules for latin"):
        LanguageRules("latin")


@given(st.lists(st.text("DdrMs. ,:@-'\nJohnéRegards0\u200bñ[]_", max_size=60), max_size=4))
def test_proposals_lie_in_their_document_in_order_and_apart(texts):
    documents = [Document(text) for text in texts]
    for text, found in zip(texts, LanguageRules("english").propose(documents), strict=True):
        for one in found:
            assert 0 <= one.start < one.end <= len(text)
            assert text[one.start : one.end].strip() == text[one.start : one.end] or one.by
        assert all(a.end <= b.start for a, b in pairwise(found))


@given(st.lists(st.text("Dr. JohnRegads,:\n", max_size=40), min_size=1, max_size=4))
def test_documents_are_read_each_by_itself(texts):
    together = LanguageRules("english").propose([Document(text) for text in texts])
    assert together == [LanguageRules("english").propose([Document(text)])[0] for text in texts]


HOSTILE = [
    "A " * 50_000,
    "J. " * 50_000,
    "Dr. " * 50_000,
    "Patient:" * 25_000,
    "\n" * 100_000,
    "Regards,\n" * 20_000,
    "de " * 50_000,
    "O'" * 50_000,
    "A-" * 50_000,
    "a" * 200_000,
    "@" * 100_000,
    "Mary, " * 30_000,
    "No. Col. " * 30_000,
    "record no " * 30_000,
    "1 " * 100_000,
]


@pytest.mark.parametrize("text", HOSTILE, ids=[repr(text[:9]) for text in HOSTILE])
def test_time_grows_with_the_text(text):
    rules = LanguageRules("english")
    rules.propose([Document("Dr. Osei")])
    began = process_time()
    rules.propose([Document(text)])
    assert process_time() - began < 5


def test_a_street_called_after_somebody_is_an_address():
    text = "vive en Calle Juan Bravo, 23."
    found = LanguageRules("spanish").propose([Document(text)])[0]
    assert [(one.label, text[one.start : one.end]) for one in found] == [
        ("ADDRESS", "Calle Juan Bravo, 23")
    ]


def test_levels_say_which_tokens_are_names_surely_and_which_perhaps():
    tokens = tokenise(["Dr. Osei met Mary; Osei ran on 12/03/1999"])
    levels = LanguageRules("english").levels(tokens)
    words = [tokens.forms[form] for form in tokens.form]
    found = [(word, level) for word, level in zip(words, levels.tolist(), strict=True) if level]
    assert found == [("Osei", 2), ("Mary", 1), ("Osei", 1)]


def test_a_name_that_is_found_surely_is_not_perhaps_one_where_another_rule_finds_it_too():
    tokens = tokenise(["Dear Mary,"])
    assert LanguageRules("english").levels(tokens).tolist() == [0, 2, 0]


@pytest.mark.parametrize("language", ["english", "spanish"])
def test_rules_are_found_by_their_name(language):
    rules = find_rules(LanguageRules(language).name)
    assert rules.language == language


def test_rules_of_another_version_are_refused():
    with pytest.raises(RequestError, match="another version of the rules"):
        find_rules("rules spanish 0000")


def test_the_name_of_rules_tells_of_their_words(monkeypatch):
    before = LanguageRules("spanish").name
    words = replace(vocabulary("spanish"), titles=frozenset({"sr"}))
    monkeypatch.setattr("voile.documents.model.start.rules.vocabulary", lambda language: words)
    assert LanguageRules("spanish").name != before
