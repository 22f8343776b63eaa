"""A plan is read whole: every mistake is named at once, each with its place."""

from __future__ import annotations

from datetime import date

import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from tests.study.made import PLAN, roles_of

from voile.cli.run import run
from voile.core.errors import RequestError
from voile.signals.options import FitOptions
from voile.study import Study
from voile.study.plan.part_roles import extract_of
from voile.study.plan.plan import StudyPlan


@pytest.mark.parametrize(
    ("old", "new", "said"),
    [
        ("max_relative_risk = 0.2", "k = 5", "promise: choose by exactly one of"),
        (
            "max_relative_risk = 0.2",
            "knee = true\nmax_loss = 1",
            "promise: choose by exactly one of",
        ),
        ("[parts.visits]", '[parts."vi sits"]', "parts.vi sits: name it in letters"),
        (
            "[parts.visits]",
            "[parts.days]",
            "parts.days: the study has something of its own by that name",
        ),
        (
            'source = "notes.parquet"',
            'of = "visits"',
            "parts.notes.documents: give both: of = a part",
        ),
        (
            'kit = "notes.kit"',
            'kit = "notes.kit"\nout = "visits.parquet"',
            "parts.notes: another part is released as visits.parquet, too: give it another out",
        ),
        (
            'kit = "notes.kit"',
            'kit = "notes.kit"\nout = "../notes.parquet"',
            "parts.notes.out: name a file of the release, without a folder",
        ),
        (
            'source = "notes.parquet"',
            'of = "visits"\ntext = "remark"\nout = "notes.parquet"',
            "parts.notes.out: it is released in the rows of visits: take it out",
        ),
        ('kind = "tables"', 'kind = "pictures"', "parts.visits"),
        ('AGE = "age"', "AGE = { keep = true }", "mentions.AGE: name the column"),
        (
            "choose = { max_relative_risk = 0.05 }",
            "choose = { max_risky = 1 }",
            "choose: max_risky: is not known here",
        ),
        (
            "choose = { max_relative_risk = 0.05 }",
            "apply = { date_shift_days = 90 }",
            "a study has one offset for each person, of up to 30 days",
        ),
        (
            "choose = { max_relative_risk = 0.05 }",
            "apply = { keep_order = true }",
            "parts.notes.apply.keep_order: the study decides it for all parts",
        ),
        (
            'source = "notes.parquet"',
            'of = "visits"\ntext = "remark"\napply = { text = ["note"] }',
            "parts.notes.apply.text: the study decides it for all parts",
        ),
        (
            'kind = "documents"',
            'kind = "document"',
            "parts.notes: must have a 'kind' of 'tables', 'itemsets', 'signals', 'documents'",
        ),
        ('kind = "documents"', "", "parts.notes: has no 'kind'"),
        (
            "date_shift_days = 30",
            'date_shift_days = 6\ndates = "weeks"',
            "study.date_shift_days: whole weeks take 7 days or more",
        ),
        (
            'roles = "visits.toml"',
            'roles = "visits.toml"\nchoose = { knee = true }',
            "parts.visits.choose: the promise says how its policy is picked",
        ),
    ],
)
def test_a_mistake_is_one_sentence(change, old, new, said):
    with pytest.raises(RequestError, match=r"study\.toml: ") as error:
        change((old, new))
    assert said in str(error.value)


def test_each_way_to_choose_is_named_once(change):
    with pytest.raises(RequestError) as error:
        change(("max_relative_risk = 0.2", "k = 5"))
    ways = str(error.value).partition("exactly one of ")[2].split(", ")
    assert ways.count("joint_risk") == 1


def test_all_mistakes_are_said_at_once(change):
    with pytest.raises(RequestError) as error:
        change(("date_shift_days = 30", "date_shift_days = 0"), ("seed = 1", "sed = 1"))
    assert "study.date_shift_days" in str(error.value)
    assert "study.sed: is not known here" in str(error.value)


@pytest.mark.parametrize(
    ("pairs", "said"),
    [
        (
            [('AGE = "age"', 'HEIGHT = "age"')],
            "mentions names HEIGHT, which the kit of parts.notes",
        ),
        (
            [('AGE = "age"', 'AGE = "ward"'), ('ZIP = "zip"', 'ZIP = "place"')],
            "mentions.AGE follows column ward, which is not quasi; "
            "mentions.ZIP follows column place, which is not quasi",
        ),
        ([('"person_id"', '"patient"')], "its subject is person_id, and the study's is patient"),
        ([("choose = { max_relative_risk = 0.05 }", "")], "no policy of its kit is chosen"),
        (
            [("max_relative_risk = 0.2", "joint_risk = 0")],
            "no policy has a joint risk of at most 0",
        ),
    ],
)
def test_parts_that_do_not_fit_are_refused_before_anything_is_written(change, folder, pairs, said):
    study = change(*pairs)
    (folder / "study.kit").rename(folder / "old.kit")
    with pytest.raises(RequestError) as error:
        study.fit()
    assert said in str(error.value)
    assert not (folder / "study.kit").exists()


def test_another_offset_in_the_roles_is_refused(change, folder):
    roles = (folder / "visits.toml").read_text()
    moved = 'visit_date = { role = "keep", date_shift_days = 365 } #'
    (folder / "visits.toml").write_text(roles.replace('visit_date = "keep"', moved))
    with pytest.raises(RequestError, match="column visit_date moves by up to 365 days"):
        change().fit(force=True)


def test_a_birth_date_never_moves_beside_a_visit(change, folder):
    roles = (folder / "visits.toml").read_text()
    (folder / "visits.toml").write_text(
        roles.replace('birth_date = "identifier"', 'birth_date = "keep"')
    )
    with pytest.raises(RequestError, match="column birth_date is a birth date"):
        change().fit(force=True)


def test_a_kit_of_another_plan_is_refused(change):
    study = change(("date_shift_days = 30", "date_shift_days = 60"))
    with pytest.raises(RequestError, match="the kit was fitted under another plan"):
        study.apply()


def test_where_outputs_go_is_not_part_of_what_is_released(change, folder):
    study = change(("seed = 1", 'seed = 1\nrelease = "elsewhere"'))
    assert study.apply().path == folder / "elsewhere"


def test_a_secret_is_needed(change, monkeypatch):
    monkeypatch.delenv("VOILE_SECRET", raising=False)
    with pytest.raises(RequestError, match="a study needs a secret"):
        change(('key_file = "study.key"\n', "")).apply()


def test_no_plan():
    with pytest.raises(RequestError, match="no such plan"):
        Study.open("nowhere/study.toml")


@pytest.mark.parametrize(
    ("given", "opened"),
    [
        ("visits.parquet", "FOLDER/visits.parquet"),
        ("/elsewhere/visits.parquet", "/elsewhere/visits.parquet"),
        ("brat:notes", "brat:FOLDER/notes"),
        ("spark:clinic.visits", "spark:clinic.visits"),
        ("service=county::visits", "service=county::visits"),
        ("postgresql://host/county::visits", "postgresql://host/county::visits"),
    ],
)
def test_a_source_is_an_address_or_lies_beside_the_plan(change, folder, given, opened):
    assert change().plan.source(given) == opened.replace("FOLDER", str(folder))


def test_a_missing_key_file_is_noticed_before_anything_is_fitted(change, folder):
    (folder / "study.key").unlink()
    (folder / "visits.parquet").unlink()
    with pytest.raises(RequestError, match=r"study\.key"):
        change().fit(force=True)


def test_forcing_is_said_in_the_words_of_the_command(cohort, release, capsys):
    assert run(["study", "apply", str(cohort / "study.toml")]) == 2
    said = capsys.readouterr().err
    assert "--force" in said
    assert "with force" not in said


@pytest.mark.parametrize("never", [date(9999, 12, 31), date(1, 1, 1)])
def test_the_extract_is_that_of_days_that_move(tmp_path, never):
    days = [date(2012, 2, 29), date(2013, 5, 1)]
    table = pa.table({"person_id": ["a", "b", "c", "d"], "visit": [*days, None, never]})
    pq.write_table(table, tmp_path / "visits.parquet")
    (tmp_path / "visits.toml").write_text(roles_of({"visit": "keep"}))
    (tmp_path / "study.toml").write_text(PLAN)
    plan = StudyPlan.read_file(tmp_path / "study.toml")
    assert extract_of(plan, {"visits": plan.open_part("visits")}) == tuple(days)


def test_a_removed_option_of_a_part_names_its_replacement(change):
    pulses = '[parts.pulses]\nkind = "signals"\nsource = "visits.parquet"\nroles = "visits.toml"\n'
    plan = change(("[parts.visits]", f"{pulses}\n[parts.visits]")).plan
    with pytest.raises(RequestError) as failed:
        plan.options(FitOptions, "pulses", "fit", {"epsilon": 1})
    assert str(failed.value).endswith(
        "study.toml: parts.pulses.fit: `epsilon` of `voile.signals.fit` was removed in 0.2.0; "
        "leave it out, and give the kit to its devices and its recipient alone"
    )
