"""The joint attack and verify, from the command line and from Python."""

from __future__ import annotations

import json
import shutil

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from voile.cli.run import run
from voile.core.errors import RequestError
from voile.demo.county import make_county
from voile.study import Study
from voile.study.readers.sexes import SEXES
from voile.study.verbs.attack import _StudyAdversary


@pytest.fixture(scope="session")
def register(tmp_path_factory):
    path = tmp_path_factory.mktemp("register") / "register.parquet"
    pq.write_table(make_county(people=4000).register, path)
    return path


@pytest.fixture
def done(cohort, release, tmp_path):
    """A copy of the folder in which the study was applied."""
    return Study.open(shutil.copytree(cohort, tmp_path / "done") / "study.toml")


def test_the_notes_add_nothing_to_what_the_table_reveals(cohort, release, register):
    """The table's figure is counted anew, by what a recipient has, and is the fit's to 9 digits."""
    found = Study.open(cohort / "study.toml").attack(register).linked
    assert found.people == release.private["figures"]["subjects"]
    assert found.table == pytest.approx(release.private["figures"]["table"], rel=1e-9)
    assert found.joint == pytest.approx(found.table)


def test_a_register_with_every_entry_twice_links_as_many(cohort, release, register):
    once = pq.read_table(register)
    study = Study.open(cohort / "study.toml")
    assert study.attack(pa.concat_tables([once, once])).linked == study.attack(once).linked


def test_notes_with_ages_as_they_are_reveal_more_beside_the_table(change, register):
    """Each wing alone protects; together they do not: the reason for a study."""
    study = change(
        ('AGE = "age"\nZIP = "zip"\nDATE = "shift"\nDOB = "drop"\n', ""),
        ("0.05 }", '0.05 }\napply = { replace = "surrogate" }'),
    )
    study.fit(force=True)
    study.apply()
    found = study.attack(register).linked
    assert found.joint > 1.2 * found.table


@pytest.mark.parametrize(
    ("text", "ages"),
    [
        ("a 47-year-old from", {"47"}),
        ("aged 47 , asthma", {"47"}),
        ("is forty-seven years old", {"47"}),
        ("a 40-49-year-old", set()),
        ("aged 40 to 49 , asthma", set()),
        ("( 40 to 49 years )", set()),
        ("a stay of 47 days", set()),
        ("turned 18 in May", {"18"}),
        ("on the 90th birthday", {"90"}),
    ],
)
def test_which_ages_the_adversary_reads(cohort, release, register, text, ages):
    adversary = _StudyAdversary(release, "visits", *_opened(register))
    said = [cells for column, cells in adversary._says(text) if column == "age"]
    assert {cell for [cell] in said} == ages


def test_ages_of_several_years_leave_the_people_of_any(release, register):
    """The texts of a person are of years: who holds them too never knows less than by the rows."""
    adversary = _StudyAdversary(release, "visits", *_opened(register))
    ages = np.array(adversary._cells["age"])
    left = np.isin(ages, ["44", "45", "46"])
    for said, found in {
        ("44", "45"): ["44", "45"],
        ("45",): ["45"],
        (): ["44", "45", "46"],
        ("90",): ["44", "45", "46"],
    }.items():
        own = [("age", (one,)) for one in said]
        assert (adversary._narrow_entries(left, own) == np.isin(ages, found)).all()
    decade = ("age", tuple(str(n) for n in range(40, 50)))
    assert (adversary._narrow_entries(left, [decade, ("age", ("45",))]) == (ages == "45")).all()


def test_a_pronoun_says_the_sex_unless_both_are_said(release, register):
    adversary = _StudyAdversary(release, "visits", *_opened(register))
    said = [sorted(adversary._says(text)) for text in ("She ran .", "He ran .", "She saw him .")]
    assert said == [[("sex", ("F",))], [("sex", ("M",))], []]
    assert SEXES.keys() == {"f", "m"}


def _opened(register):
    from voile.data import open_source

    return open_source(register), "person_id"


def test_what_the_release_was_not_made_of_is_not_attacked(done):
    folder = done.plan.release.parent
    plan, notes = folder / "study.toml", folder / "notes.parquet"
    text = plan.read_text()
    plan.write_text(text.replace("[parts.notes]", "[parts.letters]"))
    with pytest.raises(RequestError, match="has other parts than the plan"):
        Study.open(plan).attack()
    plan.write_text(text)
    pq.write_table(pq.read_table(notes).slice(1), notes)
    with pytest.raises(RequestError, match="and the release was made of"):
        Study.open(plan).attack()


def test_without_pseudonyms_there_is_no_joint_attack(change, register):
    study = change(("seed = 1", "seed = 1\njoin = false"))
    study.fit(force=True)
    study.apply()
    with pytest.raises(RequestError, match="needs a pseudonym in every part"):
        study.attack(register)


def test_a_release_as_it_was_written_verifies(done):
    checks = done.verify()
    assert {holds for _, holds in checks} <= {True, None}
    assert any("no rows" not in says and says.startswith("visits: every") for says, _ in checks)


@pytest.mark.parametrize("file", ["manifest.json", "notes.parquet", "visits.parquet"])
def test_a_changed_file_is_noticed(done, file):
    path = done.plan.release / file
    if path.suffix == ".json":
        public = json.loads(path.read_text())
        path.write_text(json.dumps({**public, "figures": {}}, indent=1, sort_keys=True))
    else:
        pq.write_table(pq.read_table(path).slice(1), path)
    assert any(holds is False for _, holds in done.verify())


def test_a_file_that_nobody_wrote_is_noticed(done):
    (done.plan.release / "more.csv").write_text("a\n1\n")
    assert any(holds is False and "more.csv" in says for says, holds in done.verify())


def test_from_the_command_line(done, register, capsys):
    plan = str(done.plan.release.parent / "study.toml")
    assert run(["study", "frontier", plan, "--json"]) == 0
    policies = json.loads(capsys.readouterr().out)["policies"]
    assert pa.Table.from_pylist(policies).column_names[:2] == ["number", "loss"]
    assert all(one["table"] <= one["joint_at_recall"] + 1e-9 for one in policies)
    assert run(["study", "attack", plan, "--register", str(register), "--json"]) == 0
    assert json.loads(capsys.readouterr().out)["linked"]["people"] > 0
    assert run(["study", "verify", plan, "--json"]) == 0
    assert json.loads(capsys.readouterr().out)["ok"]
    assert run(["study", "apply", plan]) == 2
    assert "exists already" in capsys.readouterr().err
    assert run(["study", "apply", plan, "--force", "--json"]) == 0
    assert json.loads(capsys.readouterr().out)["figures"]["subjects"] > 0
    assert run(["study", "fit", plan, "--force", "--json"]) == 0
    assert "joint_at_recall" in json.loads(capsys.readouterr().out)["figures"]
