"""FHIR: files that come back to the byte, resources that stay valid, and what is refused."""

from __future__ import annotations

import json
import re
from decimal import Decimal

import numpy as np
import pytest
from fhir.resources.R4B.bundle import Bundle
from fhir.resources.R4B.observation import Observation
from tests.signals.days import days, fitted

from voile.errors import RequestError, SourceError
from voile.random import Protective
from voile.signals import PrivacyMap
from voile.signals.fhir import Counts, Field, Sequences, Singles, decode, encode, read_fields
from voile.signals.fhir.observations import URL

FIELDS = (Field("height", "8302-2", "cm"), Field("weight", "29463-7", "kg"))
COLUMNS = [field.column for field in FIELDS]
CLASSES = {"Patient/0": "calm", "Patient/1": "wild", "Patient/2": "wild"}
EVERY = pytest.mark.parametrize("invariants", [None, (), (0,)])


def class_of(subject):
    if subject not in CLASSES:
        raise RequestError("a subject has no class")
    return CLASSES[subject]


def way(invariants=()):
    """Sequences, or where there is None readings by themselves."""
    if invariants is None:
        map = PrivacyMap(method="normal", random_state=0).fit(*days(300, 1, 1)[:2])
        return Singles(map.codec_, "the map", class_of)
    return Sequences(fitted(*invariants).codec_, class_of)


def quantity(value, field):
    return (
        f'{{"value": {value},"unit":"{field.unit}", "system": "http://unitsofmeasure.org",'
        f'  "code":"{field.unit}"}}'
    )


def coded(field):
    """A code among others, of a local system and with another's number."""
    local = '{"system":"urn:local","code":"8302-2"}'
    return f'"code": {{"coding": [{local}, {{"system":"{field.system}","code":"{field.code}"}}]}}'


def observation(
    value,
    field,
    subject="0",
    time="2024-03-01",
    more="",
    start='{"device": {"display": "é\\u00e9"}, ',
):
    effective = f'"effectiveDateTime": "{time}",' if time else ""
    return (
        f'{start}"resourceType" : "Observation", "status":"final", {coded(field)},'
        f'"subject":{{"reference":"Patient/{subject}"}}, {effective}{more}'
        f' "valueQuantity" :{quantity(value, field)} , "method":{{"text":"a scale "}}}}'
    )


def panel(height, weight, subject="1", time="2024-03-02T08:00:00Z", code="85353-1"):
    """One Observation that holds a whole reading in its components."""
    parts = ",".join(
        f'{{{coded(field)}, "valueQuantity":{quantity(value, field)}}}'
        for field, value in zip(FIELDS, (height, weight), strict=True)
    )
    return (
        '{"resourceType":"Observation","status":"final","modifierExtension" : [ {"url":"urn:a",'
        f'"valueBoolean":true}} ],"code":{{"coding":[{{"system":"http://loinc.org","code":"{code}"'
        f'}}]}},"subject":{{"reference":"Patient/{subject}"}},"effectiveDateTime":"{time}",'
        f'"component" : [ {parts} ]}}'
    )


OTHER = '"modifierExtension" : [ {"url": "urn:a", "valueBoolean": true} ],'
LINES = [
    '{"resourceType":"Patient","id":"0", "active":true}',
    observation("170.0", FIELDS[0], time="2024-03-02"),
    observation("71.3", FIELDS[1], time="2024-03-02", start="{ "),
    "",
    panel("160.0", "60.2"),
    observation("70.0", FIELDS[1], time="2024-03", start="{\t"),
    observation("170.0", FIELDS[0], time="2024-03"),
    panel("160.0", "61.0", time="2024-03-01T23:30:00-09:00"),
    observation("170.0", FIELDS[0], time="2024-03-02"),
    observation("71.4", FIELDS[1], time="2024-03-02", more=OTHER),
    panel("181.5", "90.0", subject="2"),
]
NDJSON = "\r\n".join(LINES) + "\r\n"


def bundle(lines):
    entries = ",\n".join(f'    {{"resource": {line}}}' for line in lines if line)
    return (
        f'{{\n  "resourceType": "Bundle",\n  "type": "collection",\n  "entry": [\n{entries} ]\n}}\n'
    )


def there_and_back(folder, text, how, fields=FIELDS, **options):
    """Encode and decode; return the counts and what was sent."""
    folder.mkdir(exist_ok=True)
    source, sent, again = (folder / name for name in ("source", "sent", "again"))
    source.write_bytes(text.encode())
    counts = encode(source, sent, how, fields, **options)
    assert decode(sent, again, how, COLUMNS) == counts
    assert again.read_bytes() == source.read_bytes()
    return counts, sent.read_bytes().decode()


def observations(text):
    """All Observations of a file, as plain data with numbers as they are written."""
    try:
        documents = [json.loads(text, parse_float=Decimal)]
    except json.JSONDecodeError:
        lines = [line for line in text.splitlines() if line]
        documents = [json.loads(line, parse_float=Decimal) for line in lines]
    resources = [
        entry["resource"] for one in documents for entry in one.get("entry", [{"resource": one}])
    ]
    return [one for one in resources if one["resourceType"] == "Observation"]


def values(text):
    """Per value the element that has it."""
    return [
        element
        for one in observations(text)
        for element in (one, *one.get("component", []))
        if "valueQuantity" in element
    ]


def unmarked(element):
    """The same, without its number and what marks it."""
    data = json.loads(json.dumps(element, default=str))
    data["valueQuantity"].pop("value")
    others = [one for one in data.pop("modifierExtension", []) if one["url"] != URL]
    return {**data, "modifierExtension": others}


@EVERY
@pytest.mark.parametrize("text", [NDJSON, bundle(LINES), bundle(LINES[1:2] + LINES[2:3])])
def test_a_file_comes_back_to_the_byte_and_only_values_and_marks_are_other(
    tmp_path, invariants, text
):
    counts, sent = there_and_back(tmp_path, text, way(invariants))
    before, after = values(text), values(sent)
    assert counts.values == len(before) == len(after)
    for old, new in zip(before, after, strict=True):
        assert unmarked(old) == unmarked(new)
        assert old["valueQuantity"]["value"] != new["valueQuantity"]["value"]
        (mark,) = [one for one in new["modifierExtension"] if one["url"] == URL]
        said = {part["url"]: part for part in mark["extension"]}
        assert said["map"]["valueString"] == way(invariants).mark
        assert said["field"]["valueString"] in COLUMNS
        assert said["number"]["valueUnsignedInt"] >= 1


@EVERY
def test_what_is_not_exchanged_keeps_every_byte(tmp_path, invariants):
    """Marks and numbers cut out by another way than the code's leave the source's own bytes."""
    _, sent = there_and_back(tmp_path, NDJSON, way(invariants))
    mark = rf'\{{"url":"{URL}","extension":\[(?:\{{[^{{}}]*\}},?)*\]\}}'
    sent = re.sub(rf'"modifierExtension":\[{mark}\],', "", sent)
    sent = re.sub(rf",{mark}", "", sent)
    number = re.compile(r'"value": -?[\d.e-]+')
    assert number.sub("", sent) == number.sub("", NDJSON)


@EVERY
def test_it_stays_valid_fhir(tmp_path, invariants):
    _, sent = there_and_back(tmp_path / "lines", NDJSON, way(invariants))
    for line in sent.splitlines():
        if '"Observation"' in line:
            Observation.model_validate_json(line)
    _, sent = there_and_back(tmp_path / "bundle", bundle(LINES), way(invariants))
    Bundle.model_validate_json(sent)


def test_what_is_sent_is_what_a_session_sends_in_order_of_time(tmp_path):
    """The naive twin: readings by hand in order of time, through a session of one's own."""
    sent = there_and_back(tmp_path, NDJSON, way())[1]
    numbers = {}
    for element, line in zip(values(sent), values(NDJSON), strict=True):
        held = {part["url"]: part for part in element["modifierExtension"][-1]["extension"]}
        reading = str(line["valueQuantity"]["value"]), held["field"]["valueString"]
        session = held["session"]["valueString"][-1]
        numbers.setdefault((session, held["number"]["valueUnsignedInt"]), []).append(reading)
    assert {key: sorted(readings) for key, readings in numbers.items()} == {
        ("1", 1): [("170.0", "height"), ("70.0", "weight")],
        ("1", 2): [("170.0", "height"), ("71.3", "weight")],
        ("1", 3): [("170.0", "height"), ("71.4", "weight")],
        ("2", 1): [("160.0", "height"), ("60.2", "weight")],
        ("2", 2): [("160.0", "height"), ("61.0", "weight")],
        ("3", 1): [("181.5", "height"), ("90.0", "weight")],
    }


def test_sent_numbers_have_full_precision(tmp_path):
    """What a single map sends of known dither is in the file to the last bit."""
    map = PrivacyMap(method="normal", random_state=0).fit(*days(300, 1, 1)[:2])
    how = Singles(map.codec_, "m", class_of, protective=Protective.for_tests(1))
    (tmp_path / "source").write_text(LINES[4])
    encode(tmp_path / "source", tmp_path / "sent", how, FIELDS)
    (whole,) = observations((tmp_path / "sent").read_text())
    sent = [float(part["valueQuantity"]["value"]) for part in whole["component"]]
    twin = map.codec_.encode([[160.0, 60.2]], "wild", protective=Protective.for_tests(1))
    assert sent == twin[0].tolist()


def test_an_invariant_may_stand_anywhere_and_is_sent_the_same_each_time(tmp_path):
    height = [observation("170.0", FIELDS[0], time="2023"), LINES[1], LINES[8]]
    weights = [observation(f"7{t}.5", FIELDS[1], time=f"2024-03-0{t}") for t in range(1, 6)]
    counts, sent = there_and_back(tmp_path, "\n".join(weights + height), way((0,)))
    assert counts == Counts(values=8, readings=5, subjects=1, others=0)
    assert len({one["valueQuantity"]["value"] for one in values(sent)[5:]}) == 1
    changed = observation("170.1", FIELDS[0], time="2025")
    with pytest.raises(RequestError, match="source, line 2: an invariant has changed"):
        there_and_back(tmp_path / "b", f"{LINES[1]}\n{changed}", way((0,)))
    with pytest.raises(RequestError, match="that never change, and no others"):
        there_and_back(tmp_path / "c", f"{LINES[1]}\n{LINES[4]}", way((0,)))


@pytest.mark.parametrize(
    ("numbers", "decimals"),
    [(("170.0", "71.0"), None), (("170", "71.5"), "shortest"), (("170.00", "71.50"), 2)],
)
def test_numbers_come_back_as_they_were_written(tmp_path, numbers, decimals):
    fields = [Field(f.column, f.code, f.unit, decimals=decimals) for f in FIELDS]
    there_and_back(tmp_path, panel(*numbers), way(), fields)


@pytest.mark.parametrize("number", ["71", "71.50", "7.15e1", "71.500000000000001"])
def test_a_number_written_otherwise_is_refused(tmp_path, number):
    with pytest.raises(RequestError, match="line 1: weight is not written with decimals: 1"):
        there_and_back(tmp_path, panel("170.0", number) + "\n", way())


def changed(old, new):
    text = panel("170.0", "71.5")
    assert old in text
    return text.replace(old, new, 1)


KG = '"unit":"kg", "system": "http://unitsofmeasure.org",  "code":"kg"'


@pytest.mark.parametrize(
    ("text", "message"),
    [
        (changed(KG, KG.replace("kg", "[lb_av]")), r"unit is \[lb_av\], and kg of UCUM is exp"),
        (changed(KG, '"unit":"lbs"'), "the unit is lbs, and kg of UCUM is expected"),
        (changed(KG, '"unit":""'), "the unit is none, and kg"),
        (changed(KG, '"unit":"a reading of 71.5 kg"'), "the unit is none, and kg"),
        (changed(KG, KG.replace("unitsofmeasure", "snomed")), "and kg of UCUM is expected"),
        (changed(f"71.5,{KG}", "71.5"), "the unit is none, and kg"),
        (changed("71.5,", '71.5,"comparator":"<",'), "a bound, no reading"),
        (changed('"value": 71.5', '"value": "71.5"'), "has no number"),
        (changed('"value": 71.5', '"value": true'), "has no number"),
        (changed('"value": 71.5,', ""), "has no number"),
        (changed("71.5", "71.55"), "a reading contradicts the resolution 0.1"),
        (changed("71.5", "1e999"), "a reading is missing or infinite"),
        (changed("Patient/1", "Patient/9"), "a subject has no class"),
        (changed('"reference"', '"display"'), "names no subject"),
        (changed("2024-03-02T08", "yesterday"), "no dateTime of FHIR"),
        (changed('"code":"29463-7"', '"code":"3141-9"'), "a value has a code of no field"),
        (changed('"code":"8302-2"}, {', '"code":"1"}, {"system":"http://loinc.org",'
                 '"code":"29463-7"}, {'), "the codes are those of two fields"),
        (changed('"component"', '"note":[{"text":"is 71.50 kg"}],"component"'), "in the note as"),
        (changed('"component"', '"text":{"div":"<b>71,5</b>"},"component"'), "in the text as"),
        (observation("71.5", FIELDS[1]), "a reading lacks height"),
        (observation("71.5", FIELDS[1], time=""), "a reading lacks height"),
        (LINES[0], "no value has a code of a field"),
    ],
)  # fmt: skip
def test_what_cannot_be_encoded_is_refused_in_a_sentence_without_the_value(tmp_path, text, message):
    with pytest.raises(RequestError, match=message) as caught:
        there_and_back(tmp_path, text + "\n", way())
    assert caught.value.exit_code == 2
    assert "71.5" not in str(caught.value)
    assert not (tmp_path / "sent").exists()


@pytest.mark.parametrize(
    "text", ['{"resourceType":', "[]", '{"a":1,"a":2}', '{"a":NaN}', "", "﻿{}", "{} {}", "[" * 9999]
)
def test_what_is_no_fhir_is_refused(tmp_path, text):
    with pytest.raises(RequestError):
        there_and_back(tmp_path, text, way())
    with pytest.raises(SourceError, match="line 2: is no FHIR in JSON"):
        there_and_back(tmp_path / "b", f"{LINES[4]}\n{text or '{'}\n", way())


def test_a_file_that_is_no_utf_8_or_is_not_there_is_refused(tmp_path):
    (tmp_path / "source").write_bytes(b'{"a":"\xff"}\n')
    with pytest.raises(SourceError, match="not UTF-8"):
        encode(tmp_path / "source", tmp_path / "out", way(), FIELDS)
    with pytest.raises(SourceError, match="cannot be read"):
        encode(tmp_path / "absent", tmp_path / "out", way(), FIELDS)
    with pytest.raises(RequestError, match="1 fields of 2 columns"):
        encode(tmp_path / "absent", tmp_path / "out", way(), FIELDS[:1])


def test_values_of_other_codes_are_kept_where_asked_and_contained_ones_are_found(tmp_path):
    report = f'{{"resourceType":"DiagnosticReport","contained":[{LINES[4]}]}}'
    text = f"{report}\n{changed('29463-7', '3141-9').replace('8302-2', '1')}\n"
    counts, sent = there_and_back(tmp_path, text, way(), others="keep")
    assert counts == Counts(values=2, readings=1, subjects=1, others=2)
    assert sent.splitlines()[1] == text.splitlines()[1]


def encoded(folder, text, how):
    (folder / "source").write_text(text)
    encode(folder / "source", folder / "sent", how, FIELDS)
    return (folder / "sent").read_text()


WEIGHTS = "\n".join(panel("160.0", f"60.{t}", time=f"2024-03-02T0{t}:00:00Z") for t in range(4))


@pytest.mark.parametrize(
    ("spoil", "message"),
    [
        (lambda lines: lines[:1] + lines[2:], "missing or changed"),
        (lambda lines: [*lines, lines[1]], "line 5: two values are of one reading"),
        (lambda lines: [re.sub('"map","valueString":"', r"\g<0>x", lines[0])], "of another map"),
        (lambda lines: [re.sub('"field","valueString":"', r"\g<0>x", lines[0])], "is damaged"),
        (lambda lines: [re.sub('"decimals","valueUnsignedInt":', r"\g<0>9", lines[0])], "damaged"),
        (lambda lines: [re.sub('"value": -?[0-9.]+', '"value": 0.5', lines[0]), *lines[1:]],
         "missing or changed"),
        (lambda lines: [lines[0], *(line.replace("Patient/1", "Patient/7") for line in lines[1:])],
         "line 2: .*has no class"),
    ],
)  # fmt: skip
def test_what_cannot_be_decoded_for_certain_is_refused(tmp_path, spoil, message):
    lines = encoded(tmp_path, WEIGHTS, way()).splitlines()
    (tmp_path / "sent").write_text("\n".join(spoil(lines)))
    with pytest.raises(RequestError, match=message):
        decode(tmp_path / "sent", tmp_path / "again", way(), COLUMNS)
    assert not (tmp_path / "again").exists()


def test_what_is_encoded_is_not_encoded_again_and_another_map_decodes_nothing(tmp_path):
    encoded(tmp_path, WEIGHTS, way())
    with pytest.raises(RequestError, match="encoded already"):
        encode(tmp_path / "sent", tmp_path / "twice", way(), FIELDS)
    with pytest.raises(RequestError, match="of another map"):
        decode(tmp_path / "sent", tmp_path / "again", way((0,)), COLUMNS)
    with pytest.raises(RequestError, match="is there already"):
        encode(tmp_path / "source", tmp_path / "sent", way(), FIELDS)


def test_a_server_that_writes_it_anew_changes_no_value(tmp_path):
    """Members in another order, other blanks: the readings are the same."""
    sent = encoded(tmp_path, WEIGHTS, way())
    lines = [json.dumps(json.loads(line), sort_keys=True) for line in reversed(sent.splitlines())]
    (tmp_path / "sent").write_text("\n".join(lines))
    decode(tmp_path / "sent", tmp_path / "again", way(), COLUMNS)
    again = [json.loads(line) for line in (tmp_path / "again").read_text().splitlines()]
    assert again == [json.loads(line) for line in reversed(WEIGHTS.splitlines())]


def test_bulk(tmp_path):
    """Many subjects' readings as a server exports them, weight and height apart."""
    X, c, whose = days(40, 10, 5)
    lines = []
    for row in np.random.default_rng(0).permutation(len(X)):
        own = {"subject": str(whose[row]), "time": f"2024-03-{row % 10 + 1:02}"}
        lines += [observation(x, field, **own) for x, field in zip(X[row], FIELDS, strict=True)]
    known = {f"Patient/{one}": str(c[whose == one][0]) for one in range(40)}
    how = Sequences(fitted(0).codec_, known.__getitem__)
    counts, _ = there_and_back(tmp_path, "\n".join(lines), how)
    assert counts == Counts(values=800, readings=400, subjects=40, others=0)


def test_fields_are_read_from_a_file(tmp_path):
    path = tmp_path / "fields.toml"
    path.write_text(
        '[weight]\ncode = "29463-7"\nunit = "kg"\n[height]\ncode = "8302-2"\nunit = "cm"\n'
    )
    assert read_fields(path, COLUMNS) == FIELDS
    for text, message in (
        ("", "column height has no code and unit"),
        ('[height]\ncode = "1"\n', "column height has no code and unit"),
        ('[heigth]\ncode = "1"\nunit = "cm"\n', "no column heigth; did you mean height"),
        ('[height]\ncode = 1\nunit = "cm"\n', "wrong type"),
        ('[height]\ncode = "1"\nunit = "cm"\ndecimals = 1.5\n', "wrong type"),
        ('[height]\ncode = "1"\nunit = "cm"\ndecimals = 99\n', "neither a number of places"),
        ("[height", "no TOML"),
    ):
        path.write_text(text)
        with pytest.raises(RequestError, match=message):
            read_fields(path, COLUMNS)
    with pytest.raises(RequestError, match="cannot be read"):
        read_fields(tmp_path / "absent", COLUMNS)
