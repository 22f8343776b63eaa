"""Small studies: of patients of the made-up county and their notes, and of a clinic's exports."""

from __future__ import annotations

import hashlib
import shutil
from pathlib import Path

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from tests.study.made import PLAN, QUICK, prepare_export, roles_of, write_cohort, write_key

import voile.documents
from voile.data.roles import Roles
from voile.demo.clinic import TRAINING_ROLES, make_clinic, make_training
from voile.demo.fhir import write_fhir
from voile.demo.omop import write_omop
from voile.study import Study
from voile.study.carriers.carrier import QUASI


@pytest.fixture(scope="session")
def cohort(tmp_path_factory) -> Path:
    """A folder of what a study needs, with `visits.parquet` that has the notes as a column too."""
    folder = tmp_path_factory.mktemp("cohort")
    write_cohort(folder)
    return folder


@pytest.fixture(scope="session")
def release(cohort):
    return Study.open(cohort / "study.toml").apply()


@pytest.fixture
def folder(cohort, tmp_path) -> Path:
    """A copy of the cohort's folder, to change."""
    new = tmp_path / "cohort"
    shutil.copytree(cohort, new, ignore=shutil.ignore_patterns("*.release", "*.private"))
    return new


@pytest.fixture
def change(folder):
    """Write the plan anew with some text replaced, and open it."""

    def changed(*pairs: tuple[str, str]) -> Study:
        text = PLAN
        for old, new in pairs:
            assert text.count(old) == 1, old
            text = text.replace(old, new)
        (folder / "study.toml").write_text(text)
        return Study.open(folder / "study.toml")

    return changed


OTHERS = """\

[parts.wards]
kind = "tables"
source = "wards.parquet"
roles = "wards.toml"
fit = { method = "steepest", family = "global" }
choose = { policy = 0 }

[parts.drugs]
kind = "itemsets"
source = "drugs.parquet"
roles = "drugs.toml"
fit = { k = 5 }
choose = { max_loss = 0.9 }
apply = { accept_risk = "the study counts joined rows" }

[parts.pulses]
kind = "signals"
source = "pulses.parquet"
roles = "pulses.toml"
fit = { time = "visit_date" }
choose = { max_relative_risk = 0.9 }

[mentions]
"""


@pytest.fixture(scope="session")
def whole(cohort, tmp_path_factory) -> Study:
    """A study of a table, its notes, and a part of each other kind about the same people."""
    folder = tmp_path_factory.mktemp("whole") / "whole"
    shutil.copytree(cohort, folder, ignore=shutil.ignore_patterns("*.release*", "study.kit"))
    visits = pq.read_table(folder / "visits.parquet")
    who, rng = visits["person_id"], np.random.default_rng(1)
    pq.write_table(visits.select(["person_id", "ward", "visit_date"]), folder / "wards.parquet")
    drugs = rng.random((len(who), 6)) < 0.5
    items = {f"drug_{n}": pa.array(own.astype(np.int8)) for n, own in enumerate(drugs.T)}
    pq.write_table(pa.table({"person_id": who, **items}), folder / "drugs.parquet")
    smokes = [hash_of(one) % 2 for one in who.to_pylist()]
    pulses = pa.array((rng.normal(70, 5, len(who)) + 5 * np.array(smokes)).round())
    pq.write_table(
        pa.table(
            {
                "person_id": who,
                "smokes": pa.array(smokes).cast(pa.string()),
                "pulse": pulses,
                "visit_date": visits["visit_date"],
            }
        ),
        folder / "pulses.parquet",
    )
    for name, columns in {
        "wards": {"ward": "quasi", "visit_date": "keep"},
        "drugs": dict.fromkeys(items, "items"),
        "pulses": {"smokes": "private", "pulse": "reading", "visit_date": "drop"},
    }.items():
        (folder / f"{name}.toml").write_text(roles_of(columns))
    (folder / "study.toml").write_text(PLAN.replace("\n[mentions]\n", OTHERS))
    study = Study.open(folder / "study.toml")
    study.fit()
    study.apply()
    return study


def hash_of(text: str) -> int:
    return int(hashlib.sha256(text.encode()).hexdigest(), 16)


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
    (folder / "people.toml").write_text(roles_of(dict.fromkeys(QUASI, "quasi")))
    write_key(folder)
    return folder


@pytest.fixture(scope="session")
def fhir(base, clinic, tmp_path_factory) -> Path:
    """A fitted study of the FHIR export."""
    place = tmp_path_factory.mktemp("fhir") / "study"
    folder = prepare_export(base, place, "fhir", lambda to: write_fhir(clinic, to))
    Study.open(folder / "study.toml").fit()
    return folder


@pytest.fixture(scope="session")
def omop(base, clinic, tmp_path_factory) -> Path:
    """A fitted study of the OMOP tables."""
    place = tmp_path_factory.mktemp("omop") / "study"
    folder = prepare_export(base, place, "omop", lambda to: write_omop(clinic, to))
    Study.open(folder / "study.toml").fit()
    return folder


@pytest.fixture(scope="session")
def fhir_release(fhir):
    return Study.open(fhir / "study.toml").apply()


@pytest.fixture(scope="session")
def omop_release(omop):
    return Study.open(omop / "study.toml").apply()
