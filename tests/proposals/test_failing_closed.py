"""What inspect cannot tell it says so, and nothing is kept as it is without a reason."""

from __future__ import annotations

import datetime as dt
import json
import tomllib

import pyarrow as pa
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from voile.data import open_source
from voile.data.column_words import LANGUAGES, find_words, glossary
from voile.data.roles import Roles
from voile.proposals.items import examine_items
from voile.proposals.readings import examine_readings
from voile.proposals.tables import examine
from voile.tables import PolicySpace

N = 200
FEW = [f"CANARY{i % 5}" for i in range(N)]
WHOLE = [i % 70 for i in range(N)]
DAYS = [dt.date(1950, 1, 1) + dt.timedelta(37 * i) for i in range(N)]
WORDS = {
    "quasi": (
        "geschlecht sexo sexe sesso geslacht edad alter eta idade leeftijd fechaNacimiento "
        "Geburts-Datum DateDeNaissance data_di_nascita geboortedatum PLZ CodigoPostal wohnort "
        "ville CAP cidade woonplaats nacionalidad Staatsangehörigkeit beruf profession escolaridad "
        "Familienstand estado_civil stato_civile burgerlijke_staat Aufnahmedatum fecha_de_ingreso "
        "date_entree ricovero internação ontslagdatum Größe peso taille gewicht bmi ward Hausarzt"
    ),
    "identifier": (
        "vorname Nachname apellidos nom prénom cognome sobrenome achternaam correo-electronico "
        "Telefonnummer teléfono adresse indirizzo endereço huisnummer Patientennummer DNI BSN NIR "
        "codice_fiscale CPF Versichertennummer numeroDeHistoria mrn patient"
    ),
    "sensitive": (
        "diagnose diagnostico Diagnóstico diagnosi diagnostic medicamento Medikation terapia "
        "behandeling religión Konfession sindicato Einkommen renda reddito salaire inkomen"
    ),
}
NOTES = [f"Seen on day {i} by CANARY{i}, and sent home in a good state." for i in range(N)]
NAMES = ["María García", "John Smith", "Ana López Ruiz", "Laura Qwertz", "Peter Brown"]


def proposed(**columns):
    """The proposals for a table of these columns."""
    return {c.name: c for c in examine(open_source(pa.table(columns))).columns}


@pytest.mark.parametrize(("role", "name"), [(r, n) for r, ns in WORDS.items() for n in ns.split()])
def test_a_column_is_known_by_its_name_in_seven_languages(role, name):
    assert proposed(**{name: FEW})[name].role == role


def test_every_meaning_has_words_in_every_language():
    for meaning, words in glossary().items():
        assert words.phrases, meaning
        assert "" not in words.phrases, f"{meaning}: an empty phrase of {LANGUAGES}"


def test_what_is_no_person_has_no_name_of_one():
    assert find_words("nombre_medicamento")[0].role == "sensitive"
    assert find_words("hospital name")[0].role == "quasi"


@pytest.mark.parametrize(
    ("kind", "values"),
    [
        ("e-mail addresses", [f"canary{i}@example.org" for i in range(N)]),
        ("phone numbers", [f"+49 30 90182{i:03}" for i in range(N)]),
        ("phone numbers", [f"(212) 555-{i:04}" for i in range(N)]),
        ("social security numbers", [f"219-09-{i + 1000}" for i in range(N)]),
        ("national identity numbers", ["12345678Z", "00000000T", None, "X1234567L"] * 50),
        ("bank accounts", ["DE89 3704 0044 0532 0130 00", "ES9121000418450200051332"] * 100),
        ("people's names", [NAMES[i % 5] for i in range(N)]),
        ("references", [json.dumps({"reference": f"Patient/{i // 2}"}) for i in range(N)]),
        ("a whole number of its own", list(range(40_000, 40_000 + N))),
        ("a whole number of its own", [str(i) for i in range(40_000, 40_000 + N)]),
        ("almost every row", [f"CANARY{i}" for i in range(N)]),
    ],
)
def test_an_identifier_is_known_by_its_values(kind, values):
    column = proposed(x=values)["x"]
    assert (column.role, kind in column.why) == ("identifier", True), column


CITIES = ["Madison", "Jackson", "Austin", "Charlotte", "Houston", "Lincoln", "Florence"]


@pytest.mark.parametrize(
    ("name", "values", "role"),
    [
        ("city", CITIES, "quasi"),
        ("home_city", CITIES, "quasi"),
        ("City name", CITIES, "quasi"),
        ("Wohnort", CITIES, "quasi"),
        ("city manager", CITIES, "identifier"),
        ("x", CITIES, "identifier"),
        ("city", [f"{one} {a}{b}" for one in CITIES for a in "xyz" for b in "xyz"], "identifier"),
    ],
)
def test_a_few_places_that_are_called_as_people_are_no_names(name, values, role):
    table = {name: [values[i % len(values)] for i in range(N)]}
    assert proposed(**table)[name].role == role


@pytest.mark.parametrize(
    "values",
    [
        NOTES,
        [NOTES[i % 150] for i in range(N)],
        [f"CANARY{i}" if i % 3 else "CANARY" for i in range(N)],
        [["CANARY"]] * N,
        [{"CANARY": 1}] * N,
        ['[{"attachment": {"data": "CANARY"}}]'] * N,
        [b"CANARY"] * N,
        pa.array([dt.time(1, 2)] * N),
    ],
)
def test_what_neither_its_name_nor_its_values_decide_is_undecided(values):
    assert proposed(content_2=values, x=values)["x"].role == "undecided"


def test_dates_are_generalised_in_the_form_they_have():
    table = {
        "seen": [day.strftime("%d.%m.%Y") for day in DAYS],
        "when": [day.strftime("%Y-%m-%dT10:00:00") for day in DAYS],
        "admission date": [day.strftime(("%d.%m.%Y", "%m/%d/%y")[day.day % 2]) for day in DAYS],
    }
    found = proposed(**table)
    assert found["seen"].settings == {"by": "year", "form": "%d.%m.%Y"}
    assert found["when"].settings == {"by": "year"}
    assert found["admission date"].role == "drop"
    assert "several forms" in found["admission date"].why
    space = PolicySpace.of(
        pa.table(table),
        quasi=["seen", "when"],
        settings={name: found[name].settings for name in ("seen", "when")},
    )
    years = len({day.year for day in DAYS})
    assert [len(domain) for domain in space.domains] == [years, years]


def test_an_order_of_day_and_month_that_cannot_be_told_is_said():
    either = [f"{1 + i % 12:02}/{1 + i % 11:02}/1990" for i in range(N)]
    assert "either order" in proposed(born=[*either[1:], "01/01/1991"])["born"].why


COLUMNS = st.one_of(
    st.lists(st.none() | st.integers(0, 3) | st.integers(), min_size=9, max_size=9),
    st.lists(st.none() | st.sampled_from("ab") | st.text(max_size=9), min_size=9, max_size=9),
    st.lists(st.none() | st.booleans(), min_size=9, max_size=9),
    st.lists(st.none() | st.floats(), min_size=9, max_size=9),
    st.lists(st.none() | st.lists(st.integers(0, 9)), min_size=9, max_size=9),
)
NAME = st.text(min_size=1, max_size=12)


@settings(max_examples=50, deadline=None)
@given(NAME, COLUMNS)
def test_only_what_is_the_same_in_every_row_is_kept(name, values):
    try:
        column = pa.array(values)
    except (pa.ArrowInvalid, OverflowError):
        return
    role = examine(open_source(pa.table({"a": list(range(9)), name + "x": column}))).columns[1].role
    assert role != "keep" or column.value_counts().to_pylist()[0]["counts"] == len(values)


def test_no_value_is_told_however_it_looks():
    table = {
        "mail": [f"canary{i}@example.org" for i in range(N)],
        "who": [f"Maria Canary{i}" for i in range(N)],
        "note": NOTES,
        "text": [json.dumps({"reference": f"Patient/CANARY{i}"}) for i in range(N)],
        "when": [f"CANARY {day:%d.%m.%Y}" for day in DAYS],
    }
    for look in (examine, examine_items, examine_readings):
        assert "canary" not in look(open_source(pa.table(table))).to_toml().lower()


def test_ids_of_digits_are_no_readings():
    table = {
        "code": list(range(500, 500 + N)),
        "device": [1_000_000_007 + i % 40 for i in range(N)],
        "stamp": [str(1_700_000_000 + i // 2) for i in range(N)],
        "Gewicht": [50.5 + i % 40 for i in range(N)],
        "pulse": [60 + i % 40 for i in range(N)],
    }
    found = {c.name: c.role for c in examine_readings(open_source(pa.table(table))).columns}
    assert found == {
        "code": "identifier",
        "device": "drop",
        "stamp": "drop",
        "Gewicht": "reading",
        "pulse": "reading",
    }


def test_a_basket_id_is_no_feature_and_a_class_beside_a_list_no_item():
    lists = {"items": [["tea", "rum"][: 1 + i % 2] for i in range(N)]}
    found = said_of_items(basket=[f"b{i % 120}" for i in range(N)], parent=FEW, **lists)
    assert found == {"basket": "identifier", "parent": "label", "items": "items"}
    assert said_of_items(ticket=list(range(N)), **lists)["ticket"] == "identifier"
    two = said_of_items(parent=FEW, shop=["a", "b", "c", "d"] * (N // 4), **lists)
    assert two["parent"] == two["shop"] == "undecided"


def test_tokens_and_their_tags_are_undecided():
    step = {
        "tokens": [["Ann", "May"] * (1 + i % 3) for i in range(N)],
        "ner_tags": [[1, 2] * (1 + i % 3) for i in range(N)],
    }
    assert set(said_of_items(**step).values()) == {"undecided"}


def said_of_items(**columns):
    """The roles proposed for rows of items."""
    found = examine_items(open_source(pa.table(columns)))
    Roles.model_validate(tomllib.loads(found.to_toml()))
    return {column.name: column.role for column in found.columns}
