"""A FHIR export there and back: valid, consistent, and with nothing in it that is not listed."""

from __future__ import annotations

import base64
import hashlib
import json
from collections import Counter
from datetime import date, timedelta
from itertools import repeat

import pyarrow.parquet as pq
import pytest
from fhir.resources.R4B import get_fhir_model_class

from voile.core.errors import RequestError, SourceError
from voile.demo.clinic import AS_OF, RXNORM, make_clinic
from voile.demo.fhir import person_id, write_fhir
from voile.keys.pseudonyms import Secret, date_shift, pseudonym
from voile.study import Study
from voile.study.carriers import Fhir
from voile.study.carriers.carrier import Released
from voile.study.carriers.fhir import references_in
from voile.study.export import mover, unpacked
from voile.study.plan import Plan
from voile.tables.recoding.codebook import Entry

SECRET = Secret(b"k" * 64)
SHOWN = {
    "age": Entry("40-49", "40", "49"),
    "sex": Entry("F", "F", "F"),
    "race": Entry("Black|White", None, None, values=("Black", "White")),
    "zip": Entry("00201-00299", "00201", "00299"),
}


def resources(folder, kind=None):
    for path in sorted(folder.glob("*.ndjson")):
        if kind in (None, path.stem):
            yield from map(json.loads, path.read_text().splitlines())


def moved(person: int, day: date) -> str:
    days = date_shift(SECRET, person_id(person), days=30)
    return (day + timedelta(days=days)).isoformat()


def name_of(person: int) -> str:
    return pseudonym(SECRET, person_id(person))


@pytest.fixture(scope="module")
def out(fhir_release):
    return fhir_release.path / "export"


@pytest.fixture(scope="module")
def there(clinic, out):
    """The people who were released."""
    names = {one["id"] for one in resources(out, "Patient")}
    return {one.number for one in clinic.people if name_of(one.number) in names}


def test_every_resource_of_six_types_is_valid(out, fhir_release):
    found = Counter()
    for one in resources(out):
        get_fhir_model_class(one["resourceType"]).model_validate(one)
        found[one["resourceType"]] += 1
    files = fhir_release.public["export"]["files"]
    assert len(found) == 6
    assert {f"{kind}.ndjson": n for kind, n in found.items()} == {
        name: one["rows"] for name, one in files.items()
    }


def test_one_pseudonym_and_one_offset_of_each_person_in_every_resource(clinic, out, there):
    visits = [one for one in clinic.visits if one.person in there]
    assert len(there) > 100

    def written(kind, day):
        return Counter((x["subject"]["reference"], day(x)) for x in resources(out, kind))

    def expected(own, of=visits, times=1):
        pairs = [(f"Patient/{name_of(v.person)}", moved(v.person, own(v))) for v in of]
        return Counter(pairs * times)

    start, end = (lambda v: v.start), (lambda v: v.end)
    assert written("Encounter", lambda x: x["period"]["start"]) == expected(start)
    assert written("Encounter", lambda x: x["period"]["end"]) == expected(end)
    assert written("Condition", lambda x: x["onsetDateTime"]) == expected(start)
    assert written("Observation", lambda x: x["effectiveDateTime"]) == expected(start, times=2)
    drugs = [one for one in visits if one.diagnosis in RXNORM]
    assert written("MedicationRequest", lambda x: x["authoredOn"]) == expected(start, drugs)
    died = {name_of(x.number): moved(x.number, x.death) for x in clinic.people if x.death}
    for one in resources(out, "Patient"):
        assert one.get("deceasedDateTime") == died.get(one["id"])


def test_every_reference_resolves_and_links_one_persons_resources(out):
    whose = {f"Encounter/{x['id']}": x["subject"]["reference"] for x in resources(out, "Encounter")}
    people = {f"Patient/{x['id']}" for x in resources(out, "Patient")}
    linked = 0
    for one in resources(out):
        assert {*references_in(one)} <= {*whose, *people}
        for encounter in {*references_in(one)} & {*whose}:
            linked += whose[encounter] == one["subject"]["reference"]
    counts = Counter(x["resourceType"] for x in resources(out))
    assert linked == counts.total() - counts["Patient"] - counts["Encounter"]


def test_notes_are_the_released_texts_with_their_own_hash_and_size(out, fhir_release):
    released = pq.read_table(fhir_release.path / "notes.parquet")
    found = Counter()
    for one in resources(out, "DocumentReference"):
        [content] = one["content"]
        data = base64.b64decode(content["attachment"]["data"])
        assert content["attachment"]["size"] == len(data)
        sha1 = hashlib.sha1(data, usedforsecurity=False).digest()
        assert base64.b64decode(content["attachment"]["hash"]) == sha1
        found[one["subject"]["reference"].removeprefix("Patient/"), data.decode()] += 1
    assert found == Counter(
        zip(*(released[n].to_pylist() for n in ("person_id", "note")), strict=True)
    )


def test_a_patient_shows_what_the_released_row_shows(out, fhir_release):
    people = pq.read_table(fhir_release.path / "people.parquet")
    rows = {one["person_id"]: one for one in people.to_pylist()}
    assert {one["id"] for one in resources(out, "Patient")} == rows.keys()
    for one in resources(out, "Patient"):
        shown = {x["url"].rpartition(":")[2]: x.get("valueString") for x in one["extension"]}
        row = rows[one["id"]]
        assert {name: shown[name] for name in ("age", "sex", "race", "zip")} == {
            name: row[name] for name in ("age", "sex", "race", "zip")
        }
        assert one["gender"] == {"F": "female", "M": "male"}[row["sex"]]  # the text keeps it
        assert "birthDate" not in one


def test_nothing_that_identified_is_left_outside_the_notes(clinic, out, there):
    for one in resources(out):
        for content in one.get("content", ()):
            del content["attachment"]["data"]
        text = json.dumps(one)
        assert not {"meta", "contained", "text", "identifier", "name", "note"} & one.keys()
        for word in (
            "MRN-",
            "555-",
            "Main Street",
            "Balen",
            "visit of",
            "display",
            "P0000",
            "V0000",
        ):
            assert word not in text
        assert not any(f'"{x.family}' in text or f" {x.family}" in text for x in clinic.people)


# The carrier alone, without a kit or a table.


def shift(person, day):
    return day + timedelta(days=date_shift(SECRET, person, days=30))


def carried(folder, tmp_path, shown=lambda _: SHOWN, notes=None, **asked):
    carrier = Fhir(folder, AS_OF, **asked)
    (tmp_path / "in").mkdir(exist_ok=True)
    carrier.unpack(tmp_path / "in")
    n = len(list(tmp_path.glob("out*")))
    for name in (f"out{n}", f"scratch{n}"):
        (tmp_path / name).mkdir()
    released = Released(SECRET, shift, AS_OF, shown, notes or repeat("a text"))
    return carrier.pack(
        released, tmp_path / f"out{n}", tmp_path / f"scratch{n}"
    ), tmp_path / f"out{n}"


@pytest.fixture(scope="module")
def small():
    return make_clinic(3, 8)


FIRST = person_id(make_clinic(3, 8).people[0].number)


@pytest.fixture
def export(small, tmp_path):
    folder = tmp_path / "export"
    folder.mkdir()
    write_fhir(small, folder)
    return folder


def change(path, number, new):
    """Write a line of a file anew: with a function of its resource, or as text."""
    lines = path.read_text().splitlines()
    if callable(new):
        one = json.loads(lines[number])
        new(one)
        lines[number] = json.dumps(one)
    else:
        lines[number] = new
    path.write_text("\n".join(lines) + "\n")


def plant(found, canary):
    """Put a canary into every object as unlisted members, and each string that has a use."""
    if isinstance(found, list):
        for one in found:
            plant(one, canary)
        return
    if not isinstance(found, dict):
        return
    for one in found.values():
        plant(one, canary)
    found |= {
        "display": canary, "text": canary, "id2": canary, canary: canary, "comment": [canary],
        "extension": [*found.get("extension", ()), {"url": canary, "valueString": canary}],
        "identifier": {"system": canary, "value": canary}, "modifierExtension": [{"url": canary}],
        "contained": [{"resourceType": "Patient", "id": canary}], "meta": {"tag": [canary]},
    }  # fmt: skip


def test_a_canary_in_every_unlisted_place_reaches_nothing(export, tmp_path):
    for path in export.iterdir():
        every = [json.loads(line) for line in path.read_text().splitlines()]
        for one in every:
            plant(one, "cAnArY")
        path.write_text("".join(f"{json.dumps(one)}\n" for one in every))
    packed, out = carried(export, tmp_path)
    assert not any("canary" in path.read_text().lower() for path in out.iterdir())
    assert "canary" not in json.dumps([x.to_data() for x in packed.tallies.values()]).lower()
    for kind, tally in packed.tallies.items():
        assert tally.released == tally.read, kind


@pytest.mark.parametrize(
    ("kind", "spoil", "why"),
    [
        ("Observation", lambda x: x["code"]["coding"][0].update(code="Anna"), "code"),
        ("Observation", lambda x: x["code"]["coding"][0].update(system="urn:own"), "code"),
        ("Encounter", lambda x: x.update(status="Anna is in"), "status"),
        ("MedicationRequest", lambda x: x.update(intent="Anna"), "intent"),
        ("DocumentReference", lambda x: x.update(status="Anna"), "status"),
    ],
)
def test_what_cannot_be_released_and_is_needed_sets_its_resource_aside(
    export, tmp_path, kind, spoil, why
):
    change(export / f"{kind}.ndjson", 0, spoil)
    packed, out = carried(export, tmp_path)
    reason = f"nothing of {why} can be released, which it needs"
    assert packed.tallies[kind].set_aside == {reason: 1}
    assert "Anna" not in (out / f"{kind}.ndjson").read_text()
    for one in resources(out):
        get_fhir_model_class(one["resourceType"]).model_validate(one)


def test_codes_readings_and_days_of_wrong_form_are_dropped(export, tmp_path):
    def spoil(one):
        one["valueQuantity"] = {"value": 1, "unit": "kg", "system": "urn:x", "code": "{Anna}"}
        one["effectiveDateTime"] = "2013"
        one["interpretation"] = [{"text": "Anna"}]

    change(export / "Observation.ndjson", 0, spoil)
    packed, out = carried(export, tmp_path)
    [one] = [x for x in resources(out, "Observation") if "effectiveDateTime" not in x]
    assert one["valueQuantity"] == {"value": 1}
    assert "interpretation" not in one
    assert packed.tallies["Observation"].dropped["Observation.effectiveDateTime"] == 1


def test_a_person_without_a_released_row_is_in_no_file(small, export, tmp_path):
    absent = person_id(small.people[0].number)
    packed, out = carried(export, tmp_path, shown=lambda one: None if one == absent else SHOWN)
    name = pseudonym(SECRET, absent)
    assert not any(name in path.read_text() for path in out.iterdir())
    assert packed.tallies["Patient"].released == len(small.people) - 1


def test_merged_values_are_written_as_unknown_or_by_what_all_share(export, tmp_path):
    merged = {**SHOWN, "sex": Entry("any", "F", "M")}
    _, out = carried(export, tmp_path, shown=lambda _: merged)
    for one in resources(out, "Patient"):
        assert one["gender"] == "unknown"
        assert one["address"] == [{"postalCode": "002"}]
        assert not any("us-core" in x["url"] for x in one["extension"])


def test_ids_and_the_order_of_lines_are_drawn_anew_each_time(export, tmp_path):
    every = []
    for _ in range(2):
        _, out = carried(export, tmp_path)
        every.append({p.stem: [x["id"] for x in resources(out, p.stem)] for p in out.iterdir()})
    assert {*every[0]["Patient"]} == {*every[1]["Patient"]}  # the study's pseudonyms
    for kind in every[0].keys() - {"Patient"}:
        assert not {*every[0][kind]} & {*every[1][kind]}


@pytest.mark.parametrize(
    ("spoil", "error", "said"),
    [
        (
            lambda f: (f / "Practitioner.ndjson").write_text("{}\n"),
            RequestError,
            "Practitioner.ndjson: there is no rule for resources of type Practitioner; leave them "
            'out of the release: drop = ["Practitioner"] in [export]',
        ),
        (
            lambda f: change(f / "Condition.ndjson", 1, '{"secret": '),
            SourceError,
            "Condition.ndjson, line 2: is not valid JSON",
        ),
        (
            lambda f: change(f / "Condition.ndjson", 1, '{"id": 1, "id": 2}'),
            SourceError,
            "Condition.ndjson, line 2: is not valid JSON",
        ),
        (
            lambda f: change(
                f / "Condition.ndjson", 0, lambda x: x.update(subject={"reference": "Patient/X"})
            ),
            RequestError,
            "Condition.ndjson, line 1: refers to a patient that the export does not have",
        ),
        (
            lambda f: change(
                f / "Condition.ndjson", 0, lambda x: x["encounter"].update(reference="Encounter/X")
            ),
            RequestError,
            "Condition.ndjson, line 1: refers to an encounter that the export does not have",
        ),
        (
            lambda f: change(f / "DocumentReference.ndjson", 0, lambda x: x.pop("subject")),
            RequestError,
            "DocumentReference.ndjson, line 1: a note without a subject",
        ),
        (
            lambda f: change(f / "Patient.ndjson", 0, lambda x: x.update(birthDate="long ago")),
            SourceError,
            "Patient.ndjson, line 1: has a birthDate that is no date",
        ),
        (
            lambda f: change(f / "Patient.ndjson", 1, lambda x: x.update(id=FIRST)),
            SourceError,
            "Patient.ndjson, line 2: its id was there before",
        ),
        (
            lambda f: change(
                f / "Encounter.ndjson", 1, (f / "Encounter.ndjson").read_text().split("\n")[0]
            ),
            SourceError,
            "Encounter.ndjson, line 2: its id was there before",
        ),
        (
            lambda f: change(f / "Observation.ndjson", 0, lambda x: x.update(resourceType="Group")),
            SourceError,
            "Observation.ndjson, line 1: is no Observation",
        ),
        (
            lambda f: (f / "Patient.ndjson").unlink(),
            RequestError,
            "export: the export has no Patient",
        ),
    ],
)
def test_a_bad_export_is_refused_in_one_sentence(export, tmp_path, spoil, error, said):
    spoil(export)
    with pytest.raises(error) as caught:
        carried(export, tmp_path)
    assert str(caught.value).startswith(said)


def test_a_bad_export_leaves_the_old_release_and_no_table_of_it(fhir, fhir_release, tmp_path):
    study = Study.open(fhir / "study.toml")
    path = fhir / "export" / "Condition.ndjson"
    whole, before = path.read_bytes(), (fhir_release.path / "manifest.json").read_bytes()
    try:
        path.write_bytes(whole + b"{\n")
        with pytest.raises(SourceError):
            study.apply(force=True)
    finally:
        path.write_bytes(whole)
    assert (fhir_release.path / "manifest.json").read_bytes() == before
    assert not (fhir / ".study.kit.export").exists()


def test_what_a_killed_run_left_of_the_raw_tables_goes_with_the_next(fhir):
    left = fhir / ".study.kit.export" / "tables"
    left.mkdir(parents=True)
    (left / "notes.parquet").write_bytes(b"raw")
    plan = Study.open(fhir / "study.toml").plan
    with unpacked(plan):
        assert pq.read_table(left / "notes.parquet").num_rows > 0
        assert left.stat().st_mode & 0o777 == 0o700
        with pytest.raises(RequestError, match="another run has this export open"), unpacked(plan):
            pass
    assert not left.parent.exists()


def test_verify_holds_the_export_to_its_manifest(fhir, fhir_release):
    study = Study.open(fhir / "study.toml")
    assert not [one for one in study.verify() if one.holds is False]
    path = fhir_release.path / "export" / "Patient.ndjson"
    whole = path.read_bytes()
    try:
        path.write_bytes(whole.replace(b"female", b"male"))
        failed = [one.says for one in study.verify() if one.holds is False]
    finally:
        path.write_bytes(whole)
    assert failed == [
        "study.release/export/Patient.ndjson is as the seal has it",
        "export/Patient.ndjson: the bytes are those that the manifest names",
    ]


@pytest.mark.parametrize("dates", ["days", "weeks", "months"])
def test_days_of_an_export_move_as_those_of_all_parts(fhir, tmp_path, dates):
    text = (fhir / "study.toml").read_text().replace("seed = 1", f'seed = 1\ndates = "{dates}"')
    for name in ("study.toml", "study.key"):
        (tmp_path / name).write_text(text if name == "study.toml" else "k" * 64)
    (tmp_path / "study.key").chmod(0o600)
    move, day = mover(Plan.read(tmp_path / "study.toml")), date(2013, 5, 14)
    found = [move(person_id(n), day) for n in range(60)]
    assert dates != "weeks" or {one.weekday() for one in found} == {day.weekday()}
    assert dates != "months" or {one.day for one in found} == {1}
    assert dates != "days" or found == [shift(person_id(n), day) for n in range(60)]
    (tmp_path / "study.toml").write_text(text.replace("seed = 1", 'edge_dates = "drop"'))
    with pytest.raises(RequestError, match=r"study\.edge_dates: of an export they stay"):
        Plan.read(tmp_path / "study.toml")
