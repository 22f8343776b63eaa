"""The adversary is brought the release and her register, and scored by who people truly are."""

from __future__ import annotations

import json
import re
import shutil

import numpy as np
import pyarrow as pa
import pyarrow.csv
import pyarrow.parquet as pq
import pytest

from voile.core.errors import RequestError, TamperedError
from voile.core.evidence import Rate
from voile.core.progress import silent
from voile.data import open_source
from voile.data.roles import Roles
from voile.demo.county import ROLES, make_county, register_with_errors
from voile.release.choice import Choice
from voile.release.manifest import StoredRelease
from voile.report.wording import name_of
from voile.tables.fitting.fit import fit
from voile.tables.module import TABLES
from voile.tables.verbs.choose import choose
from voile.tables.verbs.options import ApplyOptions, AttackOptions, FitOptions
from voile.tables.verbs.scene import TablesScene

UNNAMED = ApplyOptions(no_pseudonyms=True)
KEEPING = re.sub(r'(insurance|ward|length_of_stay) = "drop"', r'\1 = "keep"', ROLES)

pytestmark = pytest.mark.filterwarnings(
    "ignore::voile.tables.policies.safe_harbor.SafeHarborWarning"
)


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    """A county of 3,000 people, its patients fitted with a tenth held out, and released twice."""
    folder = tmp_path_factory.mktemp("a county")
    county = make_county(people=3000)
    pq.write_table(county.register, folder / "register.parquet")
    pyarrow.csv.write_csv(county.register, folder / "register.csv")
    pq.write_table(register_with_errors(county.register, 1), folder / "wrong.parquet")
    pq.write_table(county.population, folder / "population.parquet")
    pyarrow.csv.write_csv(county.patients, folder / "patients.csv")
    pyarrow.csv.write_csv(pa.table({"age": [40], "people": [9]}), folder / "ages.csv")
    (folder / "roles.toml").write_text(KEEPING)
    options = FitOptions.model_validate(
        {"population": [str(folder / "population.parquet")], "hold_out": 0.2, "method": "steepest"}
    )
    source = open_source(folder / "patients.csv")
    roles = Roles.read(folder / "roles.toml")
    kit = fit(source, roles, options, seed=1, progress=silent)
    last = kit.facts["policies"] - 1
    for name, number in (("top", 0), ("bottom", last)):
        chosen = choose(kit, Choice(policy=number))
        out = folder / f"{name}.csv"
        TABLES.apply(kit, chosen, source, out, UNNAMED, force=False, progress=silent)
    return folder


def attacked(folder, name="bottom", *, truth="patients.csv", **options):
    for held in ("register", "control", "population"):
        if held in options:
            options[held] = str(folder / options[held])
    release, source = StoredRelease.open(folder / f"{name}.csv"), open_source(folder / truth)
    asked = AttackOptions.model_validate(options)
    return {e.attack: e for e in TABLES.attack(release, source, asked, seed=5, progress=silent)}


def finding(evidence, name):
    return next(f for f in evidence.findings if name_of(f, "internal").startswith(name))


def test_every_attack_answers_its_question(folder):
    found = attacked(folder, register="register.parquet", population="population.parquet")
    assert {name: e.heading for name, e in found.items()} == {
        "linkage": "linkability",
        "singling out": "singling out",
        "inference": "inference",
        "absences": "inference",
    }
    assert all(e.story for e in found.values())


def test_precision_without_errors_agrees_with_one_over_g(folder):
    found = attacked(folder, register="register.parquet")["linkage"]
    risk = StoredRelease.open(folder / "bottom.csv").private["figures"]["mean_risk"]
    low, high = finding(found, "correct claims, always claiming").rate.interval()
    assert low <= risk <= high
    claims = finding(found, "correct claims, always claiming").rate
    assert claims.trials == len(released_people(folder, "bottom"))
    assert finding(found, "claims on people not in the register").rate.trials == 0


def released_people(folder, name):
    private = StoredRelease.open(folder / f"{name}.csv").folder
    rows = pq.read_table(private / "rows.parquet")["row"].to_pylist()
    who = pyarrow.csv.read_csv(folder / "patients.csv")["person_id"].to_pylist()
    return {who[row] for row in rows}


def test_the_format_of_a_register_changes_nothing(folder):
    """Ages as text and as numbers, ZIP codes as text: who is found stays the same."""
    one, two = (attacked(folder, register=f"register.{end}") for end in ("csv", "parquet"))
    assert one == two


def test_a_wrong_register_finds_fewer(folder):
    right, wrong = (
        finding(attacked(folder, register=name)["linkage"], "correct claims, always").rate.value
        for name in ("register.parquet", "wrong.parquet")
    )
    assert wrong < right


def test_repeated_entries_of_a_register_count_as_one_person(folder):
    once = pq.read_table(folder / "register.parquet")
    again = pa.concat_tables([once, once.slice(0, 900), once.slice(0, 300)])
    pq.write_table(again, folder / "again.parquet")
    names = ("again.parquet", "register.parquet")
    repeated, single = (attacked(folder, register=name) for name in names)
    assert {name: one.findings for name, one in repeated.items()} == {
        name: one.findings for name, one in single.items()
    }


def test_the_share_of_people_in_the_register_is_estimated_or_used_as_given(folder):
    guessed, given = (
        attacked(folder, register="wrong.parquet", **known)["linkage"].notes[0].values
        for known in ({}, {"overlap": 0.25})
    )
    assert (guessed["known"], given["known"]) == ("an estimate", "as given")
    assert given["share"] == 0.25 != guessed["share"]


def test_people_in_no_register_are_never_found(folder, tmp_path):
    people = released_people(folder, "bottom")
    table = pq.read_table(folder / "register.parquet")
    strangers = table.filter(pa.array([p not in people for p in table["person_id"].to_pylist()]))
    pq.write_table(strangers, folder / "strangers.parquet")
    found = attacked(folder, register="strangers.parquet")["linkage"]
    assert finding(found, "correct claims, always").rate.successes == 0
    assert finding(found, "people found, always").rate.trials == 0
    assert finding(found, "claims on people not in").rate.trials == len(people)


def test_knowing_a_kept_column_finds_more(folder):
    without = attacked(folder, register="register.parquet")["linkage"]
    knowing = attacked(folder, register="register.parquet", knows=["insurance"])["linkage"]
    assert knowing.knows == (*without.knows, "insurance")
    rates = [finding(e, "correct claims, always").rate.value for e in (without, knowing)]
    assert rates[0] < rates[1]


def test_the_most_general_release_yields_the_baseline(folder):
    found = attacked(folder, "top", register="register.parquet", population="population.parquet")
    claims = finding(found["linkage"], "correct claims, always")
    assert claims.rate.interval()[0] <= claims.baseline.interval()[1]
    alone = finding(found["singling out"], "descriptions that fit one person of the population")
    assert alone.rate == Rate(0, 0)
    guessed = finding(found["inference"], "diagnosis guessed correctly")
    assert guessed.rate.interval()[0] <= guessed.baseline.interval()[1]
    assert guessed.baseline.interval()[0] <= guessed.rate.interval()[1]


def test_singling_out_is_confirmed_by_the_population_as_by_the_true_register(folder):
    name = "descriptions that fit one person of the population"
    by_table, by_register = (
        finding(attacked(folder, **held)["singling out"], name)
        for held in ({"population": "population.parquet"}, {"register": "register.parquet"})
    )
    assert by_table.rate == by_register.rate
    assert by_table.rate.successes > 0


def test_held_out_people_are_the_control_from_the_kit_or_from_a_file(folder):
    from_kit = attacked(folder)["inference"]
    release = StoredRelease.open(folder / "bottom.csv")
    rows = pq.read_table(release.folder / "control.parquet")["row"].to_pylist()
    patients = pyarrow.csv.read_csv(folder / "patients.csv")
    wanted = patients.take(pa.array(rows)).drop_columns("zip")
    zips = pa.array([f"{code:05d}" for code in patients["zip"].take(pa.array(rows)).to_pylist()])
    pq.write_table(wanted.append_column("zip", zips), folder / "control.parquet")
    from_file = attacked(folder, control="control.parquet")["inference"]
    assert from_file == from_kit
    control = finding(from_kit, "diagnosis guessed correctly").control
    assert control.trials == len({patients["person_id"][row].as_py() for row in rows})


def test_a_null_is_a_value_of_the_control_and_no_knowledge_of_a_register(tmp_path):
    """A held-out person without a value is looked up among the released without one."""
    table = pa.table({"age": [1, None, 2, None] * 30, "ill": ["flu", "gout", "flu", "gout"] * 30})
    roles = Roles.model_validate({"columns": {"age": "quasi", "ill": "sensitive"}})
    kit = fit(open_source(table), roles, FitOptions(hold_out=0.3), seed=2, progress=silent)
    chosen = choose(kit, Choice(policy=kit.facts["policies"] - 1))
    release = TABLES.apply(
        kit, chosen, open_source(table), tmp_path / "o.csv", UNNAMED, force=False,
        progress=silent,
    )  # fmt: skip
    scene = TablesScene(release, open_source(table), AttackOptions())
    nulls = scene.held_out.codes[:, 0] == scene.released_records.codes[:, 0].max()
    held = pq.read_table(release.folder / "control.parquet")["row"].to_numpy()
    assert nulls.tolist() == [table["age"][int(row)].as_py() is None for row in held]
    inferred, faces = TABLES.attack(
        release, open_source(table), AttackOptions(), seed=2, progress=silent
    )
    assert faces.attack == "box ends"
    guessed = finding(inferred, "ill guessed correctly").control
    assert guessed.successes == guessed.trials > 0


def test_people_without_a_name_are_people_of_their_own(folder):
    release = StoredRelease.open(folder / "bottom.csv")
    table = pa.table({"who": ["a", None, "a", None]})
    scene = TablesScene(release, open_source(table), AttackOptions(person="who"))
    object.__setattr__(scene, "true_rows", table)
    who = scene.who
    assert who[0] == who[2]
    assert len(set(who.tolist())) == 3


def test_no_evidence_carries_a_raw_value(folder):
    found = attacked(
        folder,
        register="wrong.parquet",
        population="population.parquet",
        knows=["insurance", "ward"],
    )
    text = json.dumps([e.to_json() for e in found.values()])
    patients = pyarrow.csv.read_csv(
        folder / "patients.csv",
        convert_options=pyarrow.csv.ConvertOptions(column_types={"zip": pa.string()}),
    )
    names = ("person_id", "given_name", "family_name", "zip", "diagnosis", "ward", "insurance")
    for name in names:
        values = {str(value) for value in patients[name].to_pylist() if len(str(value)) > 3}
        assert not [value for value in values if f'"{value}"' in text or f" {value} " in text], name


def test_the_same_seed_finds_the_same(folder):
    one, two = (attacked(folder, register="wrong.parquet") for _ in range(2))
    assert one == two


def test_a_threshold_is_claimed_at(folder):
    found = attacked(folder, register="wrong.parquet", threshold=0.7)["linkage"]
    assert finding(found, "correct claims, at least 70% sure").rate.trials >= 0


def copied(folder, tmp_path):
    for path in (folder / "bottom.csv", folder / "bottom.csv.manifest.json"):
        shutil.copy(path, tmp_path / path.name)
    shutil.copy(folder / "patients.csv", tmp_path)
    shutil.copy(folder / "register.parquet", tmp_path)
    return tmp_path


@pytest.mark.parametrize("options", [{}, {"register": "register.parquet"}])
def test_without_the_private_folder_nothing_is_scored(folder, tmp_path, options):
    with pytest.raises(RequestError, match="private folder next to the release is missing"):
        attacked(copied(folder, tmp_path), **options)


def test_a_changed_release_is_not_attacked(folder, tmp_path):
    there = copied(folder, tmp_path)
    with (there / "bottom.csv").open("ab") as file:
        file.write(b"\n")
    with pytest.raises(TamperedError):
        attacked(there)


@pytest.mark.parametrize(
    ("options", "said"),
    [
        ({"knows": ["insurence"]}, "cannot know insurence.*did you mean insurance"),
        ({"knows": ["age"]}, "cannot know age"),
        ({"person": "nobody"}, "no column nobody"),
        ({"population": "patients.csv"}, "must count the people of each combination"),
        ({"population": "patients.csv"}, "has no people; .*column of counts with --people"),
        (
            {"population": "ages.csv"},
            "each combination of quasi-identifiers, and this one has no .*and zip; "
            "leave --population out, .* or give the adversary a --register",
        ),
        ({"register": "population.parquet"}, "register does not identify people"),
        ({"control": "population.parquet"}, "no column diagnosis"),
        ({"register": "none.parquet"}, "the file does not exist"),
    ],
)
def test_what_does_not_fit_is_refused(folder, options, said):
    with pytest.raises(RequestError, match=said):
        attacked(folder, **options)


def test_another_truth_than_was_applied_is_refused(folder):
    table = pyarrow.csv.read_csv(folder / "patients.csv")
    pyarrow.csv.write_csv(table.slice(0, 50), folder / "other.csv")
    with pytest.raises(RequestError, match="have 50 rows, and the release was made of"):
        attacked(folder, truth="other.csv")


def test_an_attack_with_nothing_to_do_is_refused(tmp_path):
    table = pa.table({"age": np.arange(20) % 5})
    roles = Roles.model_validate({"columns": {"age": "quasi"}})
    kit = fit(open_source(table), roles, FitOptions(family="global"), seed=1, progress=silent)
    chosen = choose(kit, Choice(knee=True))
    release = TABLES.apply(
        kit, chosen, open_source(table), tmp_path / "o.csv", UNNAMED, force=False,
        progress=silent,
    )  # fmt: skip
    with pytest.raises(RequestError, match="nothing to attack with"):
        TABLES.attack(release, open_source(table), AttackOptions(), seed=1, progress=silent)
