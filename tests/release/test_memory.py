"""A release in memory is the one that would be on disk."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import pytest
from tests.release.words import IN_ORDER, RELEASED, SECRET, WORDS, private, run

from voile.core.errors import RequestError, TamperedError
from voile.core.evidence import Evidence, Note
from voile.core.progress import silent
from voile.face.release import Release
from voile.release.apply import write
from voile.release.evidence import AttackResults, find_evidence
from voile.release.verify import check_seal, check_seals, evidence_sealed, is_keyed, seal_evidence
from voile.tables.module import TABLES


def test_a_release_in_memory_is_sealed_when_it_is_saved(tmp_path: Path) -> None:
    here = Release.of(
        write(run(named="visit"), None, IN_ORDER, force=False, progress=silent), TABLES
    )
    assert here.frame["word"].to_pylist() == [WORDS[row] for row in RELEASED]
    aside = ["row,column,reason,visit", "4,word,no word,v4", "10,word,no word,v10"]
    assert (here.folder / "set-aside.csv").read_text().splitlines() == aside
    assert list(check_seals(here, SECRET)) == list(evidence_sealed(here, SECRET)) == []
    check_seal(here, SECRET)
    seal_evidence(here, tmp_path / "none.json", SECRET)
    saved = here.save(tmp_path / "out.csv", formulas="escape")
    assert (tmp_path / "out.csv").read_text().splitlines()[-1] == "'=l"
    check_seal(saved, SECRET)
    assert (saved.private or {})["counts"] == (here.private or {})["counts"]
    with pytest.raises(Exception, match="exists"):
        here.save(tmp_path / "out.csv")
    here.save(tmp_path / "out.csv", force=True)
    assert (tmp_path / "out.csv").read_text().splitlines()[-1] == "=l"


def test_evidence_of_a_release_in_memory_is_saved_and_sealed_with_it(tmp_path: Path) -> None:
    here = Release.of(write(run(), None, IN_ORDER, force=False, progress=silent), TABLES)
    story = Note("The adversary reads.")
    found = AttackResults(here, [Evidence("reading", "linkability", story, (), ())])
    for evidence in (found, None, found):
        saved = here.save(tmp_path / "out.csv", evidence, force=True)
        assert private(saved.path, "evidence.json").exists() == (evidence is not None)
        assert tuple(find_evidence(saved, SECRET)) == (evidence or ())
    other = Release.of(write(run(), None, IN_ORDER, force=False, progress=silent), TABLES)
    apart = replace(other, public={**other.public, "sha256": "0"})
    with pytest.raises(RequestError, match="about another release"):
        apart.save(tmp_path / "other.csv", found)
    assert not (tmp_path / "other.csv").exists()


def test_a_changed_release_in_memory_is_found() -> None:
    here = Release.of(write(run(), None, IN_ORDER, force=False, progress=silent), TABLES)
    other = replace(here, public={**here.public, "sha256": "0"})
    with pytest.raises(TamperedError):
        other.check_hash()
    with pytest.raises(TamperedError, match="no seal"):
        here.seal("seal.json")
    assert not is_keyed(here)
