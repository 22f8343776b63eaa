"""Items, readings and notes from their file to a signature through the page's requests."""

from __future__ import annotations

import csv
import json
import random
from pathlib import Path

import pytest
from tests.workbench.county import CONTEXT, make_key
from tests.workbench.replayed import SCRIPTS, check_replay
from tests.workbench.served import opened

from voile.demo.__main__ import write_notes


def make_baskets(place: Path) -> None:
    draw = random.Random(5)
    names = ["bread", "milk", "tea", "coffee", "beer", "wine", "cheese", "fish", "rice", "eggs"]
    rows = []
    for n in range(600):
        likely = 0.5 if n % 5 < 2 else 0.3
        items = [name for i, name in enumerate(names, 1) if draw.random() < likely / i**0.6]
        rows.append({"customer": f"c{n}", "items": items, "returns": "yes" if n % 5 < 2 else "no"})
    place.write_text("\n".join(map(json.dumps, rows)))


def make_readings(place: Path) -> None:
    draw = random.Random(5)
    with place.open("w", newline="") as file:
        writer = csv.writer(file)
        writer.writerow(["patient", "condition", "weight", "pulse"])
        for n in range(500):
            is_ill = n % 3 == 0
            weight, pulse = (
                draw.gauss(80 if is_ill else 70, 12),
                draw.gauss(85 if is_ill else 70, 9),
            )
            condition = "heart failure" if is_ill else "healthy"
            writer.writerow([f"P{n:04}", condition, f"{weight:.1f}", f"{pulse:.0f}"])


def make_notes(place: Path) -> None:
    """Write notes that nobody reads: people's answers would not come back in a replay."""
    written = place.with_name("written")
    write_notes(written, 12)
    (written / "notes.csv").rename(place)
    (written / "patients.csv").rename(place.with_name("patients.csv"))


@pytest.mark.parametrize(
    ("kind", "name", "released", "make"),
    [
        ("itemsets", "baskets.jsonl", "release.parquet", make_baskets),
        ("signals", "readings.csv", "release.csv", make_readings),
        ("documents", "notes.csv", "release.csv", make_notes),
    ],
)
def test_a_file_of_another_kind_becomes_a_signed_release(
    tmp_path: Path, kind: str, name: str, released: str, make: object
) -> None:
    make(tmp_path / name)  # type: ignore[operator]
    key = make_key(tmp_path)
    project = tmp_path / f"{Path(name).stem}-project"
    with opened(tmp_path / name) as page:
        page.enter()
        page.act("data.inspect", **page.form("data") | {"kind": kind})
        fields = page.form("adversary")
        typed = {field: text for field, text in CONTEXT.items() if field in fields}
        reason = {
            f"{one}.accept": "The recipient signed a contract"
            for one in ("re-identification", "singling-out", "inference", "text-left")
        } | {"known": "../patients.csv"}
        page.act(
            "adversary.fit", **fields | typed | {n: x for n, x in reason.items() if n in fields}
        )
        block = page.block("frontier", "frontier")
        assert len(block["labels"]) == len(block["policies"][0]["figures"]) == 3
        page.act("frontier.choose", rule="knee")
        assert page.block("frontier", "frontier")["chosen"] is not None
        page.act("release.apply")
        assert len(page.block("release", "rows")["rows"]) == 5
        manifest = json.loads((project / f"{released}.private/manifest.json").read_text())
        shown = [one["big"] for one in page.block("release", "figures")["figures"]]
        assert shown[-1] == f"{manifest['figures']['subjects']:,.0f}"
        page.act("attack.run")
        assert page.block("attack", "stories")["stories"]
        page.act("decide.determine")
        verdicts = {x["name"]: x["verdict"] for x in page.block("decide", "criteria")["criteria"]}
        facts = json.loads((project / "determination/determination.json").read_text())
        assert [*verdicts.values()] == [x["verdict"] for x in facts["criteria"]]
        signer = {"as": "officer@county.org", "key": str(key), "decision": "refuse"}
        state = page.act("decide.sign", **page.form("decide") | signer)
        assert [one["state"] for one in state["steps"]][3:] == ["done"] * 4 + ["open"]
    for script in SCRIPTS:
        check_replay(project, script)
