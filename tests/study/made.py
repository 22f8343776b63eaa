"""What the studies of the tests have in common: their plan, their secret, a kit made quickly."""

from __future__ import annotations

import shutil
from pathlib import Path

HEAD = """\
[study]
subject = "person_id"
key_file = "study.key"
date_shift_days = 30
seed = 1

[promise]
max_relative_risk = 0.2

"""
PARTS = """\
[parts.{table}]
kind = "tables"
source = "{rows}"
roles = "{table}.toml"
fit = {{ population = "population.parquet", method = "quick", family = "global" }}

[parts.notes]
kind = "documents"
source = "{notes}"
kit = "notes.kit"
choose = {{ max_relative_risk = 0.05 }}

[mentions]
AGE = "age"
ZIP = "zip"
DATE = "shift"
DOB = "drop"
SEX = {{ column = "sex", keep = true }}
"""
EXPORT = """\
[export]
form = "FORM"
source = "export"
as_of = 2013-07-01

"""
PLAN = HEAD + PARTS.format(table="visits", rows="visits.parquet", notes="notes.parquet")
EXPORT_PLAN = (
    HEAD + EXPORT + PARTS.format(table="people", rows="export:people", notes="export:notes")
)
NOTE_ROLES = {
    "subject": "person_id",
    "columns": {
        "visit_id": "drop",
        "person_id": "identifier",
        "note": {"role": "text", "spans": "spans"},
        "spans": "label",
    },
}
QUICK = {"learners": ["svm"], "miss_cost": [5.0], "cross_fit": 3, "jobs": 1, "seed": 1}


def write_key(folder: Path) -> None:
    (folder / "study.key").write_text("k" * 64)
    (folder / "study.key").chmod(0o600)


def roles_of(columns: dict[str, str]) -> str:
    """Return the roles of a table of people."""
    said = "".join(f'{name} = "{role}"\n' for name, role in columns.items())
    return f'subject = "person_id"\n\n[columns]\nperson_id = "identifier"\n{said}'


def prepare_export(base: Path, folder: Path, form: str, write) -> Path:
    shutil.copytree(base, folder)
    (folder / "export").mkdir()
    write(folder / "export")
    (folder / "study.toml").write_text(EXPORT_PLAN.replace("FORM", form))
    return folder
