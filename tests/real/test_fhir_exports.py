"""Real exports are released whole: valid, linked, accounted for, and without what identifies."""

from __future__ import annotations

import gzip
import json
import re
from collections import Counter
from datetime import date
from itertools import repeat

import pytest
from fhir.resources.R4B import get_fhir_model_class
from tests.study.carriers.exported import resources, shift
from tests.study.carriers.test_fhir_carrier import SHOWN
from tests.study.made import SECRET

from voile.data.fhir.fields import find_references
from voile.study import Study
from voile.study.carriers import FhirCarrier
from voile.study.carriers.carrier import ReleasedStudy
from voile.study.verbs.init import init

EXPORTS = ("synthea-bulk-10", "fhir-r4-bundles")
SHARED = {"Location", "Organization", "Practitioner", "PractitionerRole"}


def read_raw(folder):
    """Yield every resource of an export, with nothing of voile's."""
    for path in sorted(folder.glob("*.gz")):
        text = gzip.decompress(path.read_bytes()).decode()
        try:
            yield from (entry["resource"] for entry in json.loads(text)["entry"])
        except json.JSONDecodeError:
            every = map(json.loads, text.splitlines())
            yield from (one for one in every if "resourceType" in one)


def list_identifiers(folder):
    """Return the ids, names, numbers, telephones and addresses of an export."""
    found = set()
    for one in read_raw(folder):
        found.add(one["id"])
        if one["resourceType"] != "Patient":
            continue
        found |= {x["value"] for x in (*one["identifier"], *one["telecom"])}
        for name in one["name"]:
            found |= {name["family"], *name["given"]}
        for address in one["address"]:
            found |= {*address["line"], address["city"]}
    return {x for x in found if len(x) > 3}


def find_in(values, text):
    """Return the values that stand in a text as whole words."""
    words = set(re.findall(r"[\w-]+", text))
    return {x for x in values if (x in words if re.fullmatch(r"[\w-]+", x) else x in text)}


@pytest.mark.parametrize("name", EXPORTS)
def test_a_real_export_is_released_by_voiles_own_rules(data_set, tmp_path, name):
    folder = data_set(name)
    for one in ("in", "out", "scratch"):
        (tmp_path / one).mkdir()
    assert set(FhirCarrier(folder, date(2024, 1, 1)).without_rule()) == SHARED
    carrier = FhirCarrier(folder, date(2024, 1, 1), frozenset(SHARED))
    carrier.unpack(tmp_path / "in")
    released = ReleasedStudy(SECRET, shift, date(2024, 1, 1), lambda _: SHOWN, repeat("a text"))
    packed = carrier.pack(released, tmp_path / "out", tmp_path / "scratch")
    read = Counter(one["resourceType"] for one in read_raw(folder))
    written, there, text = Counter(), set(), ""
    for one in resources(tmp_path / "out"):
        get_fhir_model_class(one["resourceType"]).model_validate(one)
        written[one["resourceType"]] += 1
        there.add(f"{one['resourceType']}/{one['id']}")
        text += f"{json.dumps(one)}\n"
    assert {kind: n for kind, n in read.items() if kind not in SHARED} == written
    for kind, tally in packed.tallies.items():
        assert tally.read == tally.released + tally.set_aside.total()
        assert kind not in read or (tally.read, tally.released) == (read[kind], written[kind])
    assert there.issuperset(x for one in resources(tmp_path / "out") for x in find_references(one))
    assert find_in(list_identifiers(folder), text) == set()


@pytest.mark.slow
@pytest.mark.parametrize("name", EXPORTS)
def test_a_study_of_a_real_export_runs_at_two_people(data_set, tmp_path, name):
    folder, plan = data_set(name), tmp_path / "study.toml"
    init(str(folder), plan)
    plan.write_text(re.sub("^k = 5", "k = 2", plan.read_text(), flags=re.MULTILINE))
    study = Study.open(plan)
    study.fit()
    release = study.apply()
    assert not [one for one in study.verify() if one.holds is False]
    text = "\n".join(json.dumps(one) for one in resources(release.path / "export"))
    notes = "\n".join(release_texts(release.path))
    assert find_in(list_identifiers(folder), f"{text}\n{notes}") == set()


def release_texts(folder):
    import pyarrow.parquet as pq

    return pq.read_table(folder / "notes.parquet")["note"].to_pylist()
