"""One made-up clinic as a FHIR export and as an OMOP database, and a study of each."""

from __future__ import annotations

import shutil
from pathlib import Path

import pyarrow.parquet as pq
import pytest

import voile.documents
from voile.data.roles import Roles
from voile.demo.clinic import TRAINING_ROLES, make_clinic, make_training
from voile.demo.fhir import write_fhir
from voile.demo.omop import write_omop
from voile.study import Study

PLAN = """\
[study]
subject = "person_id"
key_file = "study.key"
date_shift_days = 30
seed = 1

[promise]
max_relative_risk = 0.2

[export]
form = "FORM"
source = "export"
as_of = 2013-07-01

[parts.people]
kind = "tables"
source = "export:people"
roles = "people.toml"
fit = { population = "population.parquet", method = "quick", family = "global" }

[parts.notes]
kind = "documents"
source = "export:notes"
kit = "notes.kit"
choose = { max_relative_risk = 0.05 }

[mentions]
AGE = "age"
ZIP = "zip"
DATE = "shift"
DOB = "drop"
SEX = { column = "sex", keep = true }
"""
PEOPLE = """\
subject = "person_id"

[columns]
person_id = "identifier"
age = "quasi"
sex = "quasi"
race = "quasi"
zip = "quasi"
"""
QUICK = {"learners": ["svm"], "miss_cost": [5.0], "cross_fit": 3, "jobs": 1, "seed": 1}


@pytest.fixture(scope="session")
def clinic():
    return make_clinic(1, 120)


@pytest.fixture(scope="session")
def base(tmp_path_factory, clinic) -> Path:
    """What both studies need: the secret, the notes' kit, the population."""
    folder = tmp_path_factory.mktemp("clinic")
    pq.write_table(clinic.population, folder / "population.parquet")
    (folder / "training.toml").write_text(TRAINING_ROLES)
    roles = Roles.read(folder / "training.toml")
    voile.documents.fit(make_training(2, 60), roles, **QUICK).save(folder / "notes.kit")
    (folder / "people.toml").write_text(PEOPLE)
    (folder / "study.key").write_text("k" * 64)
    (folder / "study.key").chmod(0o600)
    return folder


def prepare(base: Path, folder: Path, form: str, write) -> Path:
    shutil.copytree(base, folder)
    (folder / "export").mkdir()
    write(folder / "export")
    (folder / "study.toml").write_text(PLAN.replace("FORM", form))
    return folder


@pytest.fixture(scope="session")
def fhir(base, clinic, tmp_path_factory) -> Path:
    """A fitted study of the FHIR export."""
    place = tmp_path_factory.mktemp("fhir") / "study"
    folder = prepare(base, place, "fhir", lambda to: write_fhir(clinic, to))
    Study.open(folder / "study.toml").fit()
    return folder


@pytest.fixture(scope="session")
def omop(base, clinic, tmp_path_factory) -> Path:
    """A fitted study of the OMOP tables."""
    place = tmp_path_factory.mktemp("omop") / "study"
    folder = prepare(base, place, "omop", lambda to: write_omop(clinic, to))
    Study.open(folder / "study.toml").fit()
    return folder


@pytest.fixture(scope="session")
def fhir_release(fhir):
    return Study.open(fhir / "study.toml").apply()


@pytest.fixture(scope="session")
def omop_release(omop):
    return Study.open(omop / "study.toml").apply()
