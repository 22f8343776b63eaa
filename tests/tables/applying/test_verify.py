"""Verify fails on whatever was changed, and needs nothing that is private."""

from __future__ import annotations

import pytest
from tests.tables.applying.visits import finest, run

from voile.errors import VoileError
from voile.release import Release, private_path
from voile.tables.verifying import verify

pytestmark = pytest.mark.filterwarnings("ignore::voile.tables.hipaa.SafeHarborWarning")


def test_verify_fails_when_a_label_changes(kit, patients, key_file, tmp_path):
    release = run(kit, patients, tmp_path / "out.csv", key_file=key_file)
    text = release.path.read_text().splitlines(keepends=True)
    label = text[1].split(",")[1]
    for other in (label + "0", "nobody"):
        changed = text[1].replace(f",{label},", f",{other},")
        release.path.write_text("".join([text[0], changed, *text[2:]]))
        assert not all(holds is not False for _, holds in verify(release))
        with pytest.raises(VoileError):
            Release.open(release.path).check_hash()
    release.path.write_text("".join(text[:-1]))
    assert not all(holds is not False for _, holds in verify(release))
    release.path.write_text("".join([text[0].replace("zip", "zap"), *text[1:]]))
    assert not all(holds is not False for _, holds in verify(release))


def test_verify_fails_when_a_label_becomes_another(kit, patients, key_file, tmp_path):
    bottom = finest(kit)
    release = run(kit, patients, tmp_path / "out.csv", chosen=bottom, key_file=key_file)
    lines = [line.split(",") for line in release.path.read_text().splitlines()]
    sizes = {}
    for line in lines[1:]:
        sizes[line[1], line[2]] = sizes.get((line[1], line[2]), 0) + 1
    smallest = min(sizes, key=sizes.get)
    largest = max(sizes, key=sizes.get)
    for line in lines[1:]:
        if (line[1], line[2]) == smallest:
            line[1:3] = largest
    release.path.write_text("".join(",".join(line) + "\n" for line in lines))
    failed = [name for name, holds in verify(release) if not holds]
    assert failed


def test_verify_needs_no_private_folder(kit, patients, key_file, tmp_path):
    release = run(kit, patients, tmp_path / "out.csv", key_file=key_file)
    alone = tmp_path / "received"
    alone.mkdir()
    for path in (release.path, release.path.with_name("out.csv.manifest.json")):
        (alone / path.name).write_bytes(path.read_bytes())
    received = Release.open(alone / "out.csv")
    assert not private_path(received.path).exists()
    assert all(holds is not False for _, holds in verify(received))


def test_verify_fails_when_the_manifest_says_another_thing_of_an_interval(
    kit, patients, key_file, tmp_path
):
    """What a recipient reads, without the private folder: an age of 20-29 is none of 20-94."""
    release = run(kit, patients, tmp_path / "out.csv", chosen=finest(kit), key_file=key_file)
    policy = release.public["policy"]
    forged = 0
    for number, column in enumerate(policy):
        for place, entry in enumerate(column["entries"]):
            if entry["first"] is None or entry["last"] is None or entry["values"]:
                continue
            entries = list(column["entries"])
            entries[place] = {**entry, "last": entry["last"] + "9"}
            changed = [*policy[:number], {**column, "entries": entries}, *policy[number + 1 :]]
            received = Release(release.path, {**release.public, "policy": changed})
            failed = [name for name, holds in verify(received) if holds is False]
            assert failed == ["every interval is named by its ends"]
            forged += 1
    assert forged


def test_verify_fails_when_more_is_promised_than_is_kept(kit, patients, key_file, tmp_path):
    release = run(kit, patients, tmp_path / "out.csv", chosen=finest(kit), key_file=key_file)
    asked = release.public["constraints"]
    for more in ({"k": 10_000}, {"k": 0}, {"max_risk": 0.01}):
        public = {**release.public, "constraints": {**asked, **more}}
        assert [holds for _, holds in verify(Release(release.path, public))].count(False) == 1
