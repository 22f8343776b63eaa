"""The made-up county is plausible, consistent, and the same each time."""

from __future__ import annotations

import tomllib
from datetime import date

import numpy as np
import pandas as pd
import pyarrow as pa
import pyarrow.csv
import pyarrow.parquet
import pytest

from voile.core.errors import RequestError
from voile.data.roles import Roles
from voile.demo.county import (
    QUASI,
    ROLES,
    DemoCounty,
    count_people,
    leave_some_out,
    make_county,
    register_with_errors,
    write_county,
)
from voile.demo.names import FEMALE, MALE
from voile.demo.people import AREAS, RACE_SHARES, RACES, age_shares
from voile.demo.visits import DIAGNOSES

FILES = {
    "register.csv",
    "population.parquet",
    "patients.csv",
    "register-adversary.csv",
    "README.txt",
}
AS_TEXT = pyarrow.csv.ConvertOptions(
    column_types={"zip": pa.string()}, strings_can_be_null=True, quoted_strings_can_be_null=False
)


@pytest.fixture(scope="module")
def county() -> DemoCounty:
    return make_county()


@pytest.fixture(scope="module")
def register(county) -> pd.DataFrame:
    return county.register.to_pandas()


@pytest.fixture(scope="module")
def patients(county) -> pd.DataFrame:
    return county.patients.to_pandas()


def test_the_same_seed_makes_the_same_county():
    one, two, other = (make_county(seed, people=2000) for seed in (7, 7, 8))
    assert one == two
    assert other.register != one.register
    assert other.patients != one.patients
    assert one == make_county(np.int64(7), people=2000)


def test_a_county_too_small_is_refused():
    assert len(make_county(people=100).patients) >= 8
    with pytest.raises(RequestError, match="use 100 people or more"):
        make_county(people=99)


def test_everyone_is_whole_and_one_of_a_kind(register):
    assert len(register) == 100_000
    assert register["person_id"].is_unique
    assert not register.isna().any(axis=None)
    assert register["age"].min() == 0
    assert register["age"].max() == 104
    assert set(register["sex"]) == {"F", "M"}


def test_ages_are_completed_years_on_the_reference_date(register):
    born = pd.to_datetime(register["birth_date"])
    before_july = (born.dt.month, born.dt.day)
    not_yet = (before_july[0] > 7) | ((before_july[0] == 7) & (before_july[1] > 1))
    assert (2013 - born.dt.year - not_yet == register["age"]).all()


def test_shares_are_plausible(register):
    ages = np.bincount(register["age"], minlength=105) / len(register)
    assert np.abs(ages - age_shares()).max() < 0.002
    assert 0.20 < (register["age"] < 18).mean() < 0.28
    assert 0.12 < (register["age"] >= 65).mean() < 0.18
    assert (register["age"] > 89).sum() > 500
    races = register["race"].value_counts(normalize=True)
    assert np.allclose(races[list(RACES)], RACE_SHARES, atol=0.005)
    women = (register["sex"] == "F").groupby(register["age"] >= 85).mean()
    assert women[False] < 0.53 < 0.6 < women[True]


def test_names_fit_the_sex_and_some_are_common(register):
    names = register.groupby("sex")["given_name"].agg(set)
    assert names["F"] == set(FEMALE)
    assert names["M"] == set(MALE)
    common = register["family_name"].value_counts(normalize=True)
    assert 0.005 < common.iloc[0] < 0.03
    assert len(common) > 5000


def test_postal_areas_make_safe_harbor_work(register):
    assert register["zip"].str.fullmatch(r"\d{5}").all()
    assert register["zip"].nunique() == sum(count for _, count, _ in AREAS)
    people = register["zip"].str[:3].value_counts().to_dict()
    assert {area for area, n in people.items() if n < 20_000} == {"003", "269", "343"}
    assert 20_000 < people["099"] < 22_500


def test_zip_codes_differ_in_their_races(register):
    white = (register["race"] == "White").groupby(register["zip"]).mean()
    assert white.max() - white.min() > 0.2


def test_the_population_counts_the_register(county, register):
    population = county.population.to_pandas()
    expected = register.groupby(list(QUASI)).size().rename("people").reset_index()
    pd.testing.assert_frame_equal(population, expected)
    assert population["people"].sum() == len(register)


def test_no_group_of_patients_is_larger_than_its_population(county, patients):
    subjects = patients.groupby(list(QUASI))["person_id"].nunique().rename("subjects")
    population = county.population.to_pandas().set_index(list(QUASI))["people"]
    both = subjects.to_frame().join(population, how="left")
    assert (both["subjects"] <= both["people"]).all()


def test_patients_are_people_of_the_register_on_every_visit(register, patients):
    joined = patients[register.columns].merge(register, how="inner")
    assert len(joined) == len(patients)


def test_one_patient_in_five_comes_again(patients):
    visits = patients["person_id"].value_counts()
    assert len(visits) == 8000
    assert (visits > 1).sum() == 1600
    assert visits.max() <= 6
    assert patients["visit_id"].is_unique


def test_visits_are_in_their_year_after_birth_and_by_date(patients):
    assert patients["visit_date"].min() >= date(2013, 7, 1)
    assert patients["visit_date"].max() <= date(2014, 6, 30)
    assert (patients["visit_date"] >= patients["birth_date"]).all()
    assert patients["visit_date"].is_monotonic_increasing


def test_diagnoses_are_skewed_and_go_with_age_and_sex(patients):
    counts = patients["diagnosis"].value_counts()
    assert set(counts.index) == {diagnosis.name for diagnosis in DIAGNOSES}
    assert counts.iloc[0] > 50 * counts.iloc[-1]
    ages = patients.groupby("diagnosis")["age"].mean()
    assert ages["gastroenteritis"] + 40 < ages["stroke"]
    childbirth = patients[patients["diagnosis"] == "childbirth"]
    assert set(childbirth["sex"]) == {"F"}
    assert childbirth["age"].between(15, 55).all()
    assert set(patients.loc[patients["diagnosis"] == "prostate cancer", "sex"]) == {"M"}


def test_who_comes_again_mostly_has_the_same(patients):
    twice = patients.groupby("person_id")["diagnosis"].agg(["size", "nunique"])
    same = (twice.loc[twice["size"] == 2, "nunique"] == 1).mean()
    assert 0.6 < same < 0.75  # 3 in 5, and by chance


def test_wards_and_stays(patients):
    assert ((patients["age"] < 16) == (patients["ward"] == "paediatrics")).all()
    assert patients["length_of_stay"].min() == 0
    stays = patients.groupby("diagnosis")["length_of_stay"].mean()
    assert stays["schizophrenia"] > 3 * stays["childbirth"]


def test_every_column_of_the_patients_has_a_role(county):
    roles = Roles.model_validate(tomllib.loads(ROLES))
    roles.check(county.patients.column_names)
    assert roles.subject == "person_id"
    assert tuple(roles.of("quasi")) == QUASI
    assert roles.of("sensitive") == ["diagnosis"]
    assert {"person_id", "given_name", "family_name"} <= set(roles.of("identifier"))


# The adversary's register


def test_errors_have_their_rates_and_nothing_else_changes(county, register):
    wrong = register_with_errors(county.register, 1).to_pandas()
    assert list(wrong.columns) == list(register.columns)
    off = wrong["age"] - register["age"]
    assert (off != 0).sum() == 5000
    assert (off.abs() <= 1).all()
    assert 0.45 < (off[off != 0] > 0).mean() < 0.55
    assert wrong["age"].min() == 0
    assert (wrong["zip"] != register["zip"]).sum() == 8000
    assert set(wrong["zip"]) == set(register["zip"])
    assert wrong["race"].isna().sum() == 3000
    known = wrong["race"].notna()
    assert (wrong["race"][known] == register["race"][known]).all()
    kept = ["person_id", "given_name", "family_name", "sex", "insurance"]
    pd.testing.assert_frame_equal(wrong[kept], register[kept])


def test_a_wrong_age_has_its_birth_date(county):
    test_ages_are_completed_years_on_the_reference_date(
        register_with_errors(county.register, 1).to_pandas()
    )


def test_errors_of_each_kind_fall_apart_from_each_other(county, register):
    wrong = register_with_errors(county.register, 1).to_pandas()
    both = (wrong["age"] != register["age"]) & (wrong["zip"] != register["zip"])
    assert 300 < both.sum() < 500  # 400 expected of 100,000


def test_the_same_seed_makes_the_same_errors(county):
    one, two, other = (register_with_errors(county.register, seed) for seed in (1, 1, 2))
    assert one == two
    assert one != other


def test_leap_days_move_to_the_28th():
    register = pa.table(
        {
            "birth_date": pa.array([date(2012, 2, 29)] * 40),
            "age": [1] * 40,
            "race": ["White"] * 40,
            "zip": ["00201", "00208"] * 20,
        }
    )
    births = register_with_errors(register, 1)["birth_date"].to_pylist()
    assert sum(day != date(2012, 2, 29) for day in births) == 2
    assert set(births) <= {date(2012, 2, 29), date(2011, 2, 28), date(2013, 2, 28)}


# On disk


def test_a_written_county_reads_back(tmp_path, county):
    folder = tmp_path / "a county"
    write_county(county, folder)
    assert {path.name for path in folder.iterdir()} == FILES
    assert "Nobody in these files exists" in (folder / "README.txt").read_text(encoding="utf-8")
    for name, table in (
        ("register.csv", county.register),
        ("patients.csv", county.patients),
        ("register-adversary.csv", leave_some_out(register_with_errors(county.register))),
    ):
        back = pyarrow.csv.read_csv(folder / name, convert_options=AS_TEXT)
        assert back.cast(table.schema) == table
    population = pyarrow.parquet.read_table(folder / "population.parquet")
    assert population == county.population


def test_the_same_seed_writes_the_same_bytes(tmp_path):
    for name in ("one", "two"):
        write_county(make_county(5, people=1000), tmp_path / name)
    for name in FILES:
        assert (tmp_path / "one" / name).read_bytes() == (tmp_path / "two" / name).read_bytes()


def test_a_folder_that_is_there_is_not_overwritten(tmp_path):
    county = make_county(5, people=1000)
    write_county(county, tmp_path / "county")
    with pytest.raises(RequestError):
        write_county(county, tmp_path / "county")
    write_county(county, tmp_path / "county", force=True)


def test_counting_nobody_gives_no_rows(county):
    assert len(count_people(county.register.slice(0, 0))) == 0
