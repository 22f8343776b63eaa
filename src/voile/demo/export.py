"""Write the folder of `voile demo --fhir` and `--omop`: an export, its truth and training notes."""

from __future__ import annotations

import shutil
from pathlib import Path

import pyarrow as pa

from voile.data import open_writer
from voile.data.files.outputs import DEMO_FORMAT, DEMO_MARK, manifest_of
from voile.demo.clinic import TRAINING_ROLES, make_clinic, make_training, truth_of
from voile.demo.county import SEED
from voile.demo.fhir import person_id, write_fhir
from voile.demo.omop import write_omop
from voile.keys.random import RandomState

FOLDERS = ("export", "truth")


def write_demo(
    out: Path, form: str, patients: int, *, seed: RandomState = SEED, force: bool = False
) -> None:
    """Write `export/`, `truth/` and `training.parquet` with its roles.

    The folder `truth/` contains the register, the population and the notes with marked mentions.

    Parameters
    ----------
    form : "fhir" or "omop".
    force : replace the files of an earlier demo.
    """
    out.mkdir(exist_ok=force)
    (out / DEMO_MARK).write_bytes(manifest_of(DEMO_FORMAT))
    for name in FOLDERS:
        shutil.rmtree(out / name, ignore_errors=True)
        (out / name).mkdir()
    clinic = make_clinic(seed, patients)
    named = person_id if form == "fhir" else str
    if form == "fhir":
        write_fhir(clinic, out / "export")
    else:
        write_omop(clinic, out / "export")
    everyone = [named(n) for n in range(1, len(clinic.register) + 1)]
    truth = truth_of(clinic, [named(one.person) for one in clinic.visits], everyone)
    _write(out / "truth" / "register.csv", truth["register"])
    _write(out / "truth" / "population.parquet", truth["population"])
    _write(out / "truth" / "notes.jsonl", truth["notes"])
    _write(out / "training.parquet", make_training(1, 200))
    (out / "training.toml").write_text(TRAINING_ROLES, encoding="utf-8")


def _write(path: Path, table: pa.Table) -> None:
    with open_writer(path, table.schema) as writer:
        for batch in table.to_batches():
            writer.write(batch)
