"""FHIR: what no reading can be is not stored as one, whoever wrote the file."""

from __future__ import annotations

import json
import re

import pytest
from tests.signals.fhir.made import COLUMNS, WEIGHTS, encoded, scheme

from voile.signals.fhir.files import FileSummary, decode
from voile.signals.model.codec.limits import ReadingLimits

LAST = 3  # a session's last value is one that no later message vouches for


def decoded(folder, invariants, columns=COLUMNS):
    """Decode what was sent; return the counts, its lines, and those set aside."""
    counts = decode(folder / "sent", folder / "again", scheme(invariants), columns)
    aside = (folder / "again.set-aside.jsonl").read_text().splitlines()
    return counts, (folder / "again").read_text().splitlines(), [json.loads(one) for one in aside]


def mixed(whole, sent, invariants):
    """Return a line set aside; what never changes is the first reading's, and decodes."""
    height, weight = (line.rpartition('{"code"') for line in (whole, sent))
    return "".join([*height[:2], weight[2]]) if invariants else sent


@pytest.mark.parametrize("invariants", [None, (), (0,)])
@pytest.mark.parametrize("value", ["1e12", "-1e12", "300.0"])
def test_a_forged_value_stays_encoded_and_every_other_decodes(tmp_path, invariants, value):
    sent = encoded(tmp_path, WEIGHTS, scheme(invariants)).splitlines()
    *before, number = re.finditer('"value": ([-0-9.e]+)', sent[LAST])
    assert before
    sent[LAST] = sent[LAST][: number.start(1)] + value + sent[LAST][number.end(1) :]
    (tmp_path / "sent").write_text("\n".join(sent))
    counts, again, (line,) = decoded(tmp_path, invariants)
    assert again[:LAST] == WEIGHTS.splitlines()[:LAST]
    assert again[LAST] == mixed(WEIGHTS.splitlines()[LAST], sent[LAST], invariants)
    values = 7 if invariants else 6
    assert counts == FileSummary(values, readings=3, subjects=1, others=0, set_aside=1)
    assert (line["place"], line["subject"], line["number"]) == ("sent, line 4", "Patient/1", 4)
    assert line["decoded"].keys() == {"height", "weight"}


@pytest.mark.parametrize("invariants", [None, (), (0,)])
def test_what_no_bound_or_word_of_a_column_holds_is_set_aside(tmp_path, invariants):
    sent = encoded(tmp_path, WEIGHTS, scheme(invariants)).splitlines()
    bounded = [ReadingLimits("height"), ReadingLimits("weight", bounds=(60, 60.1))]
    counts, again, aside = decoded(tmp_path, invariants, bounded)
    whole = WEIGHTS.splitlines()
    assert again[:2] == whole[:2]
    assert again[2:] == [
        mixed(*lines, invariants) for lines in zip(whole[2:], sent[2:], strict=True)
    ]
    assert counts.set_aside == 2
    assert [one["decoded"] for one in aside] == [
        {"height": 160.0, "weight": pytest.approx(weight)} for weight in (60.2, 60.3)
    ]


def test_nothing_is_set_aside_of_an_honest_file(tmp_path):
    encoded(tmp_path, WEIGHTS, scheme())
    assert decoded(tmp_path, ())[2] == []
