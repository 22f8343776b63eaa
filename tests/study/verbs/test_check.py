"""What `study check` and `fit` refuse of a plan before anything is trained."""

from __future__ import annotations

import numpy as np
import pyarrow as pa
import pyarrow.csv
import pytest
from tests.study.made import roles_of, write_key

from voile.core.errors import InfeasibleError, RequestError
from voile.study import Study
from voile.study.verbs.init import init
from voile.tables.fitting.space import PolicySpace
from voile.tables.people.counts import CombinationCounts, Constraints
from voile.tables.people.population import from_sample
from voile.tables.scoring.losses import losses

PEOPLE = 40
PLAN = """\
[study]
subject = "person_id"
key_file = "study.key"
seed = 1

[promise]
least_loss = true
k = 5

[parts.people]
kind = "tables"
source = "people.csv"
roles = "people.toml"

[parts.stays]
kind = "tables"
source = "stays.csv"
roles = "stays.toml"
"""
NOTES = """
[parts.notes]
kind = "documents"
source = "notes.csv"
init = { text = "said" }
"""


@pytest.fixture
def folder(tmp_path):
    """A study of people and of events whose columns are all kept, some people with several."""
    who = [f"P{n}" for n in range(PEOPLE)]
    _write(tmp_path, "people", person_id=who, age=[*range(20, 60)], sex=["F", "M"] * 20)
    whose = [one for n, one in enumerate(who) for _ in range(n % 3)]
    _write(tmp_path, "stays", person_id=whose, unit=["dialysis"] * len(whose))
    _write(tmp_path, "notes", person_id=who, said=[""] * PEOPLE)
    (tmp_path / "people.toml").write_text(roles_of({"age": "quasi", "sex": "quasi"}))
    (tmp_path / "stays.toml").write_text(roles_of({"unit": "keep"}))
    (tmp_path / "study.toml").write_text(PLAN)
    write_key(tmp_path)
    return tmp_path


def _write(folder, name, **columns):
    pyarrow.csv.write_csv(pa.table(columns), folder / f"{name}.csv")


def test_a_table_of_kept_events_needs_no_quasi_identifier(folder):
    study = Study.open(folder / "study.toml")
    study.check()
    study.fit()
    release = study.apply()
    assert release.counts["stays"]["released"] == release.counts["stays"]["read"]
    released = pyarrow.csv.read_csv(release.path / "stays.csv")
    assert released.column_names == ["person_id", "unit"]
    assert {*released["unit"].to_pylist()} == {"dialysis"}
    assert not {*released["person_id"].to_pylist()} & {f"P{n}" for n in range(PEOPLE)}
    assert all(one.holds is not False for one in study.verify())
    page = study.report(folder / "report.html", internal=True).read_text()
    assert "This table generalises nothing" in page


def test_the_first_table_needs_a_quasi_identifier(folder):
    (folder / "people.toml").write_text(roles_of({"age": "keep", "sex": "keep"}))
    with pytest.raises(RequestError, match="no quasi-identifier is named"):
        Study.open(folder / "study.toml").check()


@pytest.mark.parametrize(
    ("old", "new", "error", "said"),
    [
        ("k = 5", "k = 41", InfeasibleError, "k is 41, and there are 40 subjects"),
        ('[parts.stays]\nkind = "tables"', '[parts.stays]\nkind = "tables"\nfit = { k = 27 }',
         InfeasibleError, "k is 27, and there are 26 subjects"),
        ('roles = "stays.toml"\n', f'roles = "stays.toml"\n{NOTES}', RequestError,
         "the notes are empty"),
        ("seed = 1", "seed = 1\ndate_shift_days = 0", RequestError, "date_shift_days"),
    ],
)  # fmt: skip
def test_counts_are_checked_before_training(folder, old, new, error, said):
    plan = folder / "study.toml"
    plan.write_text(PLAN.replace(old, new))
    for verb in ("check", "fit"):
        with pytest.raises(error, match=said):
            getattr(Study.open(plan), verb)()
    assert not [*folder.glob("*.kit*")]


def test_cuts_that_leave_too_few_people_are_refused_before_training(folder):
    ages = {"age": "quasi", "sex": "quasi"}
    kept = roles_of(ages).replace('age = "quasi"', 'age = { role = "quasi", keep_cuts = "all" }')
    (folder / "people.toml").write_text(kept)
    said = r"keeps the required cuts suppresses 100\.0% of subjects, and 0\.0% may be"
    with pytest.raises(InfeasibleError, match=said):
        Study.open(folder / "study.toml").check()


def test_a_part_of_other_people_is_refused(folder):
    _write(folder, "stays", person_id=["Q1", "Q2"], unit=["a", "b"])
    with pytest.raises(RequestError, match="nobody in it has a row of the table"):
        Study.open(folder / "study.toml").check()


@pytest.mark.parametrize(("people", "k"), [(2, 2), (4, 4), (5, 5), (13, 5)])
def test_init_proposes_the_largest_k_that_the_people_allow(tmp_path, people, k):
    (tmp_path / "export").mkdir()
    who = [f"P{n}" for n in range(people)]
    _write(tmp_path / "export", "people", patient_id=who, age=[30 + n for n in range(people)])
    made = init(str(tmp_path / "export"), tmp_path / "new" / "study.toml")
    study = Study.open(made.plan)
    assert study.plan.promise.k == k
    assert ("no larger k" in made.plan.read_text()) == (k < 5)
    study.fit()
    assert study.apply().counts["people"]["released"] == people


def test_one_person_is_too_few_and_nothing_is_written(tmp_path):
    (tmp_path / "export").mkdir()
    _write(tmp_path / "export", "people", patient_id=["P1", "P1"], age=[30, 31])
    with pytest.raises(InfeasibleError, match="there is 1 person, and a class has 2 or more"):
        init(str(tmp_path / "export"), tmp_path / "new" / "study.toml")
    assert not (tmp_path / "new").exists()


def test_the_column_of_people_may_have_any_header(tmp_path):
    (tmp_path / "export").mkdir()
    who = [f"u{n}" for n in range(30)]
    _write(tmp_path / "export", "a", x1=[30 + n for n in range(30)], zz9=who)
    _write(tmp_path / "export", "b", x2=["p", "q"] * 30, zz9=who * 2)
    made = init(str(tmp_path / "export"), tmp_path / "study.toml")
    assert Study.open(made.plan).plan.study.subject == "zz9"
    made = init(str(tmp_path / "export"), tmp_path / "asked.toml", subject="zz9", force=True)
    assert 'subject = "zz9"  # it was asked for' in made.plan.read_text()


def test_without_quasi_identifiers_one_group_holds_everybody():
    """The one policy of kept rows loses nothing, and its risk is that of everybody."""
    codes, people = np.zeros((1, 0), np.int32), np.array([8.0])
    counts = CombinationCounts((), codes, people, people, np.zeros((1, 0)))
    space = PolicySpace((), counts, Constraints(), from_sample(codes, people))
    policy = space.policy(space.top)
    assert (space.n_bits, space.evaluator.matches) == (0, 1.0)
    assert losses(counts, space.grouping(policy)) == dict.fromkeys(
        ("distribution", "resolution", "ncp"), 0.0
    )
