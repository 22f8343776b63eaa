"""People read the texts of a study's release: they are mended, measured again and certified."""

from __future__ import annotations

import base64
import json
import shutil
from pathlib import Path

import pyarrow.parquet as pq
import pytest
from tests.study.carriers.exported import resources
from tests.study.reading import Quiet, accept, see_all, see_nothing, see_seeded

from voile.core.errors import RequestError, TamperedError
from voile.ledger.ledger import Ledger, create
from voile.ledger.promise import LedgerPromise
from voile.release.evidence import READ
from voile.study import Study
from voile.study.study_release import StudyRelease
from voile.study.verbs.evidence import read_evidence

NAME = "quillfeather"
SAID = f"then {NAME} rang twice."


def attentive(line):
    """Mark the name that no kit knows, and all that is seeded."""
    if line.document < 0:
        return see_all(line)
    start = line.text.find(NAME)
    return [] if start < 0 else [(start, start + len(NAME), "NAME")]


def add_name(path: Path, column: str = "note") -> None:
    """Write a name at the end of every twentieth text of a table."""
    table = pq.read_table(path)
    texts = [f"{x} {SAID}" if n % 20 == 13 else x for n, x in enumerate(table[column].to_pylist())]
    at = table.column_names.index(column)
    pq.write_table(table.set_column(at, column, [texts]), path)


@pytest.fixture
def applied(folder, change):
    """A study of a release in which a name is left."""
    add_name(folder / "notes.parquet")
    study = change()
    study.fit(force=True)
    study.apply()
    assert any(NAME in x for x in texts(study))
    return study


def texts(study: Study, part: str = "notes", column: str = "note") -> list[str]:
    release = StudyRelease.open(study.plan.release)
    return pq.read_table(release.path / release.public["parts"][part]["file"])[column].to_pylist()


def check_verified(study: Study) -> None:
    assert [one.says for one in study.verify() if one.holds is False] == []


def test_a_release_is_mended_measured_and_certified(applied):
    before, old = StudyRelease.open(applied.plan.release), texts(applied)
    ended = accept(applied, attentive)
    assert ended.code == 0
    release, new = StudyRelease.open(applied.plan.release), texts(applied)
    proof = release.public["parts"]["notes"]["acceptance"]
    left = sum(NAME in one for one in new)
    assert left <= proof["identifiers_at_most"]
    assert left < sum(NAME in one for one in old)
    assert [y if NAME in x else x for x, y in zip(old, new, strict=True)] == new
    assert any(SAID.replace(NAME, "[NAME]") in one for one in new)
    most = proof["share_of_subjects_at_most"]
    assert 0 < most < 1
    assert release.public["figures"]["named_in_text"] == pytest.approx(most, abs=0.01)
    assert any("at most" in one for one in release.public["assumptions"])
    assert release.public["parts"]["visits"] == before.public["parts"]["visits"]
    (evidence,) = read_evidence(release, applied.plan.secret).of_part["notes"]
    assert evidence.attack == READ
    check_verified(applied)
    again = accept(applied, attentive)
    assert again.result == ended.result
    assert StudyRelease.open(applied.plan.release).public == release.public


def test_a_reader_who_sees_nothing_proves_nothing(applied):
    old = texts(applied)
    ended = accept(applied, see_nothing)
    assert ended.code == 1
    release = StudyRelease.open(applied.plan.release)
    assert "acceptance" not in release.public["parts"]["notes"]
    assert texts(applied) == old
    check_verified(applied)


def test_forged_answers_change_nothing_in_the_release(applied, tmp_path):
    before = (applied.plan.release / "manifest.json").read_bytes()
    answers = tmp_path / "answers.jsonl"
    answers.write_text("")
    assert accept(applied, answers).code == 1
    waiting = applied.plan.release.with_name("study.release.acceptance") / "notes"
    lines = (waiting / "notes.parquet.acceptance" / "waiting.jsonl").read_text().splitlines()
    for spans in ([[0, 10**6, "NAME"]], [[-5, 2, "NAME"]], [[0, 1, "JOHN SMITH"]], [["a", 1]]):
        answers.write_text(
            "".join(json.dumps({**json.loads(one), "spans": spans}) for one in lines)
        )
        with pytest.raises(RequestError):
            accept(applied, answers)
    answers.write_text("".join(f'{{"line": {10**6 + n}, "spans": []}}\n' for n in range(9)))
    assert accept(applied, answers).code == 1
    assert (applied.plan.release / "manifest.json").read_bytes() == before
    assert oct(waiting.stat().st_mode)[-3:] == oct(waiting.parent.stat().st_mode)[-3:] == "700"
    copy = Path(waiting / "notes.parquet.manifest.json")
    proof = {"share_of_subjects_at_most": 0.0, "confidence": 0.95, "condition": ""}
    copy.write_text(json.dumps({**json.loads(copy.read_text()), "acceptance": proof}))
    with pytest.raises(TamperedError):
        accept(applied, attentive)
    assert (applied.plan.release / "manifest.json").read_bytes() == before


def test_a_release_that_was_applied_again_loses_the_same_names(applied):
    """The same plan and secret give the same bytes, which readers have read."""
    accept(applied, attentive)
    mended = texts(applied)
    applied.apply(force=True)
    assert texts(applied) != mended
    assert accept(applied, attentive).code == 0
    assert texts(applied) == mended
    check_verified(applied)


def test_a_text_column_is_mended_in_its_rows(folder, change):
    add_name(folder / "visits.parquet", "remark")
    study = change(('source = "notes.parquet"', 'of = "visits"\ntext = "remark"'))
    study.fit(force=True)
    study.apply()
    old = texts(study, "visits", "remark")
    table = pq.read_table(study.plan.release / "visits.parquet")
    assert accept(study, attentive).code == 0
    new = texts(study, "visits", "remark")
    assert sum(NAME in x for x in new if x) < sum(NAME in x for x in old if x)
    now = pq.read_table(study.plan.release / "visits.parquet")
    assert now.drop_columns("remark").equals(table.drop_columns("remark"))
    assert now.column_names == table.column_names
    check_verified(study)


def exported_texts(study: Study) -> list[str]:
    found = resources(study.plan.release / "export", "DocumentReference")
    return [base64.b64decode(one["content"][0]["attachment"]["data"]).decode() for one in found]


def test_an_export_has_the_mended_texts(fhir, tmp_path):
    home = tmp_path / "study"
    shutil.copytree(fhir, home, ignore=shutil.ignore_patterns("*.release*"))
    place = home / "export" / "DocumentReference.ndjson"
    lines = [*map(json.loads, place.read_text().splitlines())]
    for one in lines[::20]:
        own = one["content"][0]["attachment"]
        said = base64.b64decode(own["data"]) + f" {SAID}".encode()
        own |= {"data": base64.b64encode(said).decode()}
        own.pop("size", None), own.pop("hash", None)
    place.write_text("".join(f"{json.dumps(one)}\n" for one in lines))
    study = Study.open(home / "study.toml")
    study.fit(force=True)
    study.apply()
    before = sum(NAME in one for one in exported_texts(study))
    assert before
    assert accept(study, attentive).code == 0
    assert sorted(exported_texts(study)) == sorted(texts(study))
    assert sum(NAME in one for one in exported_texts(study)) < before
    release = StudyRelease.open(study.plan.release)
    assert 0 < release.public["figures"]["named_in_text"] < 1
    check_verified(study)


def test_omop_notes_have_the_mended_texts(omop, tmp_path):
    home = tmp_path / "study"
    shutil.copytree(omop, home, ignore=shutil.ignore_patterns("*.release*"))
    add_name(home / "export" / "note.parquet", "note_text")
    study = Study.open(home / "study.toml")
    study.fit(force=True)
    study.apply()

    def read_export() -> list[str]:
        return pq.read_table(study.plan.release / "export" / "note.parquet")[
            "note_text"
        ].to_pylist()

    before = sum(NAME in one for one in read_export())
    assert before
    assert accept(study, attentive).code == 0
    assert sorted(read_export()) == sorted(texts(study))
    assert sum(NAME in one for one in read_export()) < before
    assert 0 < StudyRelease.open(study.plan.release).public["figures"]["named_in_text"] < 1
    check_verified(study)


REMARKS = """\
[parts.remarks]
kind = "documents"
of = "visits"
text = "remark"
kit = "notes.kit"
choose = { max_relative_risk = 0.05 }

[mentions]
"""


def test_every_part_of_texts_is_read_and_proved(folder, change):
    """The second reading goes on from the release that the first one mended."""
    add_name(folder / "notes.parquet")
    add_name(folder / "visits.parquet", "remark")
    study = change(("[mentions]\n", REMARKS))
    study.fit(force=True)
    study.apply()
    old = {"notes": texts(study), "visits": texts(study, "visits", "remark")}
    marked = []

    def read(line):
        spans = attentive(line)
        marked.extend(spans if line.document >= 0 else [])
        return spans

    assert accept(study, read, part="notes").code == 0
    of_notes = len(marked)
    first = StudyRelease.open(study.plan.release)
    assert "acceptance" not in first.public["parts"]["remarks"]
    alone = first.public["parts"]["notes"]["acceptance"]
    assert accept(study, read, part="remarks").code == 0
    release = StudyRelease.open(study.plan.release)
    proofs = {name: release.public["parts"][name]["acceptance"] for name in ("notes", "remarks")}
    assert proofs["notes"] == alone
    shares = [one["share_of_subjects_at_most"] for one in proofs.values()]
    named = release.public["figures"]["named_in_text"]
    assert max(shares) < named + 0.01
    assert named <= 1 - (1 - shares[0]) * (1 - shares[1]) + 0.01
    removed = {"notes": of_notes, "visits": len(marked) - of_notes}
    assert sum(removed.values()) > 0
    for part, column in (("notes", "note"), ("visits", "remark")):
        new = texts(study, part, column)
        assert sum(NAME in x for x in old[part]) - sum(NAME in x for x in new) == removed[part]
    evidence = read_evidence(release, study.plan.secret).of_part
    assert all(evidence[name][0].attack == READ for name in proofs)
    check_verified(study)
    study.report(folder / "report.html")


def test_a_ledger_and_evidence_follow_the_mended_release(applied, folder):
    create(folder / "county.ledger", LedgerPromise(expected_matches=10_000.0), folder / "study.key")
    study = Study.open(folder / "study.toml", ledger=folder / "county.ledger")
    study.apply(force=True)
    study.attack()
    reporter = Quiet()
    assert accept(study, attentive, reporter=reporter).code == 0
    assert reporter.insisted == ["evidence of the release as it was is gone: attack it again"]
    acts = [line.content["act"] for line in Ledger.read_file(folder / "county.ledger").chain.lines]
    assert acts == ["promise", "intent", "done", "intent", "done"]
    study.attack(parts=True)
    release = StudyRelease.open(study.plan.release)
    attacks = {x.attack for x in read_evidence(release, study.plan.secret).of_part["notes"]}
    assert READ in attacks
    assert len(attacks) > 1
    check_verified(study)


def test_a_part_must_be_named_where_answers_are_of_one(applied):
    with pytest.raises(RequestError, match="there is no such part of texts"):
        accept(applied, see_nothing, part="visits")


def test_a_reading_that_begins_again_removes_what_it_finds(applied):
    assert accept(applied, see_seeded).code == 0  # a reader who misses every real identifier
    left = sum(NAME in one for one in texts(applied))
    shutil.rmtree(applied.plan.release.with_name("study.release.acceptance"))
    assert accept(applied, attentive).code == 0
    assert sum(NAME in one for one in texts(applied)) < left
    assert accept(applied, attentive).code == 0  # the release is that of the copy
    check_verified(applied)


def test_another_try_goes_on_after_the_release_was_mended(applied):
    """The copy is mended before the second sample; the release has the texts of the first try."""
    first = texts(applied)
    assert accept(applied, lambda x: [] if x.document < 0 else attentive(x)).code == 1
    before = texts(applied)
    assert before != first

    def leave_at_sample(line):
        if line.purpose == "sample":
            raise KeyboardInterrupt
        return see_all(line)

    with pytest.raises(KeyboardInterrupt):
        accept(applied, leave_at_sample, again=True)
    copy = applied.plan.release.with_name("study.release.acceptance") / "notes" / "notes.parquet"
    assert pq.read_table(copy)["note"].to_pylist() != before
    assert texts(applied) == before
    accept(applied, attentive)
    assert texts(applied) != before
    check_verified(applied)
