"""One reading of every fourth child of NHANES, over a real broker and in FHIR, by the commands."""

from __future__ import annotations

import csv
import gzip
import json
import signal
import subprocess
import sys

import pytest
from tests.signals.channel.conftest import broker, make_broker  # noqa: F401, fixtures
from tests.signals.channel.ward import A_COMMAND, command

from voile.cli.run import run
from voile.signals.channel.recipient import READINGS

pytestmark = pytest.mark.real
READ, NAMES = ("BMXWT", "BMXBMI"), ("SEQN", "BMDBMIC", "BMXWT", "BMXBMI")
ROLES = """subject = "SEQN"
[columns]
SEQN = "identifier"
BMDBMIC = "private"
BMXWT = "reading"
BMXBMI = "reading"
"""
FIELDS = """[BMXWT]
code = "29463-7"
unit = "kg"
[BMXBMI]
code = "39156-5"
unit = "kg/m2"
"""


@pytest.fixture(scope="module")
def clinic(data_set, tmp_path_factory):
    """A folder with a kit, the classes, a key and a table of the children; and the children."""
    folder = tmp_path_factory.mktemp("clinic")
    path = data_set("nhanes-2011-2012") / "nhanes_2011_2012_bmx_demo.csv.gz"
    with gzip.open(path, "rt") as file:
        children = [row for row in csv.DictReader(file) if all(row[name] for name in NAMES)][::4]
    for name, columns in (("children", NAMES), ("classes", NAMES[:2])):
        with (folder / f"{name}.csv").open("w", newline="") as file:
            rows = csv.DictWriter(file, columns, extrasaction="ignore")
            rows.writeheader()
            rows.writerows(children)
    (folder / "roles.toml").write_text(ROLES)
    (folder / "key").write_text("k" * 32)
    (folder / "key").chmod(0o600)
    fit = ["signals", "fit", folder / "children.csv", "--roles", folder / "roles.toml"]
    fit += ["--out", folder / "kit", "--method", "normal", "--strength", "1", "--quiet"]
    assert run([*map(str, fit)]) == 0
    known = ["--classes", folder / "classes.csv", "--key-file", folder / "key"]
    assert not command("enrol", folder / "kit", *known, "--out", folder / "enrolment")
    return folder, children


def test_each_child_s_reading_comes_once_and_right(clinic, broker, tmp_path, capsys):  # noqa: F811
    folder, children = clinic
    line = ["--broker", broker.url, "--json"]
    known = ["--classes", folder / "classes.csv", "--out", tmp_path / "clinic"]
    known += ["--key-file", folder / "key"]
    words = [sys.executable, A_COMMAND, folder / "kit", *known, *line]
    recipient = subprocess.Popen(
        [*map(str, words)], stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True
    )
    try:
        capsys.readouterr()
        spool = ["--spool", tmp_path / "spool", "--enrolment", folder / "enrolment"]
        sent = command("send", folder / "kit", folder / "children.csv", *line, *spool)
        result, said = capsys.readouterr()
        assert (sent or 0, json.loads(result)["left_out"]) == (0, 0), said
        assert "from a subject's second message on" in said
        recipient.send_signal(signal.SIGTERM)
        result, said = recipient.communicate(timeout=60)
        assert recipient.returncode == 0, said
    finally:
        recipient.kill()
        recipient.communicate()
    assert json.loads(result)["received"] == len(children)
    came = [json.loads(one) for one in (tmp_path / "clinic" / READINGS).read_text().splitlines()]
    told = sorted(tuple(one[name] for name in READ) for one in came)
    assert told == sorted(tuple(float(child[name]) for name in READ) for child in children)


def quantity(code, value, unit):
    coded = {"coding": [{"system": "http://loinc.org", "code": code}]}
    ucum = {"unit": unit, "system": "http://unitsofmeasure.org", "code": unit}
    return {"code": coded, "valueQuantity": {"value": value, **ucum}}


def test_each_child_s_observation_comes_back_to_the_byte(clinic, tmp_path):
    folder, children = clinic
    observations = [
        {
            "resourceType": "Observation",
            "status": "final",
            "code": {"text": "body measures"},
            "subject": {"reference": f"Patient/{child['SEQN']}"},
            "effectiveDateTime": "2012-01-01",
            "component": [
                quantity("29463-7", float(child["BMXWT"]), "kg"),
                quantity("39156-5", float(child["BMXBMI"]), "kg/m2"),
            ],
        }
        for child in children
    ]
    (tmp_path / "in.ndjson").write_text("".join(f"{json.dumps(one)}\n" for one in observations))
    rows = [f"Patient/{child['SEQN']},{child['BMDBMIC']}" for child in children]
    (tmp_path / "classes.csv").write_text("\n".join(["SEQN,BMDBMIC", *rows]))
    (tmp_path / "fields.toml").write_text(FIELDS)
    known = ["--classes", tmp_path / "classes.csv", "--out"]
    fields = ["--fields", tmp_path / "fields.toml"]
    sent, again = tmp_path / "sent.ndjson", tmp_path / "again.ndjson"
    command("encode-fhir", folder / "kit", tmp_path / "in.ndjson", *fields, *known, sent)
    command("decode-fhir", folder / "kit", sent, *known, again)
    assert again.read_bytes() == (tmp_path / "in.ndjson").read_bytes() != sent.read_bytes()
