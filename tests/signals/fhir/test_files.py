"""FHIR: files that come back to the byte, and resources that stay valid."""

from __future__ import annotations

import json
import re
from decimal import Decimal
from functools import cache

import numpy as np
import pytest
from fhir.resources.R4B.bundle import Bundle
from fhir.resources.R4B.observation import Observation
from tests.signals.days import days, fitted
from tests.signals.fhir.made import (
    COLUMNS,
    FIELDS,
    LINES,
    NAMES,
    WEIGHTS,
    changed,
    class_of,
    encoded,
    observation,
    panel,
    scheme,
    there_and_back,
)

from voile.core.errors import RequestError
from voile.data.fhir.marks import URL
from voile.data.fhir.reading_fields import ReadingField
from voile.keys.secret import Secret
from voile.signals import PrivacyMap, SequenceMap
from voile.signals.fhir.files import FileSummary, decode, encode
from voile.signals.fhir.schemes import SequenceScheme, SingleScheme
from voile.signals.fitting.methods.layers import LayerChain
from voile.signals.model.codec.lattice import RowDraws

EVERY = pytest.mark.parametrize("invariants", [None, (), (0,)])
NDJSON = "\r\n".join(LINES) + "\r\n"


def bundle(lines):
    entries = ",\n".join(f'    {{"resource": {line}}}' for line in lines if line)
    return (
        f'{{\n  "resourceType": "Bundle",\n  "type": "collection",\n  "entry": [\n{entries} ]\n}}\n'
    )


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


@cache
def timed():
    X, c, whose = days(300, 8, 1)
    quick = LayerChain(degree=3, spread=1)
    map = SequenceMap((0,), settings=quick, random_state=0)
    codec = map.fit(X, c, whose, np.tile(np.arange(19_000, 19_008), 300)).codec_
    return SequenceScheme(codec, class_of, unit=86_400)


def test_sessions_take_the_times_of_observations(tmp_path):
    """Days since 1970; where one is the day before's, or has none, a day after the one before."""
    moments = ("2024-03-02", "2024-03-02T23:30:00-09:00", "2024-03-02T08:00:00Z", "2024-04-01")
    lines = [panel("160.0", f"60.{t}", time=one) for t, one in enumerate(moments)]
    _, sent = there_and_back(tmp_path, "\n".join(lines), timed())
    marks = [dict(own(one)) for one in values(sent)]
    found = [mark["time"] for mark in marks if mark["field"] == "weight"]
    assert found == ["19784", "19786", "19785", "19814"]
    assert re.findall(r'"effectiveDateTime":"([^"]*)"', sent) == list(moments)


def test_a_session_decodes_under_its_own_times_alone(tmp_path):
    lines = [panel("160.0", f"60.{t}", time=f"2024-03-0{1 + t}") for t in range(3)]
    text = encoded(tmp_path, "\n".join(lines), timed())
    held = '{"url":"time","valueString":"19784"}'
    assert text.count(held) == 1
    others = [held.replace("19784", other) for other in ("19785", "19783", "x", "9" * 16)]
    for other in (*others, ""):
        (tmp_path / "sent").write_text(text.replace("," + held, other and "," + other))
        with pytest.raises(RequestError, match=r"stands on|damaged"):
            decode(tmp_path / "sent", tmp_path / "again", timed(), COLUMNS)


def own(element):
    """What the mark of an encoded value says."""
    (mark,) = (one for one in element["modifierExtension"] if one["url"] == URL)
    return [
        (one["url"], next(held for name, held in one.items() if name != "url"))
        for one in mark["extension"]
    ]


@EVERY
@pytest.mark.parametrize("text", [NDJSON, bundle(LINES), bundle(LINES[1:2] + LINES[2:3])])
def test_a_file_comes_back_to_the_byte_and_only_values_and_marks_are_other(
    tmp_path, invariants, text
):
    counts, sent = there_and_back(tmp_path, text, scheme(invariants))
    before, after = values(text), values(sent)
    assert counts.values == len(before) == len(after)
    for old, new in zip(before, after, strict=True):
        assert unmarked(old) == unmarked(new)
        assert old["valueQuantity"]["value"] != new["valueQuantity"]["value"]
        (mark,) = [one for one in new["modifierExtension"] if one["url"] == URL]
        said = {part["url"]: part for part in mark["extension"]}
        assert said["map"]["valueString"] == scheme(invariants).mark
        assert said["field"]["valueString"] in NAMES
        assert said["number"]["valueUnsignedInt"] >= 1


@EVERY
def test_what_is_not_exchanged_keeps_every_byte(tmp_path, invariants):
    """Marks and numbers cut out by another way than the code's leave the source's own bytes."""
    _, sent = there_and_back(tmp_path, NDJSON, scheme(invariants))
    mark = rf'\{{"url":"{URL}","extension":\[(?:\{{[^{{}}]*\}},?)*\]\}}'
    sent = re.sub(rf'"modifierExtension":\[{mark}\],', "", sent)
    sent = re.sub(rf",{mark}", "", sent)
    number = re.compile(r'"value": -?[\d.e-]+')
    assert number.sub("", sent) == number.sub("", NDJSON)


@EVERY
def test_it_stays_valid_fhir(tmp_path, invariants):
    _, sent = there_and_back(tmp_path / "lines", NDJSON, scheme(invariants))
    for line in sent.splitlines():
        if '"Observation"' in line:
            Observation.model_validate_json(line)
    _, sent = there_and_back(tmp_path / "bundle", bundle(LINES), scheme(invariants))
    Bundle.model_validate_json(sent)


def test_what_is_sent_is_what_a_session_sends_in_order_of_time(tmp_path):
    """The naive twin: readings by hand in order of time, through a session of one's own."""
    sent = there_and_back(tmp_path, NDJSON, scheme())[1]
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
    codec = map.codec_
    secret = Secret(b"a secret that nobody knows")
    how = SingleScheme(codec, codec, "m", class_of, secret=secret)
    (tmp_path / "source").write_text(LINES[4])
    encode(tmp_path / "source", tmp_path / "sent", how, FIELDS)
    (whole,) = observations((tmp_path / "sent").read_text())
    sent = [float(part["valueQuantity"]["value"]) for part in whole["component"]]
    row = (whole["subject"]["reference"], 1, "wild", [160.0, 60.2])
    draws = RowDraws.from_key(secret.derive("protective", "dither m"), [row])
    assert sent == codec.encode([[160.0, 60.2]], "wild", protective=draws)[0].tolist()


def test_a_secret_gives_a_file_the_same_values_again(tmp_path):
    """A file that grows by a reading keeps those before; without a secret all are drawn afresh."""
    lines = [observation(f"7{t}.5", FIELDS[1], time=f"2024-03-0{t}") for t in range(1, 6)]
    height = [observation("170.0", FIELDS[0], time=f"2024-03-0{t}") for t in range(1, 6)]

    def sent(name, days, secret):
        how = SequenceScheme(fitted().codec_, class_of, secret=secret)
        (tmp_path / name).write_text("\n".join(lines[:days] + height[:days]))
        encode(tmp_path / name, tmp_path / f"{name}.sent", how, FIELDS)
        return [
            one["valueQuantity"]["value"] for one in values((tmp_path / f"{name}.sent").read_text())
        ]

    secret = Secret(b"a secret that nobody knows")
    one, longer = sent("one", 4, secret), sent("longer", 5, secret)
    assert one == longer[:4] + longer[5:9]
    assert not set(one) & set(sent("other", 4, Secret(b"a secret of somebody else")))
    assert not set(one) & set(sent("fresh", 4, None))


def test_an_invariant_may_stand_anywhere_and_is_sent_the_same_each_time(tmp_path):
    height = [observation("170.0", FIELDS[0], time="2023"), LINES[1], LINES[8]]
    weights = [observation(f"7{t}.5", FIELDS[1], time=f"2024-03-0{t}") for t in range(1, 6)]
    counts, sent = there_and_back(tmp_path, "\n".join(weights + height), scheme((0,)))
    assert counts == FileSummary(values=8, readings=5, subjects=1, others=0)
    assert len({one["valueQuantity"]["value"] for one in values(sent)[5:]}) == 1
    changed = observation("170.1", FIELDS[0], time="2025")
    with pytest.raises(RequestError, match="source, line 2: an invariant has changed"):
        there_and_back(tmp_path / "b", f"{LINES[1]}\n{changed}", scheme((0,)))
    with pytest.raises(RequestError, match="that never change, and no others"):
        there_and_back(tmp_path / "c", f"{LINES[1]}\n{LINES[4]}", scheme((0,)))


@pytest.mark.parametrize(
    ("numbers", "decimals"),
    [(("170.0", "71.0"), None), (("170", "71.5"), "shortest"), (("170.00", "71.50"), 2)],
)
def test_numbers_come_back_as_they_were_written(tmp_path, numbers, decimals):
    fields = [ReadingField(f.column, f.code, f.unit, decimals=decimals) for f in FIELDS]
    there_and_back(tmp_path, panel(*numbers), scheme(), fields)


def test_values_of_other_codes_are_kept_where_asked_and_contained_ones_are_found(tmp_path):
    report = f'{{"resourceType":"DiagnosticReport","contained":[{LINES[4]}]}}'
    text = f"{report}\n{changed('29463-7', '3141-9').replace('8302-2', '1')}\n"
    counts, sent = there_and_back(tmp_path, text, scheme(), others="keep")
    assert counts == FileSummary(values=2, readings=1, subjects=1, others=2)
    assert sent.splitlines()[1] == text.splitlines()[1]


def test_a_server_that_writes_it_anew_changes_no_value(tmp_path):
    """Members in another order, other blanks: the readings are the same."""
    sent = encoded(tmp_path, WEIGHTS, scheme())
    lines = [json.dumps(json.loads(line), sort_keys=True) for line in reversed(sent.splitlines())]
    (tmp_path / "sent").write_text("\n".join(lines))
    decode(tmp_path / "sent", tmp_path / "again", scheme(), COLUMNS)
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
    how = SequenceScheme(fitted(0).codec_, known.__getitem__)
    counts, _ = there_and_back(tmp_path, "\n".join(lines), how)
    assert counts == FileSummary(values=800, readings=400, subjects=40, others=0)


@pytest.mark.parametrize("number", ["6.02E+1", "60.20", "6020e-2"])
def test_a_number_in_another_form_is_refused_or_decoded_in_the_fields(tmp_path, number):
    text = WEIGHTS + "\n" + panel("160.0", number, time="2024-03-03T01:00:00Z")
    source, sent, again = (tmp_path / name for name in ("source", "sent", "again"))
    source.write_text(text)
    how = scheme(None)
    with pytest.raises(RequestError, match=r"line 5: weight is not written .*--canonical-numbers"):
        encode(source, sent, how, FIELDS)
    encode(source, sent, how, FIELDS, canonical=True)
    decode(sent, again, how, COLUMNS)
    assert again.read_text() == text.replace(number, "60.2")
