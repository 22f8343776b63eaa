"""What every study keeps, over random plans: parts, mentions, rules for dates, joins, carriers.

One offset and one pseudonym for each person everywhere, no note that says more than its row, and
nothing released where a part fails.
"""

from __future__ import annotations

import json
import shutil
from dataclasses import dataclass
from datetime import date
from pathlib import Path

import pyarrow.parquet as pq
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from tests.study.carriers.exported import SECRET
from tests.study.made import EXPORT, HEAD

from voile.core.errors import VoileError
from voile.documents.replacements.ages import find_age
from voile.documents.replacements.marks import mark
from voile.keys.pseudonyms import pseudonym
from voile.study import Study
from voile.study.verbs.writing import StudyWriting

pytestmark = pytest.mark.slow
EXAMPLES = settings(
    max_examples=6,
    deadline=None,
    suppress_health_check=[HealthCheck.function_scoped_fixture, HealthCheck.too_slow],
)
TABLE = """\
[parts.{name}]
kind = "tables"
source = "{source}"
roles = "{name}.toml"
fit = {{ population = "population.parquet", method = "steepest", family = "global" }}

"""
OTHERS = {
    "wards": 'kind = "tables"\nfit = { method = "steepest", family = "global" }\n'
    "choose = { policy = 0 }",
    "drugs": 'kind = "itemsets"\nfit = { k = 5 }\nchoose = { max_loss = 0.9 }\n'
    'apply = { accept_risk = "the study counts joined rows" }',
    "pulses": 'kind = "signals"\nchoose = { max_relative_risk = 0.9 }',
}
NOTES = 'kind = "documents"\nkit = "notes.kit"\nchoose = { max_relative_risk = 0.05 }\n'
MENTIONS = {
    "AGE": ['"age"', '"drop"'],
    "ZIP": ['"zip"', '"drop"'],
    "DATE": ['"shift"', '"drop"'],
    "DOB": ['"drop"'],
    "SEX": ['"sex"', '{ column = "sex", keep = true }'],
}


@dataclass(frozen=True)
class Drawn:
    """A random plan. carrier : none, fhir or omop. notes : where the texts are."""

    carrier: str
    others: tuple[str, ...]
    notes: tuple[str, ...]
    mentions: dict[str, str]
    dates: str
    edges: str
    join: bool
    names: bool

    @property
    def table(self) -> str:
        return "visits" if self.carrier == "none" else "people"

    def toml(self) -> str:
        """Write the plan."""
        head = HEAD.replace(
            "seed = 1\n",
            f'seed = 1\ndates = "{self.dates}"\nedge_dates = "{self.edges}"\n'
            f"join = {str(self.join).lower()}\n",
        )
        source = "visits.parquet" if self.carrier == "none" else "export:people"
        head = head.replace("[promise]\n", "[promise]\nvalues_in_text = 1\n")
        text = head + TABLE.format(name=self.table, source=source)
        if self.carrier != "none":
            text += EXPORT.replace("FORM", self.carrier)
        for name in self.others:
            text += f'[parts.{name}]\n{OTHERS[name]}\nsource = "{name}.parquet"\n'
            text += f'roles = "{name}.toml"\n\n'
        own = "notes.parquet" if self.carrier == "none" else "export:notes"
        places = {"own": f'source = "{own}"', "column": 'of = "visits"\ntext = "remark"'}
        for name in self.notes:
            text += f"[parts.{name}]\n{NOTES}{places[name]}\n\n"
        text += "[names]\n\n" if self.names else ""
        return text + "[mentions]\n" + "".join(f"{n} = {x}\n" for n, x in self.mentions.items())


@st.composite
def plans(draw) -> Drawn:
    carrier = draw(st.sampled_from(["none", "none", "fhir", "omop"]))
    plain = carrier == "none"
    join = draw(st.booleans()) if plain else True
    notes = draw(st.sets(st.sampled_from(["own", "column"]), min_size=1)) if plain else {"own"}
    labels = draw(st.sets(st.sampled_from(sorted(MENTIONS))))
    return Drawn(
        carrier,
        tuple(sorted(draw(st.sets(st.sampled_from(sorted(OTHERS))) if plain else st.just(set())))),
        tuple(sorted(notes)),
        {one: draw(st.sampled_from(MENTIONS[one])) for one in sorted(labels)},
        draw(st.sampled_from(["days", "weeks", "months"])),
        draw(st.sampled_from(["keep", "drop"])),
        join,
        # surrogate dates move by the plain offset alone: a type that is not named would not
        join and carrier != "omop" and {"DATE", "DOB"} <= labels and draw(st.booleans()),
    )


@pytest.fixture(scope="module")
def homes(whole, fhir, omop) -> dict[str, Path]:
    """A folder for each carrier, with all sources and kits."""
    own = whole.plan.place(Path())
    return {"none": own, "fhir": fhir, "omop": omop}


def prepared(homes, drawn: Drawn, tmp_path: Path) -> Study:
    """Copy what a plan names, write it, and fit it."""
    folder = tmp_path / "a study"
    shutil.rmtree(folder, ignore_errors=True)
    left = shutil.ignore_patterns("*.release*", "study.kit", ".*")
    shutil.copytree(homes[drawn.carrier], folder, ignore=left)
    if "column" not in drawn.notes and drawn.carrier == "none":
        roles = folder / "visits.toml"
        roles.write_text(roles.read_text().replace('remark = "text"', 'remark = "drop"'))
    (folder / "study.toml").write_text(drawn.toml())
    study = Study.open(folder / "study.toml")
    study.fit()
    return study


@given(drawn=plans())
@EXAMPLES
def test_one_offset_one_pseudonym_and_no_note_narrower_than_its_row(homes, drawn, tmp_path):
    study = prepared(homes, drawn, tmp_path)
    release = study.apply()
    folder = study.plan.place(Path())
    if drawn.carrier == "none":
        for name in release.public["parts"]:
            check_rows(folder, release, name, drawn)
    else:
        check_carrier(release, drawn)
    for name in drawn.notes:
        check_texts(study, release, name, drawn)
    assert all(one.holds is not False for one in study.verify())


def whose_rows(folder: Path, release, name: str) -> list[dict]:
    """Return the rows of the source that were released of a part, in the release's order."""
    numbers = pq.read_table(release.folder / name / "rows.parquet")["row"].to_pylist()
    if name == "column":  # its rows are numbered among the released ones of its table
        table = whose_rows(folder, release, "visits")
        return [table[n] for n in numbers]
    file = {"own": "notes.parquet"}.get(name, f"{name}.parquet")
    return pq.read_table(folder / file).take(numbers).to_pylist()


def check_rows(folder: Path, release, name: str, drawn: Drawn) -> None:
    table = pq.read_table(release.path / release.public["parts"][name]["file"])
    source = whose_rows(folder, release, "visits" if name == "column" else name)
    subject = "pseudonym" if name == "pulses" else "person_id"  # as messages are sent
    assert (subject in table.column_names) == (drawn.join or name == "pulses")
    for new, old in zip(table.to_pylist(), source, strict=True):
        person = old["person_id"]
        # without a join readings bear names of their own release, and other parts none
        assert (new.get(subject) == pseudonym(SECRET, person)) == drawn.join
        if "visit_date" in new:
            check_day(old["visit_date"], new["visit_date"], person, drawn)


def check_day(old: date, new: date | None, person: str, drawn: Drawn) -> None:
    """Hold a released day to the one offset of its person, drawn anew from the secret."""
    if new is None:
        assert drawn.edges == "drop"
        return
    offset = rule(drawn).offset(SECRET, person)
    moved = date.fromordinal(old.toordinal() + offset)
    assert new == (moved.replace(day=1) if drawn.dates == "months" else moved)


def rule(drawn: Drawn):
    from voile.keys.date_rule import DateRule

    return DateRule(30, weeks=drawn.dates == "weeks", months=drawn.dates == "months")


def check_carrier(release, drawn: Drawn) -> None:
    """Every id of a person in an export is that of the released row."""
    people = pq.read_table(release.path / release.public["parts"]["people"]["file"])
    names = set(people["person_id"].to_pylist())
    out = release.path / "export"
    if drawn.carrier == "omop":
        files = list(out.glob("person.*"))
        assert len(files) == 1
        found = pq.read_table(files[0])["person_source_value"].to_pylist()
    else:
        lines = map(json.loads, (out / "Patient.ndjson").read_text().splitlines())
        found = [one["id"] for one in lines]
    assert set(found) == names
    assert len(found) == len(names)


def check_texts(study, release, name: str, drawn: Drawn) -> None:
    """Of each recognised age and ZIP code: a mark, an interval of the row, or the row's one age."""
    private = release.folder / name
    removed = pq.read_table(private / "removals.parquet").to_pylist()
    numbers = pq.read_table(private / "rows.parquet")["row"].to_pylist()
    part = release.public["parts"]["visits" if name == "column" else name]
    column = "remark" if name == "column" else "note"
    texts = pq.read_table(release.path / part["file"])[column].to_pylist()
    if name == "column":
        texts = [texts[n] for n in numbers]
    at = {number: place for place, number in enumerate(numbers)}
    shown = labels_of(study, release, name, numbers, drawn)
    for one in removed:
        said = drawn.mentions.get(one["label"])
        if said is None or one["label"] not in ("AGE", "ZIP") or one["row"] not in at:
            continue
        written = texts[at[one["row"]]][one["published_start"] : one["published_end"]]
        own = shown[at[one["row"]]]["age" if one["label"] == "AGE" else "zip"]
        age = find_age(written)
        assert (
            written == mark(one["label"])
            or (said != '"drop"' and any(x in written for x in own))
            or (age is not None and str(age[2]) in own)
        ), (written, own)


def labels_of(study, release, name: str, numbers: list[int], drawn: Drawn) -> list[dict]:
    """Return the intervals that the rows of each text's person show."""
    table = release.public["parts"][drawn.table]
    rows = pq.read_table(release.path / table["file"]).to_pylist()
    folder = study.plan.place(Path())
    if drawn.carrier == "none":
        people = [one["person_id"] for one in whose_rows(folder, release, "visits")]
        whose = [one["person_id"] for one in whose_rows(folder, release, name)]
    else:  # each person has one row, and notes keep the pseudonym
        people = [one["person_id"] for one in rows]
        notes = release.public["parts"][name]
        whose = pq.read_table(release.path / notes["file"])["person_id"].to_pylist()
    shown: dict[str, dict[str, set[str]]] = {}
    for person, row in zip(people, rows, strict=True):
        for column in ("age", "zip"):
            shown.setdefault(person, {}).setdefault(column, set()).add(row[column])
    return [shown[one] for one in whose]


@given(drawn=plans(), data=st.data())
@EXAMPLES
def test_nothing_is_released_when_a_part_fails(homes, drawn, data, tmp_path):
    study = prepared(homes, drawn, tmp_path)
    parts = [drawn.table, *drawn.others, *drawn.notes]
    broken = data.draw(st.sampled_from(parts))
    run = StudyWriting._run

    def failing(self, name, *rest):
        if name == broken:
            run(self, name, *rest)
            raise VoileError(f"{name} fails after it was written")
        return run(self, name, *rest)

    with pytest.MonkeyPatch.context() as patched:
        patched.setattr(StudyWriting, "_run", failing)
        with pytest.raises(VoileError, match="fails after it was written"):
            study.apply()
    folder = study.plan.place(Path())
    assert not list(folder.glob("*.release*"))
    assert not [one.name for one in folder.glob(".*")]
