"""A file of FHIR goes through `encode-fhir` and `decode-fhir`."""

from __future__ import annotations

import json
import re

import pytest
from tests.signals.channel.ward import MOODS, command

from voile.cli.run import run
from voile.core.errors import VoileError

FIELDS = {"height": ("8302-2", "cm"), "weight": ("29463-7", "kg"), "mood": ("72514-3", "{score}")}


def observations(rows):
    """The same readings as a server exports them."""
    for id, _, day, *values in rows:
        for value, (code, unit) in zip(values, FIELDS.values(), strict=True):
            yield {
                "resourceType": "Observation",
                "status": "final",
                "code": {"coding": [{"system": "http://loinc.org", "code": code}]},
                "subject": {"reference": id},
                "effectiveDateTime": f"2024-03-{day + 1:02}",
                "valueQuantity": {
                    "value": MOODS.index(value) if unit == "{score}" else value,
                    "unit": unit,
                },
            }


@pytest.mark.parametrize("alone", [False, True])
def test_a_file_of_fhir_goes_through_both_commands(ward, tmp_path, capsys, alone):
    folder, rows = ward
    source, sent, again, fields, policy = (
        tmp_path / name for name in ("source.ndjson", "sent", "again", "fields.toml", "policy")
    )
    source.write_text("".join(f"{json.dumps(one)}\n" for one in observations(rows)))
    parts = [f'[{name}]\ncode = "{code}"\nunit = "{unit}"' for name, (code, unit) in FIELDS.items()]
    fields.write_text("\n".join(parts))
    known = ["--classes", folder / "classes.csv"]
    if alone:
        chosen = ["--policy", "0", "--out", policy, "--quiet"]
        assert run(["signals", "choose", str(folder / "kit"), *map(str, chosen)]) == 0
        known += ["--policy", policy]
    kit = folder / "kit"
    command("encode-fhir", kit, source, "--fields", fields, *known, "--out", sent, "--json")
    result, said = capsys.readouterr()
    assert ("leave --policy out" in said) == alone
    counts = json.loads(result.splitlines()[-1])
    assert (counts["readings"], counts["values"]) == (len(rows), 3 * len(rows))
    command("decode-fhir", kit, sent, *known, "--out", again)
    assert again.read_bytes() == source.read_bytes() != sent.read_bytes()
    forged = sent.read_text().splitlines()
    at = max(
        n for n, one in enumerate(forged) if '"weight"' in one and '"valueUnsignedInt":6' in one
    )
    forged[at] = re.sub('"value": [-0-9.e]+', '"value": 1e12', forged[at])
    sent.write_text("\n".join(forged))
    assert command("decode-fhir", kit, sent, *known, "--out", again, "--force", "--json") == 1
    result, said = capsys.readouterr()
    assert json.loads(result)["set_aside"] == 1
    assert f"1 reading outside the range, in {again}.set-aside.jsonl" in said
    assert forged[at] in again.read_text().splitlines()
    fewer = tmp_path / "fewer.csv"
    fewer.write_text("id,state\nnobody,calm\n")
    with pytest.raises(VoileError, match="sent, line 1: a subject has no class"):
        command("decode-fhir", kit, sent, "--classes", fewer, *known[2:], "--out", tmp_path / "no")
