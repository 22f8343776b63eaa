"""The whole programme on the county, this month and next: fit, choose, apply, attack, determine."""

from __future__ import annotations

import shutil
import subprocess
from pathlib import Path

import pyarrow as pa
import pyarrow.csv
import pytest
import tomli_w
from tests.cli.conftest import Files, Voile
from tests.determination.conftest import CONTEXT

from voile.data.files.outputs import MANIFEST
from voile.demo.county import make_county

OFFICER = {"at_most": 1.0, "source": "The privacy officer"}
SIGNER = "officer@county.example"
MONTHS = ("this", "next")
FITS = {
    "whole columns, fitted each month": ["--family", "global", "--evaluations", "2000"],
    "one chain, counted anew next month": ["--method", "steepest"],
}
NEW = 5
"""People of each of a few combinations whom next month adds."""


def patients_of(month: str) -> pa.Table:
    """Return the county's patients; next month people come, several of each combination."""
    patients = make_county(people=3000).patients
    if month == "this":
        return patients
    first = patients.slice(0, 10)
    come = pa.concat_tables([first] * NEW)
    for name in ("person_id", "visit_id"):
        place = come.schema.get_field_index(name)
        ids = pa.array([str(900_000 + n) for n in range(len(come))])
        come = come.set_column(place, name, ids.cast(come.schema.field(name).type))
    return pa.concat_tables([patients, come])


@pytest.fixture
def folder(tmp_path: Path, voile: Voile) -> Path:
    """Make what both months share: a secret, a ledger, a context, a key and who may sign."""
    (tmp_path / "key").write_text("5" * 64)
    (tmp_path / "key").chmod(0o600)
    key = ["--key-file", tmp_path / "key", "--quiet"]
    made = voile("ledger", "init", tmp_path / "l.ledger", "--joint-risk", ".6", *key)
    assert made.code == 0
    thresholds = dict.fromkeys(CONTEXT["thresholds"], OFFICER)
    thresholds["linkability"] = {**OFFICER, "accept": "The contract forbids linking"}
    context = {**CONTEXT, "thresholds": {**thresholds, "joint-risk": {**OFFICER, "at_most": 0.6}}}
    (tmp_path / "context.toml").write_text(tomli_w.dumps(context))
    words = ["ssh-keygen", "-q", "-t", "ed25519", "-N", "", "-f", "signer"]
    subprocess.run(words, cwd=tmp_path, check=True)
    (tmp_path / "allowed").write_text(f"{SIGNER} {(tmp_path / 'signer.pub').read_text()}")
    return tmp_path


def release_and_determine(
    voile: Voile, files: Files, folder: Path, month: str, fit: list[str]
) -> Path:
    """Run the whole flow of one month, and return its folder."""
    here = folder / month
    here.mkdir()
    source = here / "patients.csv"
    pyarrow.csv.write_csv(patients_of(month), source)
    ledger = folder / "l.ledger"
    key = ["--key-file", folder / "key"]
    under = [*key, "--ledger", ledger]
    people = ["--population", files.population]
    release = here / "release.csv"
    apply = ["--policy", here / "policy.toml", "--out", release]
    earlier = ["--releases", folder / "this"] if month == "next" else []
    waiting = ["--hold-back"] if month == "next" else []
    recounts = month == "next" and "steepest" in fit
    kit = folder / ("this" if recounts else month) / "kit"
    waiting += ["--recount"] if recounts else []
    some = ["--joint-risk", ".6" if month == "next" else ".2"]  # so that months to come have room
    found = here / "determination"
    sign = ["--decision", "approve with conditions", "--as", SIGNER, "--condition", "No copies"]
    fitting = ["fit", source, "--roles", files.roles, *people, *fit, "--seed", "5", "--out", kit]
    for words in (
        *([] if recounts else [fitting]),
        ["choose", kit, "--after", ledger, *key, *earlier, *some,
             "--source", source, *waiting, "--out", here / "policy.toml"],
        ["apply", kit, source, *apply, *under, *earlier, *waiting],
        ["attack", release, "--original", source, *people, *key, "--seed", "1"],
    ):  # fmt: skip
        ran = voile("tables", *words)
        assert ran.code == 0, ran.err
    given = ["--context", folder / "context.toml", "--no-pdf", "--out", found]
    assert voile("determine", release, *given, *under).code == 0
    assert voile("sign", found, "--key", folder / "signer", *sign).code == 0
    at_home = voile("verify", found, "--signers", folder / "allowed", *under)
    assert at_home.code == 0, at_home.out
    return here


def elsewhere(here: Path, folder: Path) -> Path:
    """Copy what a recipient gets: the release, its manifest, the determination, who may sign."""
    away = folder / "another machine"
    away.mkdir()
    for name in ("release.csv", f"release.csv{MANIFEST}"):
        shutil.copy(here / name, away)
    shutil.copytree(here / "determination", away / "determination")
    shutil.copy(folder / "allowed", away)
    return away


@pytest.mark.filterwarnings("ignore")
@pytest.mark.parametrize("way", FITS)
def test_two_months_are_released_judged_together_determined_and_verified_elsewhere(
    way: str, voile: Voile, files: Files, folder: Path
) -> None:
    this, following = (
        release_and_determine(voile, files, folder, one, FITS[way]) for one in MONTHS
    )
    shown = voile("ledger", "show", folder / "l.ledger", "--json").json
    assert [line["act"] for line in shown["lines"]] == ["promise", *["intent", "done"] * 2]
    assert (following / "release.csv").read_text() != (this / "release.csv").read_text()
    away = elsewhere(following, folder)
    verify = ["verify", away / "determination", "--signers", away / "allowed"]
    at_first = voile(*verify)
    assert at_first.code == 0, at_first.out
    assert "approved with conditions by officer@county.example" in at_first.out
    for path in sorted(path for path in away.rglob("*") if path.is_file()):
        if path.name == "allowed":
            continue
        raw = path.read_bytes()
        place = len(raw) // 2
        path.write_bytes(raw[:place] + bytes([raw[place] ^ 1]) + raw[place + 1 :])
        changed = voile(*verify)
        assert changed.code == 1, path.name
        failed = [line for line in changed.out.splitlines() if line.startswith("FAILED")]
        # of the release it is its bytes that are not those of the manifest
        named = "release: the bytes" if path.name == "release.csv" else path.name
        assert any(named in line for line in failed), (path.name, failed)
        path.write_bytes(raw)
    assert voile(*verify).code == 0
