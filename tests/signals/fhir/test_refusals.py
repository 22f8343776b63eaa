"""FHIR: what is refused, in a sentence, with nothing written."""

from __future__ import annotations

import re

import pytest
from tests.signals.fhir.made import (
    COLUMNS,
    FIELDS,
    LINES,
    WEIGHTS,
    changed,
    encoded,
    observation,
    panel,
    scheme,
    there_and_back,
)

from voile.core.errors import RequestError, SourceError
from voile.signals.fhir.files import decode, encode


@pytest.mark.parametrize("number", ["71", "71.50", "7.15e1", "71.500000000000001"])
def test_a_number_written_otherwise_is_refused(tmp_path, number):
    with pytest.raises(RequestError, match="line 1: weight is not written with decimals: 1"):
        there_and_back(tmp_path, panel("170.0", number) + "\n", scheme())


KG = '"unit":"kg", "system": "http://unitsofmeasure.org",  "code":"kg"'


@pytest.mark.parametrize(
    ("text", "message"),
    [
        (changed(KG, KG.replace("kg", "[lb_av]")), r"unit is \[lb_av\], but the map requires"),
        (changed(KG, '"unit":"lbs"'), "the unit is lbs, but the map requires the UCUM unit kg"),
        (changed(KG, '"unit":""'), "the unit is none, but the map requires"),
        (changed(KG, '"unit":"a reading of 71.5 kg"'), "the unit is none, but the map requires"),
        (changed(KG, KG.replace("unitsofmeasure", "snomed")), "the map requires the UCUM unit kg"),
        (changed(f"71.5,{KG}", "71.5"), "the unit is none, but the map requires"),
        (changed("71.5,", '71.5,"comparator":"<",'), "the Quantity gives a bound"),
        (changed('"value": 71.5', '"value": "71.5"'), "has no number"),
        (changed('"value": 71.5', '"value": true'), "has no number"),
        (changed('"value": 71.5,', ""), "has no number"),
        (changed(f'{{"value": 71.5,{KG}}}', "71.5"), "has no number"),
        (changed("71.5", "71.55"), "a reading contradicts the resolution 0.1"),
        (changed("71.5", "1e999"), "a reading is missing or infinite"),
        (changed("Patient/1", "Patient/9"), "a subject has no class"),
        (changed('"reference"', '"display"'), "names no subject"),
        (changed("2024-03-02T08", "yesterday"), "the time is not a FHIR dateTime"),
        (changed('"code":"29463-7"', '"code":"3141-9"'), "a value has a code of no field"),
        (changed('"code":"8302-2"}, {', '"code":"1"}, {"system":"http://loinc.org",'
                 '"code":"29463-7"}, {'), "the observation's codes match two columns of the map"),
        (changed('"component"', '"note":[{"text":"is 71.50 kg"}],"component"'), "note repeats"),
        (changed('"component"', '"text":{"div":"<b>71,5</b>"},"component"'), "text repeats"),
        (observation("71.5", FIELDS[1]), "a reading lacks height"),
        (observation("71.5", FIELDS[1], time=""), "a reading lacks height"),
        (LINES[0], "no value has a code of a field"),
    ],
)  # fmt: skip
def test_what_cannot_be_encoded_is_refused_in_a_sentence_without_the_value(tmp_path, text, message):
    with pytest.raises(RequestError, match=message) as caught:
        there_and_back(tmp_path, text + "\n", scheme())
    assert caught.value.exit_code == 2
    assert "71.5" not in str(caught.value)
    assert not (tmp_path / "sent").exists()


@pytest.mark.parametrize(
    "text", ['{"resourceType":', "[]", '{"a":1,"a":2}', '{"a":NaN}', "", "﻿{}", "{} {}", "[" * 9999]
)
def test_what_is_no_fhir_is_refused(tmp_path, text):
    with pytest.raises(RequestError):
        there_and_back(tmp_path, text, scheme())
    with pytest.raises(SourceError, match="line 2: the file is not FHIR in JSON"):
        there_and_back(tmp_path / "b", f"{LINES[4]}\n{text or '{'}\n", scheme())


def test_a_file_that_is_no_utf_8_or_is_not_there_is_refused(tmp_path):
    (tmp_path / "source").write_bytes(b'{"a":"\xff"}\n')
    with pytest.raises(SourceError, match="not UTF-8"):
        encode(tmp_path / "source", tmp_path / "out", scheme(), FIELDS)
    with pytest.raises(SourceError, match="cannot be read"):
        encode(tmp_path / "absent", tmp_path / "out", scheme(), FIELDS)
    with pytest.raises(RequestError, match="1 fields of 2 columns"):
        encode(tmp_path / "absent", tmp_path / "out", scheme(), FIELDS[:1])


@pytest.mark.parametrize(
    ("spoil", "message"),
    [
        (lambda lines: lines[:1] + lines[2:], "missing or changed"),
        (lambda lines: [*lines, lines[1]], "line 5: two values are of one reading"),
        (lambda lines: [re.sub('"map","valueString":"', r"\g<0>x", lines[0])], "of another map"),
        (lambda lines: [re.sub('"field","valueString":"', r"\g<0>x", lines[0])], "is damaged"),
        (lambda lines: [re.sub('"value":[^,]*', f'"value":1{"0" * 400}', lines[0])], "is damaged"),
        (lambda lines: [re.sub('"value":[^,]*', '"value":1e999', lines[0])], "is damaged"),
        (lambda lines: [re.sub('"decimals","valueUnsignedInt":', r"\g<0>9", lines[0])], "damaged"),
        (lambda lines: [re.sub(r'"extension":\[', r"\g<0>7,", lines[0])], "line 1: the file is"),
        (lambda lines: [re.sub('"value": -?[0-9.]+', '"value": 0.5', lines[0]), *lines[1:]],
         "missing or changed"),
        (lambda lines: [lines[0], *(line.replace("Patient/1", "Patient/7") for line in lines[1:])],
         "line 2: .*has no class"),
    ],
)  # fmt: skip
def test_what_cannot_be_decoded_for_certain_is_refused(tmp_path, spoil, message):
    lines = encoded(tmp_path, WEIGHTS, scheme()).splitlines()
    (tmp_path / "sent").write_text("\n".join(spoil(lines)))
    with pytest.raises(RequestError, match=message):
        decode(tmp_path / "sent", tmp_path / "again", scheme(), COLUMNS)
    assert not (tmp_path / "again").exists()


def test_what_is_encoded_is_not_encoded_again_and_another_map_decodes_nothing(tmp_path):
    encoded(tmp_path, WEIGHTS, scheme())
    with pytest.raises(RequestError, match="encoded already"):
        encode(tmp_path / "sent", tmp_path / "twice", scheme(), FIELDS)
    with pytest.raises(RequestError, match="of another map"):
        decode(tmp_path / "sent", tmp_path / "again", scheme((0,)), COLUMNS)
    with pytest.raises(RequestError, match="exists"):
        encode(tmp_path / "source", tmp_path / "sent", scheme(), FIELDS)
