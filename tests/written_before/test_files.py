"""What this version and those before it wrote is read, verified and applied by the next."""

from __future__ import annotations

import json
import shutil
from datetime import timedelta
from pathlib import Path
from typing import Any

import pytest
from tests.written_before import under_way
from tests.written_before.make import ENDS, FILES, NOON

from voile import open_kit, open_release, signals
from voile.cli.run import run
from voile.data import open_source
from voile.data.files.outputs import KIT_VERSION
from voile.determination import verify
from voile.ledger import ledger
from voile.release import manifest
from voile.release.verify import ReleaseCheck
from voile.signals import Session
from voile.signals.channel import keys
from voile.signals.model.sequences import session
from voile.study import Study, study_release


@pytest.fixture
def files(tmp_path: Path) -> Path:
    """A copy that its owner alone may read, as it was written; a checkout has no such modes."""
    copy = tmp_path / "files"
    shutil.copytree(FILES, copy)
    for one in (copy, *copy.rglob("*")):
        one.chmod(0o700 if one.is_dir() else 0o600)
    return copy


def failed(checks: tuple[ReleaseCheck, ...]) -> list[str]:
    return [check.says for check in checks if check.holds is False]


@pytest.mark.parametrize("kind", ENDS)
def test_a_release_is_verified_attacked_and_reported(files: Path, kind: str) -> None:
    release = open_release(files / kind / f"release.{ENDS[kind]}")
    checks = release.verify(key_file=files / kind / "key")
    assert not failed(checks)
    assert any("evidence" in check.says and check.holds for check in checks)
    release.report(key_file=files / kind / "key").save(files / "report.html")
    assert kind in (files / "report.html").read_text()


@pytest.mark.parametrize("kind", ENDS)
def test_a_kit_and_its_policy_are_applied(files: Path, kind: str) -> None:
    kit, out = open_kit(files / kind / "kit"), files / f"again.{ENDS[kind]}"
    policy = files / kind / "policy.toml"
    kit.apply(policy, files / kind / "source.parquet", out, key_file=files / kind / "key")
    before = open_source(files / kind / f"release.{ENDS[kind]}").read()
    again = open_source(out).read()
    assert again.schema == before.schema
    assert len(again) == len(before)


def test_a_ledger_is_verified_and_goes_on(files: Path) -> None:
    folder = files / "tables"
    key = ["--key-file", str(folder / "key")]
    assert run(["ledger", "verify", str(folder / "ledger"), *key]) == 0
    words = [folder / "kit", folder / "source.parquet", "--policy", folder / "policy.toml"]
    more = ["--out", folder / "next.csv", "--ledger", folder / "ledger"]
    assert run(["tables", "apply", *map(str, [*words, *more]), *key]) == 0
    assert len(ledger.Ledger.read_file(folder / "ledger").released_lines) == 2


def test_a_determination_holds(files: Path) -> None:
    folder = files / "tables"
    found = verify(
        folder / "determination",
        signers=folder / "allowed",
        release=str(folder / "release.csv"),
        now=NOON + timedelta(days=2),
    )
    assert not failed(tuple(found.checks))
    assert found.holds


def test_a_study_is_verified_and_applied(files: Path) -> None:
    study = Study.open(files / "study" / "study.toml")
    assert not failed(study.verify())
    before = study.plan.release / "visits.parquet"
    rows = len(open_source(before).read())
    study.apply(force=True)
    assert len(open_source(before).read()) == rows


def test_a_device_takes_its_enrolment(files: Path) -> None:
    enrolment = keys.Enrolment.read_file(files / "sessions" / "enrolment")
    assert [each.subject for each in enrolment.devices] == ["p0", "p1"]
    open_kit(files / "sessions" / "kit")


def test_a_kit_fitted_with_epsilon_states_it(files: Path) -> None:
    """Release, kit and report state the epsilon of a fit that only 0.1.0 makes."""
    folder = files / "signals_private_noise"
    key, stated = folder / "key", "differential privacy: each map, at epsilon 8"
    kit, release = open_kit(folder / "kit"), open_release(folder / "release.parquet")
    assert kit.facts["holds"][-1].startswith(stated)
    assert not failed(release.verify(key_file=key))
    for name, subject in (("kit", kit), ("release", release)):
        page = folder / f"{name}.html"
        more = {} if name == "kit" else {"key_file": key}
        subject.report(**more).save(page)
        assert stated in page.read_text()
        assert "# `signals fit --epsilon` was removed in 0.2.0; an earlier" in page.read_text()


def test_a_kit_fitted_with_epsilon_is_applied(files: Path) -> None:
    folder = files / "signals_private_noise"
    kit, out = open_kit(folder / "kit"), folder / "next.parquet"
    source, key = folder / "source.parquet", folder / "key"
    again = kit.apply(folder / "policy.toml", source, out, key_file=key)
    assert len(open_source(out).read()) == len(open_source(source).read())
    story = json.loads((folder / "next.parquet.private" / "manifest.json").read_text())
    assert story["options"]["fit"]["epsilon"] == 8
    assert not failed(again.verify(key_file=key))
    decoded = signals.decode(open_kit(folder / "kit"), again, folder / "policy.toml").frame
    sent = open_source(source).read()["pulse"].to_pylist()
    assert sorted(decoded["pulse"].to_pylist()) == sorted(sent)


@pytest.mark.parametrize("kind", under_way.READ)
def test_a_session_under_way_goes_on_to_the_last_bit(kind: str) -> None:
    saved = _read("sessions", "under_way.json")[kind]
    device, clinic = (
        Session.from_json(under_way.codec(kind), end, secret=under_way.SECRET)
        for end in saved["ends"]
    )
    messages = under_way.go_on(device, clinic, kind, slice(under_way.BEFORE, None))
    after = under_way.plain(device, clinic)
    assert json.dumps([messages, after]) == json.dumps([saved["messages"], saved["after"]])


def _read(*place: str) -> Any:
    return json.loads(FILES.joinpath(*place).read_text().splitlines()[0])


def test_there_are_files_of_every_format_as_it_is_now() -> None:
    """A new version of a format is written into a folder beside this one, which stays."""
    for folder in (*ENDS, "sessions", "study"):
        kit = "study.kit" if folder == "study" else "kit"
        assert json.loads((FILES / folder / kit / "kit.json").read_text())["version"] == KIT_VERSION
    for kind, ends in ENDS.items():
        public = json.loads((FILES / kind / f"release.{ends}.manifest.json").read_text())
        assert public["version"] == manifest.VERSION
    said = json.loads((FILES / "study" / "study.release" / "manifest.json").read_text())
    assert said["version"] == study_release.VERSION
    assert _read("tables", "ledger")["version"] == ledger.VERSION
    assert json.loads((FILES / "sessions" / "enrolment").read_text())["version"] == keys.VERSION
    for each in _read("sessions", "under_way.json").values():
        assert {end["format"] for end in each["ends"]} == {session.FORMAT}
