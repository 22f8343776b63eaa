"""What exports say of their people beside readings: it is looked for in their notes."""

from __future__ import annotations

import json
from datetime import date

import pyarrow as pa
import pyarrow.csv
import pytest

from voile.data import open_source
from voile.documents.model.start.known.columns import column_kinds
from voile.study.carriers import FhirCarrier, OmopCarrier
from voile.study.carriers.fhir_known import known_of, staff_of
from voile.study.verbs.export import known_in

PATIENT = {
    "resourceType": "Patient",
    "id": "P1",
    "name": [
        {"family": "Quill", "given": ["Ann", "Bea"]},
        {"family": "Feather", "given": ["Ann"]},
        {"text": "Annie Q."},
    ],
    "birthDate": "1966-12-08",
    "telecom": [
        {"system": "phone", "value": "555-0100"},
        {"system": "email", "value": "ann@example.org"},
        {"system": "url", "value": "https://example.org"},
    ],
    "identifier": [{"value": "MRN-00000001"}],
    "address": [{"line": ["1 Main Street", "Flat 2"], "city": "Elmtown", "postalCode": "00214"}],
    "contact": [
        {"name": {"family": "Down", "given": ["Cy"]}, "telecom": [{"system": "sms", "value": "9"}]}
    ],
}


def test_a_patient_has_every_name_number_and_address_and_those_of_contacts():
    rows = list(known_of(PATIENT))
    assert rows[0] == {
        "given_name": "Ann Bea",
        "family_name": "Quill",
        "birth_date": "1966-12-08",
        "phone": "555-0100",
        "email": "ann@example.org",
        "record_number": "MRN-00000001",
        "street": "1 Main Street",
        "city": "Elmtown",
        "zip_code": "00214",
    }
    assert rows[1] == {
        "given_name": "Ann",
        "family_name": "Feather",
        "phone": "9",
        "street": "Flat 2",
    }
    assert rows[2:] == [{"full_name": "Annie Q."}, {"given_name": "Cy", "family_name": "Down"}]


def test_texts_and_addresses_of_extensions_are_known():
    maiden = {"url": "urn:mothersMaidenName", "valueString": "Harold Root"}
    birth = {"url": "urn:birthPlace", "valueAddress": {"city": "Olathe"}}
    [row] = known_of({"id": "P1", "extension": [maiden, birth]})
    assert row == {"full_name": "Harold Root", "city": "Olathe"}


@pytest.mark.parametrize("odd", [None, 7, "x", [], {}, [None], [7], [[]], [{"given": 3}]])
@pytest.mark.parametrize(
    "field", ["name", "telecom", "identifier", "address", "contact", "extension"]
)
def test_a_field_of_another_form_says_nothing_and_ends_nothing(field, odd):
    assert list(known_of({"id": "P1", field: odd})) == []
    assert all(map(dict, staff_of({"name": odd})))


@pytest.mark.parametrize("line", ["x", 7, {"a": 1}, [7, None]])
def test_lines_of_an_address_of_another_form_are_passed_over(line):
    rows = list(known_of({"address": [{"line": line, "city": "Elmtown"}]}))
    assert rows[0]["city"] == "Elmtown"


def write_export(folder):
    for kind, one in {
        "Patient": PATIENT,
        "Practitioner": {"name": [{"family": "Cutter", "given": ["Zoe"]}]},
        "Organization": {"name": "Saint Elm"},
    }.items():
        (folder / f"{kind}.ndjson").write_text(json.dumps({"resourceType": kind, **one}) + "\n")


def test_the_columns_of_an_export_are_known_for_what_they_hold(tmp_path):
    write_export(tmp_path)
    carrier = FhirCarrier(tmp_path, date(2013, 7, 1), frozenset(["Practitioner", "Organization"]))
    assert carrier.without_rule() == ["Organization", "Practitioner"]
    tables = known_in(carrier)
    columns = {name: [row.get(name) for row in tables["known"]] for name in tables["known"][0]}
    kinds = column_kinds(open_source(pa.table(columns)), None, {})
    assert kinds == {
        "person_id": "id",
        "given_name": "name",
        "family_name": "name",
        "birth_date": "date",
        "phone": "phone",
        "email": "email",
        "record_number": "id",
        "street": "address",
        "city": "place",
        "zip_code": "place",
    }
    assert tables["staff"] == [
        {"institution": "Saint Elm"},
        {"given_name": "Zoe", "family_name": "Cutter"},
    ]
    institution = open_source(pa.table({"institution": ["Saint Elm"]}))
    assert column_kinds(institution, None, {}) == {"institution": "organisation"}


def test_omop_knows_numbers_days_of_birth_homes_and_its_staff(tmp_path):
    def write(name, **columns):
        pyarrow.csv.write_csv(pa.table(columns), tmp_path / f"{name}.csv")

    born = {"year_of_birth": [1966, 1970], "month_of_birth": [12, None], "day_of_birth": [8, None]}
    write("person", person_id=[1, 2], PERSON_SOURCE_VALUE=["M1", None], location_id=[5, 6], **born)
    write("location", location_id=[5], address_1=["1 Main Street"], zip=["00214"])
    write("provider", provider_id=[1], provider_name=["Zoe Cutter"])
    write("care_site", care_site_id=[1, 2], care_site_name=["Saint Elm", None])
    carrier = OmopCarrier(str(tmp_path), date(2013, 7, 1))
    assert list(carrier.list_known()) == [
        (
            "1",
            {
                "record_number": "M1",
                "birth_date": "1966-12-08",
                "street": "1 Main Street",
                "zip_code": "00214",
            },
        )
    ]
    assert list(carrier.staff()) == [{"full_name": "Zoe Cutter"}, {"institution": "Saint Elm"}]
