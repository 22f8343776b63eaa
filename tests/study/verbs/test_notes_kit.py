"""The kit of notes that a study makes: as the plan says, once, and anew where that changed."""

from __future__ import annotations

import json
import re
import shutil
import signal
import subprocess
import sys

import pyarrow as pa
import pyarrow.csv
import pyarrow.parquet as pq
import pytest
from tests.study.made import EXPORT_PLAN, NOTE_ROLES, roles_of, write_key
from tests.study.reading import accept, see_seeded

from voile.cli.run import run
from voile.core.errors import RequestError
from voile.core.progress import silent
from voile.data.files.atomic import write_text
from voile.demo.clinic import make_clinic
from voile.demo.fhir import write_fhir
from voile.documents.fitting.work import UnmarkedWork
from voile.documents.own_options import ReviewOptions
from voile.release.kit import StoredKit
from voile.study import Study
from voile.study.carriers.carrier import QUASI
from voile.study.determined import CRITERIA
from voile.study.plan.plan import StudyPlan
from voile.study.study_release import StudyRelease
from voile.study.verbs import notes_kit
from voile.study.verbs.check import check
from voile.study.verbs.notes_kit import open_kit, propose_notes
from voile.study.verbs.review import next_commands, review

LEARNING = 'learners = ["svm"], miss_cost = [5.0], cross_fit = 3, jobs = 1'
CODES = 'ZIP = { column = "zip", words = "export:zip_codes" }'
KIT = 'kit = "notes.kit"'
INIT = f'init = {{ known = "known.csv", {LEARNING} }}'
FIT = f'fit = {{ source = "marked.parquet", roles = "marked.toml", {LEARNING} }}'


@pytest.fixture
def unmarked(folder):
    """The cohort's folder with few notes, marked and not, and a table of known values."""
    notes = pq.read_table(folder / "notes.parquet").slice(0, 40)
    pq.write_table(notes, folder / "marked.parquet")
    said = pa.array([f"{one} Mrs. Quillfeather was there." for one in notes["note"].to_pylist()])
    pq.write_table(
        pa.table({"person_id": notes["person_id"], "note": said}), folder / "notes.parquet"
    )
    columns = (f"{n} = {json.dumps(x)}" for n, x in NOTE_ROLES["columns"].items() if n != "note")
    (folder / "marked.toml").write_text(
        'subject = "person_id"\n[columns]\nnote = { role = "text", spans = "spans" }\n'
        + "\n".join(columns)
    )
    people = notes["person_id"].unique()
    known = pa.table({"person_id": people, "family_name": ["Quillfeather"] * len(people)})
    pyarrow.csv.write_csv(known, folder / "known.csv")
    return folder


@pytest.fixture
def planned(unmarked, change):
    """Open a plan whose notes have no kit, but the line that makes it."""
    return lambda line: change((KIT, line)).plan


def made(plan: StudyPlan, *, force: bool = False) -> StoredKit:
    return open_kit(plan, "notes", force=force, progress=silent)


@pytest.mark.parametrize("line", [INIT, FIT])
def test_a_kit_is_made_once_and_again_where_its_options_or_a_source_changed(
    unmarked, planned, line
):
    plan = planned(line)
    place = unmarked / "study.notes.kit"
    first = made(plan)
    assert "NAME" in first.facts["labels"]
    inode = place.stat().st_ino
    assert made(plan).id == first.id
    assert place.stat().st_ino == inode, "made again"
    changed = made(planned(line.replace("[5.0]", "[9.0]")))
    assert changed.id != first.id
    inode = place.stat().st_ino
    source = unmarked / ("known.csv" if line == INIT else "marked.toml")
    source.write_text(source.read_text() + ("" if line == FIT else "\nX1,Ptarmigan\n") + "\n")
    made(planned(line.replace("[5.0]", "[9.0]")))
    assert place.stat().st_ino != inode, "not made again"


def test_identifiers_are_proposed_once_and_only_for_a_kit_that_is_not_made(unmarked, planned):
    plan = planned(INIT)
    [proposed] = check(plan).works.values()
    assert proposed.known.hits["family_name"] == 40
    other = propose_notes(planned(f"init = {{ {LEARNING} }}"), "notes")
    kit = open_kit(plan, "notes", force=False, progress=silent, work=other)
    assert kit.facts["start"]["met"] == {}, "proposed again"
    assert check(plan).works == {}


@pytest.mark.parametrize("lists", ['["birds=birds.txt"]', '[{ birds = "birds.txt" }]'])
def test_lists_lie_beside_the_plan_and_a_changed_one_makes_the_kit_again(unmarked, planned, lists):
    (unmarked / "birds.txt").write_text("Quillfeather\n")
    plan, place = planned(FIT.replace("{ source", f"{{ lists = {lists}, source")), unmarked
    made(plan)
    inode = (place / "study.notes.kit").stat().st_ino
    made(plan)
    assert (place / "study.notes.kit").stat().st_ino == inode
    (unmarked / "birds.txt").write_text("Ptarmigan\n")
    made(plan)
    assert (place / "study.notes.kit").stat().st_ino != inode


def test_what_the_study_did_not_make_is_replaced_on_demand_alone(unmarked, planned):
    plan, place = planned(INIT), unmarked / "study.notes.kit"
    shutil.copytree(unmarked / "notes.kit", place)
    with pytest.raises(RequestError, match="exists"):
        made(plan)
    shutil.rmtree(place)
    first = made(plan)
    (unmarked / "study.notes.kit.json").unlink()  # as after a kill before it was remembered
    with pytest.raises(RequestError, match="exists"):
        made(plan)
    assert made(plan, force=True).id == first.id
    (place / "review.json").write_text("{}")
    with pytest.raises(RequestError, match="which voile did not write"):
        made(planned(INIT.replace("[5.0]", "[9.0]")))
    assert (place / "review.json").exists()


@pytest.mark.parametrize("line", [INIT, FIT])
def test_a_kit_of_a_run_that_was_killed_is_made_again_unasked(unmarked, planned, line, monkeypatch):
    def killed(path, text, *what, **how):
        if json.loads(text)["from"] is not None:
            raise KeyboardInterrupt
        write_text(path, text, *what, **how)

    plan, place = planned(line), unmarked / "study.notes.kit"
    with monkeypatch.context() as patch:
        patch.setattr(notes_kit, "write_text", killed)
        with pytest.raises(KeyboardInterrupt):
            made(plan)
    assert place.exists()
    inode = place.stat().st_ino
    made(plan)
    assert place.stat().st_ino != inode, "taken for what the plan says"


def test_an_error_leaves_the_kit_and_what_is_remembered_of_it(unmarked, planned):
    made(planned(FIT))
    inode = (unmarked / "study.notes.kit").stat().st_ino
    with pytest.raises(RequestError, match="nonsense"):
        made(planned(FIT.replace("{ source", "{ nonsense = 1, source")))
    made(planned(FIT))
    assert (unmarked / "study.notes.kit").stat().st_ino == inode, "made again"


def test_the_record_holds_a_hash_for_its_owner_alone(unmarked, planned):
    made(planned(INIT))
    record = unmarked / "study.notes.kit.json"
    assert record.stat().st_mode & 0o777 == 0o600
    assert {*json.loads(record.read_text())} == {"format", "from"}
    assert (unmarked / "study.notes.kit").stat().st_mode & 0o777 == 0o700


@pytest.mark.parametrize(
    ("line", "says"),
    [
        ("", "give its kit, or how to make one"),
        (f"{KIT}\n{INIT}", "give its kit, or how to make one"),
        (f"{INIT}\n{FIT}", "give its kit, or how to make one"),
        ('fit = { roles = "marked.toml" }', "fit takes a source of annotated notes"),
    ],
)
def test_a_part_has_one_kit(unmarked, planned, line, says):
    with pytest.raises(RequestError, match=says):
        planned(line)


@pytest.mark.parametrize(
    ("line", "says"),
    [
        ('init = { knwon = "known.csv" }', r"parts\.notes\.init"),
        ('init = { known = "nowhere.csv" }', "nowhere.csv"),
        ('init = { known = "known.csv", by = "whom" }', "whom"),
        ('fit = { source = "nowhere.parquet" }', "nowhere.parquet"),
        (f'fit = {{ source = "notes.parquet", text = "note", {LEARNING} }}', "annotat|identifier"),
    ],
)
def test_wrong_options_leave_no_kit(unmarked, planned, line, says):
    with pytest.raises(RequestError, match=says):
        made(planned(line))
    assert not list(unmarked.glob("*study.notes*"))


def test_an_export_is_released_with_a_kit_made_from_its_own_names(tmp_path, capsys):
    clinic = make_clinic(4, 60)
    (tmp_path / "export").mkdir()
    write_fhir(clinic, tmp_path / "export")
    pq.write_table(clinic.population, tmp_path / "population.parquet")
    (tmp_path / "people.toml").write_text(roles_of(dict.fromkeys(QUASI, "quasi")))
    write_key(tmp_path)
    plan = EXPORT_PLAN.replace("FORM", "fhir").replace('ZIP = "zip"\n', f"{CODES}\n")
    plan = plan.replace('DATE = "shift"\nDOB = "drop"', 'DATE = "drop"')
    plan = plan.replace(KIT, f'init = {{ known = "export:known", {LEARNING} }}')
    (tmp_path / "study.toml").write_text(plan)
    study = Study.open(tmp_path / "study.toml")
    kit = study.fit()
    assert kit.facts["leaks"]["joint_at_recall"]["name"] == 1.0  # nobody checked what it finds
    assert kit.facts["leaks"]["joint"]["name"] == 0.0
    inode = (tmp_path / "study.notes.kit").stat().st_ino
    study.fit(force=True)
    assert (tmp_path / "study.notes.kit").stat().st_ino == inode, "made again"
    with pytest.raises(RequestError):
        UnmarkedWork.open(tmp_path / "study.notes.kit")  # the notes lie in the export
    check_reviewed(study.plan._path)
    assert run(["study", "apply", str(study.plan._path), "--allow-set-aside"]) == 0
    assert [check.says for check in study.verify() if check.holds is False] == []
    said = capsys.readouterr().err
    assert "and the most revealing 2 facts of diagnoses: " in said
    assert "with all names hidden" in said
    assert "with no name hidden" in said
    assert "at the recall" not in said
    release = StudyRelease.open(study.plan.release)
    assert release.unaccepted_parts == ["notes"]
    figures = release.public["figures"]
    assert figures["joint_mean_risk"] < figures["joint_at_recall_mean_risk"] == 1.0
    page = study.report(tmp_path / "report.html").read_text()
    assert "Waits for voile study accept: notes." in page
    waiting = [
        one.says
        for measure in CRITERIA
        for one in measure.read_measurements(release.public, (), "largest")
        if "it waits for voile study accept of notes" in one.says
    ]
    assert len(waiting) == 2
    check_accepted(study, tmp_path)
    notes = pq.read_table(tmp_path / "study.release" / "notes.parquet")["note"].to_pylist()
    assert notes
    lines = (tmp_path / "export" / "Patient.ndjson").read_text().splitlines()
    families = {one["family"] for x in lines for one in json.loads(x)["name"]}
    words = {word for text in notes for word in text.replace(",", " ").replace(".", " ").split()}
    assert families
    assert not families & words
    codes = {x.as_py() for x in clinic.population["zip"]}
    said = {x for text in notes for x in re.findall(r"(?<![\d-])\d{5}(?![\d-])", text)}
    shown = pq.read_table(tmp_path / "study.release" / "people.parquet")["zip"].to_pylist()
    assert not (codes & said) - {*shown}  # as the rows show them
    assert not list(tmp_path.glob(".study.kit.export/*"))


def test_a_plan_may_follow_ages_that_no_note_mentions(unmarked, change):
    notes = pq.read_table(unmarked / "notes.parquet")
    words = "Mrs. Quillfeather was there, and she was well again after some days of rest at home."
    said = pa.array([words] * len(notes))
    pq.write_table(notes.set_column(1, "note", said), unmarked / "notes.parquet")
    plan = change((KIT, INIT), ('ZIP = "zip"\n', ""), ('DOB = "drop"\n', "")).plan
    assert "AGE" in plan.mentions
    assert "AGE" not in made(plan).facts["labels"]
    assert Study.open(plan._path).fit(force=True)


def check_accepted(study, folder):
    """Read the release: the proved limit takes the place of the two figures."""
    assert accept(study, see_seeded).code == 0
    release = StudyRelease.open(study.plan.release)
    assert release.unaccepted_parts == []
    most = release.public["parts"]["notes"]["acceptance"]["share_of_subjects_at_most"]
    figures = release.public["figures"]
    assert figures["named_in_text"] == pytest.approx(most, abs=0.01)
    assert figures["joint_mean_risk"] < figures["joint_at_recall_mean_risk"] < 1
    page = study.report(folder / "report.html", force=True).read_text()
    assert "Waits for" not in page
    assert "At the proved limit" in page
    assert [check.says for check in study.verify() if check.holds is False] == []


def check_reviewed(plan):
    """Review an export's notes until somebody interrupts it."""
    words = [sys.executable, "-m", "voile", "study", "review", str(plan), "--no-browser"]
    with subprocess.Popen(words, stderr=subprocess.PIPE, text=True) as page:
        said = ""
        while "http://127.0.0.1:" not in said:
            line = page.stderr.readline()
            assert line, said
            said += line
        assert list(plan.parent.glob(".study.kit.export/tables/notes.parquet"))
        page.send_signal(signal.SIGINT)
        _, rest = page.communicate(timeout=60)
    assert page.returncode == 0, said + rest
    assert "no line was read" in rest
    assert not list(plan.parent.glob(".study.kit.export*"))


def test_a_review_is_followed_by_commands_of_the_study(planned):
    plan = planned(FIT)
    own = str(plan.path)
    after = f"voile study fit {own} and voile study apply {own}"
    found = next_commands(plan, "notes")
    assert found == {"again": f"voile study review {own} --part notes", "after": after}
    assert next_commands(plan, None)["again"] == f"voile study review {own}"


@pytest.mark.parametrize("name", [None, "notes", "visits", "nowhere"])
def test_a_review_is_of_a_part_whose_kit_is_made_of_unmarked_notes(planned, name):
    with pytest.raises(RequestError, match="a review is of one part") as caught:
        review(planned(FIT), name, ReviewOptions(), None)
    assert "no part has an init" in str(caught.value)
