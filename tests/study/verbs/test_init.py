"""The plan that init writes for what it finds: it can be read, and says why."""

from __future__ import annotations

import tomllib
from contextlib import suppress
from datetime import date
from pathlib import Path

import pyarrow as pa
import pyarrow.csv
import pyarrow.parquet
import pytest

from voile.core.errors import RequestError
from voile.data.roles import Roles
from voile.demo.clinic import AS_OF, TRAINING_ROLES, make_clinic, make_training
from voile.demo.fhir import write_fhir
from voile.demo.omop import write_omop
from voile.documents.replacements.names import builtin_names
from voile.study import Study
from voile.study.plan.plan import StudyPlan
from voile.study.verbs.init import init


@pytest.fixture(scope="module")
def clinic():
    return make_clinic(3, 40)


@pytest.mark.parametrize(("form", "write"), [("fhir", write_fhir), ("omop", write_omop)])
def test_an_export_is_known_by_its_files_and_every_choice_has_its_reason(
    clinic, tmp_path, form, write
):
    (tmp_path / "export").mkdir()
    write(clinic, tmp_path / "export")
    pyarrow.parquet.write_table(clinic.population, tmp_path / "all.parquet")
    asked = {"population": str(tmp_path / "all.parquet"), "as_of": AS_OF}
    made = init(str(tmp_path / "export"), tmp_path / "study.toml", **asked)
    plan = StudyPlan.read_file(made.plan)
    assert plan.export.form == form
    assert plan.export.as_of == AS_OF
    assert plan.parts["people"].source == "export:people"
    assert plan.mentions["SEX"].keep
    assert (plan.place(plan.parts["people"].roles),) == made.roles
    assert Roles.read(made.roles[0]).of("quasi") == ["age", "sex", "race", "zip"]
    assert made.key.stat().st_mode & 0o777 == 0o600
    starts = ("subject", "as_of", "form", "fit")
    chosen = [line for line in made.plan.read_text().splitlines() if line.startswith(starts)]
    assert len(chosen) == len(starts)
    assert all("  # " in line for line in chosen)


def test_the_day_of_ages_may_be_said(clinic, tmp_path):
    (tmp_path / "export").mkdir()
    write_fhir(clinic, tmp_path / "export")
    made = init(str(tmp_path / "export"), tmp_path / "study.toml", as_of=date(2013, 7, 1))
    assert StudyPlan.read_file(made.plan).export.as_of == date(2013, 7, 1)
    with pytest.raises(RequestError, match="exists"):
        init(str(tmp_path / "export"), tmp_path / "study.toml")
    key = made.plan.with_suffix(".key").read_bytes()
    assert init(str(tmp_path / "export"), tmp_path / "study.toml", force=True).key is None
    assert made.plan.with_suffix(".key").read_bytes() == key
    made.plan.write_text("mine = 1")
    with pytest.raises(RequestError, match="exists"):
        init(str(tmp_path / "export"), tmp_path / "study.toml", force=True)


def write(folder, **tables):
    folder.mkdir()
    for name, columns in tables.items():
        pyarrow.csv.write_csv(pa.table(columns), folder / f"{name}.csv")


def test_what_an_export_knows_is_looked_for_in_its_notes(clinic, tmp_path):
    (tmp_path / "export").mkdir()
    write_fhir(clinic, tmp_path / "export")
    (tmp_path / "export" / "Practitioner.ndjson").write_text(
        '{"resourceType": "Practitioner", "name": [{"family": "Cutter"}]}'
    )
    for name, column in (("own", "person_id"), ("staff", "doctor")):
        pyarrow.csv.write_csv(pa.table({column: ["P1"]}), tmp_path / f"{name}.csv")
    asked = {"known": [str(tmp_path / "own.csv")], "known_people": [str(tmp_path / "staff.csv")]}
    made = init(str(tmp_path / "export"), tmp_path / "study.toml", **asked)
    plan = StudyPlan.read_file(made.plan)
    assert plan.export.drop == ("Practitioner",)  # there is no rule for it, and fit would stop
    assert plan.parts["notes"].init == {
        "known": ["export:known", "own.csv"],
        "by": "person_id",
        "known_people": ["export:staff", "staff.csv"],
    }
    assert str(plan.mentions["ZIP"].words) == "export:zip_codes"
    said = made.plan.read_text()
    assert "given_name, family_name, birth_date, phone, record_number, street, zip_code" in said
    assert "Cutter" not in said


NOTE = "Seen by Dr. Ada Quill on the ward on 2013-05-02, and called back at 212-555-0117 at home."


def test_files_with_a_common_column_are_a_table_and_notes(tmp_path):
    people = [f"P{n}" for n in range(40)]
    write(
        tmp_path / "data",
        visits={"patient_id": people, "age": [*range(40)], "sex": ["F", "M"] * 20},
        letters={"patient_id": people, "letter": [NOTE] * 40},
    )
    made = init(str(tmp_path / "data"), tmp_path / "study.toml")
    plan = StudyPlan.read_file(made.plan)
    assert plan.study.subject == "patient_id"
    assert {name: part.kind for name, part in plan.parts.items()} == {
        "visits": "tables",
        "letters": "documents",
    }
    assert plan.source(plan.parts["letters"].source) == str(tmp_path / "data" / "letters.csv")
    assert tomllib.loads(made.plan.read_text())["mentions"]["AGE"] == "age"


def test_columns_of_names_and_numbers_of_a_folder_are_looked_for_in_its_notes(tmp_path):
    people = [f"P{n}" for n in range(40)]
    write(
        tmp_path / "data",
        patients={
            "patient_id": people,
            "surname": [f"Quill{chr(97 + n % 26)}" for n in range(40)],
            "phone": [f"212-555-01{n:02}" for n in range(40)],
            "birth_date": [f"19{60 + n % 30}-03-04" for n in range(40)],
        },
        visits={
            "patient_id": people,
            "sex": ["F", "M"] * 20,
            "age": [*range(40)],
            "admission_date": [f"2013-05-{1 + n % 28:02}" for n in range(40)],
        },
        letters={"patient_id": people, "letter": [NOTE] * 40},
    )
    made = init(str(tmp_path / "data"), tmp_path / "study.toml")
    how = StudyPlan.read_file(made.plan).parts["letters"].init
    assert how["known"] == "data/patients.csv"
    assert how["by"] == "patient_id"
    said = next(x for x in made.plan.read_text().splitlines() if x.startswith("# surname"))
    assert "surname (name), phone (phone), birth_date (date)" in said
    assert "known_kind" not in how
    assert "undecided" not in {
        c.role for one in made.roles for c in Roles.read(one).columns.values()
    }


def test_a_table_with_a_column_of_notes_is_a_table_and_notes_in_its_rows(tmp_path):
    people = [f"P{n}" for n in range(40)]
    days = [f"2013-05-{1 + n % 28:02}" for n in range(40)]
    write(
        tmp_path / "data",
        labs={
            "patient_id": people,
            "code": ["a", "b"] * 20,
            "ward": ["x", "y"] * 20,
            "n": [1] * 40,
        },
        visits={
            "patient_id": people,
            "age": [*range(40)],
            "zip": [f"002{n}" for n in range(10, 50)],
            "seen": days,
            "left": [f"{one[8:]}.05.2013" for one in days],
            "remark": [NOTE] * 40,
        },
    )
    counted = {"age": [*range(40)], "zip": [f"002{n}" for n in range(10, 50)], "people": [9] * 40}
    pyarrow.csv.write_csv(pa.table(counted), tmp_path / "population.csv")
    made = init(
        str(tmp_path / "data"),
        tmp_path / "study.toml",
        population=str(tmp_path / "population.csv"),
    )
    plan = StudyPlan.read_file(made.plan)
    assert plan.table[0] == "visits"  # the population counts it, though labs has more columns
    assert {name: part.of for name, part in plan.texts.items()} == {"remark": "visits"}
    roles = Roles.read(tmp_path / "visits.toml")
    assert {name: one.role for name, one in roles.columns.items()} == {
        "patient_id": "identifier",
        "age": "quasi",
        "zip": "quasi",
        "seen": "keep",  # it moves with its person
        "left": "drop",  # nothing can move it
        "remark": "text",
    }
    assert (plan.mentions["ZIP"].column, plan.mentions["ZIP"].values) == ("zip", True)


def test_each_file_with_the_subjects_is_a_part_with_its_own_roles(tmp_path):
    people = [f"P{n % 60}" for n in range(240)]
    ages, wards = [20 + n % 60 for n in range(240)], ["north", "south", "east"] * 80
    write(
        tmp_path / "data",
        persons={"patient_id": people, "age": ages, "sex": ["F", "M"] * 120},
        stays={"patient_id": people, "age": ages, "race": wards},
        lists={"code": ["a", "b"], "meaning": ["x", "y"]},
    )
    made = init(str(tmp_path / "data"), tmp_path / "study.toml")
    plan = StudyPlan.read_file(made.plan)
    assert [*plan.parts] == ["persons", "stays"]
    assert [one.name for one in made.roles] == ["persons.toml", "stays.toml"]
    assert (
        "# lists.csv (2 rows) is not in the study: it has no column patient_id"
        in made.plan.read_text()
    )
    first, second = map(Roles.read, made.roles)
    assert first.of("quasi") == ["age", "sex"]
    assert second.of("quasi") == ["race"]  # one column is not generalised by two policies
    assert second.columns["age"].role == "drop"
    assert {one.subject for one in (first, second)} == {"patient_id"}
    assert not plan.mentions
    study = Study.open(made.plan)
    study.fit()
    assert {*study.apply().counts} == {"persons", "stays"}


def test_notes_are_searched_for_what_a_table_holds_of_their_people(clinic, tmp_path):
    (tmp_path / "export").mkdir()
    write_omop(clinic, tmp_path / "export")
    table = {"person_id": [1, 2], "given_name": ["Ada", "Cora"], "family_name": ["Low", "Dean"]}
    write(tmp_path / "known", names=table, others={"id": [1]})
    names = tmp_path / "known" / "names.csv"
    place, out = str(tmp_path / "export"), tmp_path / "study.toml"
    made = init(place, out, known=[str(names)])
    plan = StudyPlan.read_file(made.plan)
    given = plan.texts["notes"].init
    assert (plan.source(given["known"][1]), given["by"]) == (str(names), "person_id")
    assert given["known"][0] == "export:known"
    assert not plan.mentions["DATE"].shift
    with pytest.raises(RequestError, match="no column person_id, which says whose a row is"):
        init(place, tmp_path / "b.toml", known=[str(names.with_name("others.csv"))])
    with pytest.raises(RequestError, match="--kit, --annotated and --known"):
        init(place, tmp_path / "b.toml", known=[str(names)], kit="notes.kit")
    assert not [*tmp_path.glob("b.*")]


def test_a_kit_is_fitted_on_annotated_notes_by_the_roles_beside_them(clinic, tmp_path):
    (tmp_path / "export").mkdir()
    write_fhir(clinic, tmp_path / "export")
    notes, place = tmp_path / "annotated.parquet", str(tmp_path / "export")
    pyarrow.parquet.write_table(make_training(1, 8), notes)
    notes.with_suffix(".toml").write_text(TRAINING_ROLES)
    plan = StudyPlan.read_file(init(place, tmp_path / "study.toml", annotated=str(notes)).plan)
    given = plan.texts["notes"].fit
    assert plan.source(given["source"]) == str(notes)
    assert plan.place(Path(given["roles"])) == notes.with_suffix(".toml")
    assert plan.mentions["DATE"].shift  # birth dates are marked apart
    assert plan.mentions["ZIP"].column == "zip"


def test_each_file_has_a_part_of_its_own(tmp_path):
    """Files of names that differ in no letter or digit, or that the study has for its own."""
    names = ("a b", "a-b", "a+b", "days")
    people = [f"P{n}" for n in range(30)]
    columns = {
        name: {"person_id": people, f"age_{n}": [*range(30)]} for n, name in enumerate(names)
    }
    write(tmp_path / "given", **columns)
    plan = StudyPlan.read_file(init(str(tmp_path / "given"), tmp_path / "study.toml").plan)
    assert {Path(part.source).stem for part in plan.parts.values()} == {*names}


def test_a_hostile_name_of_a_file_says_nothing_in_the_plan(tmp_path):
    people = [f"P{n}" for n in range(40)]
    hostile = 'a\n[parts.evil]\nkind = "tables'
    write(
        tmp_path / "data",
        visits={"patient_id": people, "age": [*range(40)], "sex": ["F", "M"] * 20},
        **{hostile: {"code": ["x"]}, f"{hostile}2": {"patient_id": people, "race": people}},
    )
    made = init(str(tmp_path / "data"), tmp_path / "study.toml")
    assert "evil" not in tomllib.loads(made.plan.read_text())["parts"]


def test_a_folder_without_tables_or_a_common_column_is_refused(tmp_path):
    (tmp_path / "empty").mkdir()
    with pytest.raises(RequestError, match="there is no table"):
        init(str(tmp_path / "empty"), tmp_path / "study.toml")
    write(tmp_path / "data", a={"patient_id": ["1"], "age": [1]}, b={"case": ["1"], "x": [1]})
    with pytest.raises(RequestError, match="no common column of subjects"):
        init(str(tmp_path / "data"), tmp_path / "study.toml")
    with pytest.raises(RequestError, match="there is no folder"):
        init(str(tmp_path / "nothing"), tmp_path / "study.toml")
    assert not (tmp_path / "study.toml").exists()


@pytest.mark.parametrize("name", ["study.toml", "people.toml", "study.key"])
def test_no_file_is_written_where_a_link_leads(clinic, tmp_path, name):
    (tmp_path / "export").mkdir()
    write_fhir(clinic, tmp_path / "export")
    (tmp_path / name).symlink_to(tmp_path / "elsewhere")
    with suppress(RequestError):
        init(str(tmp_path / "export"), tmp_path / "study.toml", force=True)
    assert not (tmp_path / "elsewhere").exists()
    assert (tmp_path / name).is_symlink()
    assert not list(tmp_path.glob(".*"))


VISITS = ("person_id,ward\n", [f"p{n},{'AB'[n % 2]}\n" for n in range(40) for _ in range(n % 23)])
PEOPLE = (
    "person_id,age,sex\n",
    [f"p{n},{40 + 10 * (n % 2)},{'fm'[n // 2 % 2]}\n" for n in range(40)],
)


def plan_files(tmp_path, **files):
    (tmp_path / "export").mkdir()
    for name, (head, rows) in files.items():
        (tmp_path / "export" / f"{name}.csv").write_text(head + "".join(rows))
    return init(str(tmp_path / "export"), tmp_path / "study.toml").plan


def run_study(plan):
    study = Study.open(plan)
    study.fit(force=True)
    return study.apply(force=True)


def test_by_default_the_number_of_rows_singles_nobody_out(tmp_path):
    plan = plan_files(tmp_path, people=PEOPLE, visits=VISITS)

    def count_alone():
        found = run_study(plan).private["informed"]
        return max(one["alone"] for one in found if one["facts"] is None)

    assert count_alone() == 0
    accepted = 'apply = { accept_risk = "the recipient links visits" }'
    lines = plan.read_text().splitlines()
    plan.write_text("\n".join(accepted if x.startswith("links") else x for x in lines))
    assert count_alone() > 0


def test_a_study_of_events_alone_has_no_pseudonyms_by_default(tmp_path):
    plan = plan_files(tmp_path, visits=VISITS)
    released = run_study(plan).path / "visits.csv"
    assert released.read_text().splitlines()[0] == "ward"


def test_days_over_lifetimes_are_taken_for_birth_dates_whatever_their_header(tmp_path):
    born = [f"p{n},{1930 + 2 * n}-03-0{1 + n % 9},{'fm'[n % 2]}\n" for n in range(40)]
    seen = [f"p{n},20{10 + n % 9}-03-01\n" for n in range(40)]
    plan = plan_files(
        tmp_path, people=("person_id,dz,sex\n", born), visits=("person_id,on\n", seen)
    )
    assert Roles.read(tmp_path / "people.toml").columns["dz"].role != "keep"
    assert Roles.read(tmp_path / "visits.toml").columns["on"].role == "keep"
    assert run_study(plan).private["informed"]


def test_a_failed_init_leaves_the_files_as_they_were(tmp_path):
    plan = plan_files(tmp_path, people=PEOPLE)
    paths = [*tmp_path.glob("*.toml"), *tmp_path.glob("*.key")]
    before = {path: path.read_bytes() for path in paths}
    with (tmp_path / "export" / "people.csv").open("a") as file:
        file.write(",50,f\n")
    for out in (plan, tmp_path / "other" / "plan.toml"):
        with pytest.raises(RequestError, match="1 row without person_id"):
            init(str(tmp_path / "export"), out, force=True)
    assert before == {path: path.read_bytes() for path in paths}
    assert not [*(tmp_path / "other").iterdir()]


def test_a_column_of_names_is_not_generalised_whatever_its_header(tmp_path):
    """Listed surnames are identifiers, rare ones are dropped; words and few values stay."""
    surnames = builtin_names("english").surnames[:29]
    rare = [f"{a}{b}".title() for a in ("bal", "cor", "dar", "quil", "zor") for b in ("vex", "mok")]
    bases = ("Balvex", "Corvex", "Dunmok", "Quilmok", "Zorvex")
    several = [f"{a}{mark}{b}" for a in bases for b in bases for mark in "- "]
    several[::3] = map(str.upper, several[::3])
    wards = ["Surgery", "Emergency", "Medicine", "Pharmacy", "Recovery", "Maternity", "Dental",
             "Nursing", "Laboratory", "Reception"]  # fmt: skip
    rows = [
        f"P{n:03},{20 + n % 50},{surnames[n % 29]},{rare[n % 10]},{wards[n % 10]},"
        f"{('White', 'Black', 'Brown')[n % 3]},{several[n % 50]},"
        f"{n % 140} {rare[n % 10]} Way,{rare[n % 10].lower()} {n % 170} days\n"
        for n in range(290)
    ]
    plan_files(tmp_path, people=("person_id,age,q1,q2,q3,q4,q5,residence,q6\n", rows))
    roles = Roles.read(tmp_path / "people.toml")
    assert {
        name: roles.columns[name].role for name in ("q1", "q2", "q3", "q4", "q5", "residence", "q6")
    } == {
        "q1": "identifier",
        "q2": "drop",
        "q3": "quasi",
        "q4": "quasi",
        "q5": "drop",
        "residence": "identifier",
        "q6": "drop",
    }


def test_an_export_whose_first_line_is_of_an_unknown_type_is_fhir(clinic, tmp_path):
    (tmp_path / "export").mkdir()
    write_fhir(clinic, tmp_path / "export")
    lines = [f'{{"resourceType": "X-Own_1", "id": "{n}"}}' for n in range(3)]
    for path in sorted((tmp_path / "export").iterdir()):
        lines += path.read_text().splitlines()
        path.unlink()
    (tmp_path / "export" / "all.ndjson").write_text("".join(f"{one}\n" for one in lines))
    made = init(str(tmp_path / "export"), tmp_path / "study.toml")
    plan = StudyPlan.read_file(made.plan)
    assert (plan.export.form, plan.export.drop) == ("fhir", ("X-Own_1",))
    assert "#   X-Own_1: 3 rows: no rule releases this type" in made.plan.read_text()


@pytest.mark.parametrize(
    ("age", "sex", "sexes"),
    [
        ("Age (years)", "M / F", "FM"),
        ("edad", "Sexo", "HM"),
        ("Alter", "g", ("w", "m")),
        ("AGE_YRS", "GENDER_CD", ("Female", "Male")),
    ],
)
def test_ages_and_sexes_in_notes_follow_their_columns_whatever_the_header(
    tmp_path, age, sex, sexes
):
    names = builtin_names("english").surnames[:80]
    rows = [{"pid": f"P{n}", age: 20 + n % 60, sex: sexes[n % 2]} for n in range(80)]
    said = [f"{name} is {20 + n % 60} years old and called on 212-555-{1000 + n} again today."
            for n, name in enumerate(names)]  # fmt: skip
    (tmp_path / "export").mkdir()
    notes = {"pid": [one["pid"] for one in rows], "note": said}
    pyarrow.csv.write_csv(pa.Table.from_pylist(rows), tmp_path / "export" / "people.csv")
    pyarrow.csv.write_csv(pa.table(notes), tmp_path / "export" / "notes.csv")
    plan = StudyPlan.read_file(init(str(tmp_path / "export"), tmp_path / "study.toml").plan)
    assert plan.mentions["AGE"].column == age
    assert (plan.mentions["SEX"].column, plan.mentions["SEX"].keep) == (sex, True)
    assert "keep_cuts" in plan.place("people.toml").read_text()


def test_bands_of_birth_years_are_written_in_the_form_of_the_days(tmp_path):
    rows = [{"pid": f"P{n}", "D.O.B.": f"{1 + n % 12:02}/28/{1930 + n}", "M / F": "FM"[n % 2]}
            for n in range(80)]  # fmt: skip
    said = [f"P{n} came on 2012-01-{1 + n % 28:02}, call 212-555-{1000 + n}, and left with a cough."
            for n in range(80)]  # fmt: skip
    (tmp_path / "export").mkdir()
    notes = {"pid": [one["pid"] for one in rows], "note": said}
    pyarrow.csv.write_csv(pa.Table.from_pylist(rows), tmp_path / "export" / "people.csv")
    pyarrow.csv.write_csv(pa.table(notes), tmp_path / "export" / "notes.csv")
    plan = StudyPlan.read_file(init(str(tmp_path / "export"), tmp_path / "study.toml").plan)
    own = Roles.read(plan.place("people.toml")).columns["D.O.B."]
    assert own.keep_cuts == ["01/01/1939", "01/01/1959", "01/01/1979", "01/01/1999"]
