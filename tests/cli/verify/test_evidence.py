"""Evidence is what attack wrote about this release, under the same secret."""

from __future__ import annotations

from pathlib import Path

import pytest
from tests.cli.conftest import Voile
from tests.cli.verify.home import (
    OTHER,
    SECRET,
    Home,
    failed,
    states,
)

from voile.core.errors import TamperedError
from voile.data.files.outputs import EVIDENCE_FORMAT
from voile.keys.seal import EVIDENCE_SEAL, FileSeal
from voile.release.manifest import (
    RELEASE,
    StoredRelease,
    encode,
)
from voile.release.verify import check_evidence, seal_evidence


@pytest.mark.usefixtures("key")
def test_evidence_that_was_edited(voile: Voile, home: Home) -> None:
    home.evidence.write_bytes(b"{}")
    assert failed(voile, home) == {"evidence.json is as evidence-seal.json has it"}


def test_evidence_that_attack_did_not_write_about_this_release(home: Home, tmp_path: Path) -> None:
    release = StoredRelease.open(home.out)
    check_evidence(release, home.evidence, SECRET)
    mine = tmp_path / "mine.json"
    mine.write_bytes(encode({"format": EVIDENCE_FORMAT, "found": 0}))
    with pytest.raises(TamperedError, match="attack wrote it about this release"):
        check_evidence(release, mine, SECRET)
    seal_evidence(release, mine, SECRET)
    check_evidence(release, mine, SECRET)
    check_evidence(release, home.evidence, SECRET)  # both are sealed
    with pytest.raises(TamperedError, match="made under this secret"):
        check_evidence(release, mine, OTHER)


def test_what_a_forger_sealed_is_not_sealed_again(home: Home, tmp_path: Path) -> None:
    forged, mine = home.folder / "forged.json", home.folder / "mine.json"
    for path in (forged, mine):
        path.write_bytes(encode({"format": EVIDENCE_FORMAT, "path": path.name}))
    release = StoredRelease.open(home.out)
    seal_evidence(release, forged, OTHER)
    seal_evidence(release, mine, SECRET)
    assert FileSeal.read_file(home.folder / EVIDENCE_SEAL).files.keys() == {RELEASE, "mine.json"}


def test_without_a_secret_all_evidence_stays_sealed(home: Home) -> None:
    mine = home.folder / "mine.json"
    mine.write_bytes(encode({"format": EVIDENCE_FORMAT}))
    home.seal(None)
    seal_evidence(StoredRelease.open(home.out), mine, None)
    for path in (mine, home.evidence):
        check_evidence(StoredRelease.open(home.out), path, None)


@pytest.mark.usefixtures("key")
def test_evidence_that_was_moved_elsewhere_is_not_checked(
    voile: Voile, home: Home, tmp_path: Path
) -> None:
    (tmp_path / "away").mkdir()
    away = tmp_path / "away" / "found.json"
    away.write_bytes(encode({"format": EVIDENCE_FORMAT}))
    seal_evidence(StoredRelease.open(home.out), away, SECRET)
    said = "../away/found.json is as evidence-seal.json has it"
    assert states(voile, home)[said] is True
    before = away.read_bytes()
    away.write_bytes(b"{}")
    assert states(voile, home)[said] is False
    away.unlink()
    assert states(voile, home)[said] is None
    away.write_bytes(before)
    assert states(voile, home)[said] is True
