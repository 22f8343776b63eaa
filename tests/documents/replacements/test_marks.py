"""Marks and categories."""

from __future__ import annotations

import re

import pytest
from hypothesis import given
from hypothesis import strategies as st

from voile.core.errors import RequestError
from voile.documents.replacements.kinds import kind_of
from voile.documents.replacements.marks import CategoryMarks, LabelMarks, mark
from voile.documents.replacements.removal import TextRemoval
from voile.documents.replacements.replacer import make_replacer
from voile.documents.replacements.surrogates import Surrogates
from voile.documents.text.document import Document
from voile.keys.secret import Secret

TEXT = "Anna Smith, 12 High Street, Leeds LS1"
WHERE = [(0, 4, "NAME"), (5, 10, "NAME"), (12, 26, "STREET"), (28, 33, "CITY"), (34, 37, "ZIP")]
REMOVALS = [TextRemoval(start, end, label) for start, end, label in WHERE]


def test_a_run_has_one_mark():
    assert LabelMarks()(Document(TEXT), REMOVALS).text == "[NAME], [STREET], [CITY] [ZIP]"


def test_categories_make_one_mark_of_labels_that_they_group():
    own = CategoryMarks({"STREET": "where", "CITY": "where", "ZIP": "where"})
    assert own(Document(TEXT), REMOVALS).text == "[NAME], [WHERE], [WHERE]"
    kinds = CategoryMarks({})(Document(TEXT), [*REMOVALS[:2], TextRemoval(12, 26, "ODD")])
    assert kinds.text == "[NAME], [OTHER], Leeds LS1"
    assert [edit.label for edit in kinds.edits] == ["NAME", "OTHER"]


@given(st.text(max_size=12))
def test_a_mark_is_one_token_whatever_the_label(label):
    assert re.fullmatch(r"\[[A-Z0-9][A-Z0-9_]*\]", mark(label))


@pytest.mark.parametrize(
    ("label", "kind"),
    [
        ("PATIENT", "name"),
        ("FECHAS", "date"),
        ("EDAD_SUJETO_ASISTENCIA", "age"),
        ("LOCATION-OTHER", "place"),
        ("MEDICALRECORD", "number"),
        ("US_SSN", "number"),
        ("ORGANIZATION", "organisation"),
        ("SEXO_SUJETO_ASISTENCIA", "other"),
        ("", "other"),
    ],
)
def test_labels_of_known_corpora_have_a_kind(label, kind):
    assert kind_of(label) == kind


MEDDOCAN = """
    NOMBRE_SUJETO_ASISTENCIA NOMBRE_PERSONAL_SANITARIO FAMILIARES_SUJETO_ASISTENCIA
    EDAD_SUJETO_ASISTENCIA SEXO_SUJETO_ASISTENCIA FECHAS TERRITORIO PAIS CALLE HOSPITAL
    CENTRO_SALUD INSTITUCION PROFESION ID_SUJETO_ASISTENCIA ID_ASEGURAMIENTO
    ID_CONTACTO_ASISTENCIAL ID_TITULACION_PERSONAL_SANITARIO ID_EMPLEO_PERSONAL_SANITARIO
    CORREO_ELECTRONICO NUMERO_TELEFONO NUMERO_FAX OTROS_SUJETO_ASISTENCIA"""


def test_the_22_labels_of_meddocan_are_all_known():
    labels = MEDDOCAN.split()
    unknown = [label for label in labels if kind_of(label) == "other"]
    assert len(labels) == 22
    assert [label.split("_")[0] for label in unknown] == ["FAMILIARES", "SEXO", "OTROS"]


LABELS = {
    "name": """
        PATIENT DOCTOR PERSON PER PERS B-PER pers.ind NAME NAME_PATIENT PATIENT_NAME DOCTOR_NAME
        patientName PersonName FIRSTNAME LASTNAME MIDDLENAME GIVENNAME1 LASTNAME2 SURNAME FULL_NAME
        NAME_STUDENT NAME_MEDICAL_PROFESSIONAL FAMILY_NAME STAFF HCW NOMBRES APELLIDOS
        nombre_paciente Apellidos-Paciente NOMBRE_SUJETO_ASISTENCIA NOMBRE_PERSONAL_SANITARIO médico
        OTHER_NAME JUDGE WITNESS""",
    "number": """
        USERNAME USER_NAME NOMBRE_USUARIO SCREEN_NAME ACCOUNTNAME PHONENUMBER PhoneNum ID_NUM
        PatientID PATIENT_PHONE CREDITCARDNUMBER BITCOINADDRESS IDNUM MEDICALRECORD PASSWORD""",
    "organisation": """
        HOSPITAL HOSPITAL_NAME NOMBRE_HOSPITAL COMPANYNAME COMPANY_NAME PATORG HOSP VENDOR
        CENTRO_MEDICO ORG ORGANIZATION bankName""",
    "email": "EMAIL E_MAIL patientEmail EMAIL_ADDRESS NAME_EMAIL",
    "url": "URL URL_PERSONAL DOMAIN_NAME",
    "ip": "IP IPADDR IPV4 IP_ADDRESS",
    "date": "DATE DATE_OF_BIRTH PATIENT_DOB FECHA_NACIMIENTO",
    "age": "AGE PATIENT_AGE EDAD_PACIENTE",
    "street": "STREET STREET_NAME NOMBRE_CALLE SECONDARYADDRESS",
    "place": "LOCATION LOCATION-OTHER CITY_NAME GPE FAC",
    "other": """
        DRUG_NAME NOMBRE_MEDICAMENTO CURRENCYNAME FILE_NAME HOSTNAME PRODUCT_NAME DISEASE_NAME TITLE
        NAME_PREFIX MISC NORP MONEY PERCENT PERIOD PERSONAL PERFORMANCE OTHERPHI TIME
        CONTEXT_NAME CONTEXT_PATIENT_NAME
        FAMILIARES_SUJETO_ASISTENCIA SEXO_SUJETO_ASISTENCIA 名前""",
}
"""Labels of i2b2, MEDDOCAN, Presidio, CoNLL, MUC, spaCy, HIPE and sets of made-up text, and of
doccano as people write them."""


@pytest.mark.parametrize("kind", LABELS)
def test_the_words_of_a_label_tell_its_kind(kind):
    assert {label: kind_of(label) for label in LABELS[kind].split()} == dict.fromkeys(
        LABELS[kind].split(), kind
    )


def test_a_replacer_by_its_name():
    assert isinstance(make_replacer("mark"), LabelMarks)
    assert isinstance(make_replacer("category", categories={"CITY": "PLACE"}), CategoryMarks)
    assert isinstance(make_replacer("surrogate", Secret(bytes(16)), language="spanish"), Surrogates)


@pytest.mark.parametrize(
    ("how", "options", "sentence"),
    [
        ("surrogate", {}, "surrogates need a secret"),
        ("marks", {}, "there is no replacement marks; did you mean mark?"),
        ("surrogate", {"language": "french"}, "language: there is no french"),
        ("surrogate", {"ages": "group"}, "ages: there is no group"),
        ("surrogate", {"date_order": "ymd"}, "date_order: there is no ymd"),
        ("surrogate", {"days": 0}, "the largest date shift is 0 days"),
        ("surrogate", {"kinds": {"X": "names"}}, "did you mean name?"),
        ("surrogate", {"lists": {"name": ["a", "b"]}}, "name does not take a list"),
        ("surrogate", {"lists": {"city": ["a", "b"]}}, "city is not a kind of identifier"),
        ("surrogate", {"lists": {"place": ["Leeds", "LEEDS"]}}, "has fewer than two"),
    ],
)
def test_what_is_asked_wrongly_is_refused_in_a_sentence(how, options, sentence):
    secret = Secret(bytes(16)) if options else None
    with pytest.raises(RequestError, match=re.escape(sentence)):
        make_replacer(how, secret, **options)


def test_examples_of_marks():
    removals = [TextRemoval(4, 8, "NAME"), TextRemoval(9, 14, "NAME")]
    assert LabelMarks()(Document("Ask Anna Smith."), removals).text == "Ask [NAME]."


def test_examples_of_categories():
    removals = [TextRemoval(3, 8, "STREET"), TextRemoval(9, 13, "CITY")]
    assert (
        CategoryMarks({"STREET": "place"})(Document("of Green Road."), removals).text
        == "of [PLACE]."
    )
