"""What the studies of the tests have in common: their plan, their secret, a kit made quickly."""

from __future__ import annotations

import shutil
from pathlib import Path

import pyarrow as pa
import pyarrow.compute as pc
import pyarrow.parquet as pq

import voile.documents
from voile.demo.county import ROLES, make_county
from voile.demo.notes import make_notes
from voile.keys.pseudonyms import Secret
from voile.study import Study

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
fit = {{ population = "population.parquet", method = "steepest", family = "global" }}

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
KEY = "k" * 64
SECRET = Secret(KEY.encode())
QUICK = {"learners": ["svm"], "miss_cost": [5.0], "cross_fit": 3, "jobs": 1, "seed": 1}


def write_key(folder: Path) -> None:
    (folder / "study.key").write_text(KEY)
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


def write_cohort(folder: Path) -> None:
    """Write what a study needs, and fit it; `visits.parquet` has the notes as a column too."""
    county = make_county(people=4000)
    people = sorted(county.patients["person_id"].unique().to_pylist())
    visits, others = _of(county.patients, people[:100]), _of(county.patients, people[100:])
    notes = make_notes(1, visits)
    pq.write_table(visits.append_column("remark", notes["note"]), folder / "visits.parquet")
    pq.write_table(county.population, folder / "population.parquet")
    pq.write_table(notes, folder / "notes.parquet")
    kit = voile.documents.fit(make_notes(2, others), NOTE_ROLES, **QUICK)
    kit.save(folder / "notes.kit")
    (folder / "visits.toml").write_text(
        ROLES.replace('visit_date = "drop" ', 'visit_date = "keep" ') + 'remark = "text"\n'
    )
    write_key(folder)
    (folder / "study.toml").write_text(PLAN)
    Study.open(folder / "study.toml").fit()


def _of(table: pa.Table, people: list[str]) -> pa.Table:
    return table.filter(pc.is_in(table["person_id"], pa.array(people)))


def rows(release, part):
    """Return a part's released rows, with the row of the source that each was."""
    table = pq.read_table(release.path / release.public["parts"][part]["file"])
    return table, pq.read_table(release.folder / part / "rows.parquet")["row"].to_pylist()
