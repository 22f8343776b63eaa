"""A plan written for a folder, a FHIR export or an OMOP schema, with a reason for each choice."""

from __future__ import annotations

import json
import os
import re
import secrets
from collections import Counter
from collections.abc import Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from datetime import date
from pathlib import Path
from typing import Literal

import pyarrow as pa

from voile.core.brief import Brief
from voile.core.errors import RequestError, nearest
from voile.data import Source, open_source
from voile.data.column_words import mentions as names_as
from voile.data.files.atomic import write_text
from voile.data.files.outputs import Output
from voile.data.roles import Roles
from voile.documents.replacements.kinds import kind_of
from voile.documents.text.corpus import Corpus
from voile.documents.verbs.options import FitOptions
from voile.proposals.proposal import ColumnProposal, Proposal
from voile.proposals.propose import propose
from voile.proposals.seen import printable
from voile.release.kit import Kit
from voile.study.carriers.carrier import PEOPLE, QUASI, SUBJECT
from voile.study.plan.entries import ExportTable
from voile.study.plan.plan import EXPORT
from voile.study.verbs.export import open_export
from voile.wings import opener

SUFFIXES = (".csv", ".tsv", ".parquet", ".jsonl", ".ndjson")
SEX_WORDS = ("sex", "gender")
ZIP_WORDS = ("ZIP", "POST")
LONG = 60
"""Characters that a cell of text has on average where it is a note."""
SAMPLE = 1000
HEADS = (b"# A plan of voile.", b"# The table of people", b"# Proposed from")
"""How the files begin that init writes."""
_OTHER_FIT = (
    "fit = { k = 5 }  # no class of fewer people, as the promise says of the first table\n"
    "choose = { policy = 0 }  # the one of least risk"
)
_UNMARKED = (
    'DATE = "drop"  # some are birth dates, which beside moved dates reveal the age to the day'
)
_EXPORT_ROLES = f"""\
# The table of people that an export is opened as: a row a person.
subject = "{SUBJECT}"

[columns]
{SUBJECT} = "identifier"      # becomes the pseudonym that every part has
age = "quasi"               # completed years on the plan's day
sex = "quasi"
race = "quasi"              # and ethnicity, in one word
zip = "quasi"
"""


@dataclass(frozen=True)
class PlanFiles(Brief):
    """What init wrote: the plan, the roles beside it, and the secret where there was none."""

    plan: Path
    roles: tuple[Path, ...]
    key: Path | None


@dataclass(frozen=True)
class _Said:
    """What was asked for; a plan names files by where they lie from it."""

    out: Path
    place: str
    population: str | None
    kit: str | None
    annotated: str | None
    known: str | None

    def beside(self, place: str) -> str:
        """Write a place as a TOML string."""
        is_address = "://" in place or place.startswith("service=")
        path = place if is_address else os.path.relpath(place, self.out.parent)
        return json.dumps(path, ensure_ascii=False)

    @property
    def fit(self) -> str:
        if self.population is None:
            return "fit = {}  # no population: only the release's own people are counted"
        place = self.beside(self.population)
        return f"fit = {{ population = {place} }}  # how many people have each set of values"

    def notes_kit(self, subject: str, names: str | None, why: str) -> str:
        """Write the line of a part of notes that says whence its kit comes.

        names : a source of what is known of the people, where one was found; why : what it is.
        """
        if self.kit:
            return f"kit = {self.beside(self.kit)}"
        if self.annotated:
            given = f"source = {self.beside(self.annotated)}"
            if roles := _roles_of(self.annotated):
                given += f", roles = {self.beside(str(roles))}"
            return f"fit = {{ {given} }}  # study fit makes the kit of these annotated notes"
        if self.known:
            names, why = self.known, "what this table holds of each person is"
        known = ""
        if names is not None:
            place = json.dumps(names) if names.startswith(EXPORT) else self.beside(names)
            known = f"known = {place}, by = {json.dumps(subject, ensure_ascii=False)}"
        why = f"{why} looked for in them" if known else "by voile's own rules"
        return f"init = {{ {known} }}  # no kit: study fit makes one of these notes, {why}"

    def labels(self) -> Sequence[str] | None:
        """Return the types of identifier that the kit knows; None where nobody marked any."""
        if self.kit:
            return list(Kit.load(Path(self.kit), "documents").facts["labels"])
        if self.annotated:
            source = opener("documents")(self.annotated)
            roles = _roles_of(self.annotated)
            own = FitOptions.model_validate({}).roles_of(
                source, None if roles is None else Roles.read(roles)
            )
            return Corpus.from_source(source, own).labels
        return None


@dataclass(frozen=True)
class _Found:
    """What a place holds: lines of the plan, of the export and the parts; roles by part."""

    subject: str
    why: str
    export: Sequence[str]
    parts: Sequence[str]
    roles: Mapping[str, str]
    columns: Sequence[str]
    has_notes: bool = True


def init(
    place: str,
    out: Path,
    *,
    kit: str | None = None,
    annotated: str | None = None,
    known: str | None = None,
    population: str | None = None,
    as_of: date | None = None,
    force: bool = False,
) -> PlanFiles:
    """Look at a folder or a schema, and write a plan, its roles and its secret beside each other.

    Parameters
    ----------
    place : a folder with a FHIR bulk export, OMOP tables, or files with a common column of
        subjects; or `postgresql://host/database::schema`.
    kit, annotated, known : whence the kit of the notes comes, one of them at most: a kit; annotated
        notes to fit one on, whose roles lie beside them as `.toml`; a table of what is known of
        each person, to look for in the notes. Without any, the names of a FHIR export are known,
        and of a folder the table with most identifiers.
    as_of : the day on which ages are counted; without it the last visit's. force : replace a plan
        and roles that voile wrote; a secret that is there stays.

    Raises RequestError: nothing is known of what is there, or a file would be replaced.
    """
    form = _form(place)
    if len([one for one in (kit, annotated, known) if one]) > 1:
        raise RequestError("--kit, --annotated and --known", instead="give one of them")
    said = _Said(out, place, population, kit, annotated, known)
    found = _of_folder(said) if form is None else _of_export(form, said, as_of)
    key = out.parent / f"{out.stem}.key"
    roles = {out.parent / f"{name}.toml": said for name, said in found.roles.items()}
    if out in roles:
        raise RequestError("a part has the plan's name", where=str(out), instead="choose another")
    for path in (out, *roles):
        _PLAN.check_free(path, force=force)
    is_new = not os.path.lexists(key)
    if is_new:
        write_text(key, secrets.token_hex(32), _SECRET)
    for path, text in roles.items():
        write_text(path, text, _PLAN, force=force)
    mentions = _mentions(found, said.labels()) if found.has_notes else []
    lines = [*_head(found, key.name), *found.export, *found.parts, *mentions, ""]
    write_text(out, "\n".join(lines), _PLAN, force=force)
    return PlanFiles(out, tuple(roles), key if is_new else None)


def _is_ours(path: Path) -> bool:
    return path.is_file() and path.read_bytes().startswith(HEADS)


_PLAN = Output("plan or roles", {"": _is_ours})
_SECRET = Output("secret", {"": lambda _: False}, is_private=True)


def _form(place: str) -> Literal["fhir", "omop"] | None:
    if "::" in place or "://" in place or place.startswith("service="):
        return "omop"
    folder = Path(place)
    if not folder.is_dir():
        raise RequestError("there is no folder", where=place, instead="name the export's folder")
    names = {path.name.lower() for path in folder.iterdir()}
    if any(name.startswith("patient") and name.endswith(".ndjson") for name in names):
        return "fhir"
    return "omop" if names & {"person.csv", "person.parquet"} else None


def _head(found: _Found, key: str) -> list[str]:
    return [
        "# A plan of voile. Each choice has its reason beside it: read it and correct it.",
        "[study]",
        f"subject = {json.dumps(found.subject, ensure_ascii=False)}  # {found.why}",
        f'key_file = "{key}"  # pseudonyms and dates depend on it: it never leaves',
        "date_shift_days = 365  # one offset for each person, in every part and in text",
        "",
        "[promise]",
        "max_relative_risk = 0.1  # a tenth of the matches that the source as it is would give",
        "k = 5  # no class of fewer people is released",
        "suppress = 0.05  # at most this share of rows is left out for it",
        "",
    ]


def _of_export(form: Literal["fhir", "omop"], said: _Said, as_of: date | None) -> _Found:
    day, why = as_of, "it was asked for"
    if day is None:
        found = open_export(
            ExportTable(form=form, source=said.place, as_of=date.min), said.place
        ).last_day()
        day, why = found or date.today(), "the last visit began then"
        why = why if found else "no visit has a day: it is today"
    file = "Patient.ndjson" if form == "fhir" else "a table person"
    export = [
        "[export]",
        f'form = "{form}"  # there is {file}',
        f"source = {said.beside(said.place)}",
        f"as_of = {day}  # the day on which ages are counted: {why}",
        "",
    ]
    carrier = open_export(ExportTable(form=form, source=said.place, as_of=day), said.place)
    names = f"{EXPORT}names" if any(any(own) for _, own in carrier.names()) else None
    _check_known(said, SUBJECT)
    kit = said.notes_kit(SUBJECT, names, "the export's names are")
    parts = [
        f"[parts.{PEOPLE}]",
        'kind = "tables"',
        f'source = "{EXPORT}people"  # age, sex, race and ZIP code of each person',
        f'roles = "{PEOPLE}.toml"',
        said.fit,
        "",
        *_notes("notes", f'"{EXPORT}notes"', kit),
    ]
    why = "every resource names its patient" if form == "fhir" else "every table has it"
    return _Found(SUBJECT, why, export, parts, {PEOPLE: _EXPORT_ROLES}, QUASI)


def _notes(name: str, source: str, kit: str) -> list[str]:
    return [
        f"[parts.{name}]",
        'kind = "documents"',
        f"source = {source}",
        kit,
        "choose = { max_relative_risk = 0.02 }  # one missed name opens that person's whole row",
        "",
    ]


def _roles_of(annotated: str) -> Path | None:
    beside = Path(annotated).with_suffix(".toml")
    return beside if beside.is_file() else None


def _check_known(said: _Said, subject: str) -> None:
    """Refuse a table of what is known that does not say of whom."""
    if said.known is None:
        return
    columns = open_source(said.known).columns
    if subject not in columns:
        raise RequestError(
            f"there is no column {printable(subject)}, which says whose a row is",
            where=said.known,
            instead=nearest(subject, columns),
        )


def _of_folder(said: _Said) -> _Found:
    """Plan files with a common column: notes where a column is long text, else tables."""
    place = said.place
    files = {
        path.name: open_source(path)
        for path in sorted(Path(place).iterdir())
        if path.suffix.lower() in SUFFIXES
    }
    subject, why = _subject(files, place)
    whose = {name: source for name, source in files.items() if subject in source.columns}
    texts = [name for name, source in whose.items() if _is_text(source)]
    tables = {n: propose(x, "tables") for n, x in whose.items() if n not in texts}
    if not tables:
        raise RequestError("no file is a table of people", where=place)
    parts = [f"# {printable(name)} is not in the study: it has no column {printable(subject)}"
             for name in files if name not in whose]  # fmt: skip
    roles: dict[str, str] = {}
    taken: list[str] = []
    for name in sorted(tables, key=lambda name: -len(_quasi(tables[name]))):
        own = _without(tables[name], taken, subject)
        columns = _quasi(own)
        if roles and not columns:
            why_not = "no column of it is a new quasi-identifier"
            parts.append(f"# {printable(name)} is not in the study: {why_not}")
            continue
        stem = _free_name(name, roles)
        parts += [
            f"[parts.{stem}]",
            f'kind = "tables"  # {_why_table(columns)}',
            f"source = {said.beside(str(Path(place) / name))}",
            f'roles = "{stem}.toml"  # proposed column by column: correct it',
            said.fit if not roles else _OTHER_FIT,
            "",
        ]
        roles[stem] = own.to_toml()
        taken += columns
    _check_known(said, subject)
    known = _most_known(tables, subject)
    kit = said.notes_kit(subject, known and str(Path(place) / known), "its people's values are")
    names = {*roles}
    for name in texts:
        stem = _free_name(name, names)
        names.add(stem)
        parts += _notes(stem, said.beside(str(Path(place) / name)), kit)
    columns = _quasi(tables[max(tables, key=lambda name: len(_quasi(tables[name])))])
    return _Found(subject, why, [], parts, roles, columns, has_notes=bool(texts))


def _most_known(tables: Mapping[str, Proposal], subject: str) -> str | None:
    """Return the table with most columns of identifiers, which notes may name people by."""

    def identifiers(name: str) -> int:
        return len({*tables[name].by_role().get("identifier", [])} - {subject})

    most = max(tables, key=identifiers)
    return most if identifiers(most) else None


def _without(proposal: Proposal, taken: Sequence[str], subject: str) -> Proposal:
    """Drop an earlier table's quasi-identifiers: intervals of two policies say more than either."""
    columns = tuple(
        ColumnProposal(one.name, "drop", "a quasi-identifier of an earlier table")
        if one.role == "quasi" and one.name in taken
        else one
        for one in proposal.columns
    )
    return replace(proposal, columns=columns, subject=subject)


def _free_name(file: str, taken: Collection[str]) -> str:
    """Name a part by its file; by more of it where two files differ in their suffixes alone."""
    stem = _name(file)
    return stem if stem not in taken else _name(file.replace(".", "-"))


def _name(file: str) -> str:
    """Name a part by its file."""
    return re.sub(r"[^A-Za-z0-9_-]+", "-", Path(file).stem) or "part"


def _why_table(quasi: Sequence[str]) -> str:
    return f"it has {', '.join(map(printable, quasi))}" if quasi else "no column of it is long text"


def _subject(files: Mapping[str, Source], place: str) -> tuple[str, str]:
    """Return the column of subjects that most files have, and why it is taken."""
    if not files:
        raise RequestError(
            "there is no table", where=place, instead=f"a folder of {', '.join(SUFFIXES)}"
        )
    times = Counter(column for source in files.values() for column in source.columns)
    named = [c for c in times if names_as(c, "people") or names_as(c, "number")]
    likely = min(named, key=lambda c: (-times[c], not names_as(c, "people"), c), default=None)
    if likely is None or (times[likely] == 1 and len(files) > 1):
        raise RequestError(
            "its files have no common column of subjects",
            where=place,
            instead="give every file the column that says whose a row is, under one name",
        )
    has = [name for name, source in files.items() if likely in source.columns]
    every = "every file has it" if len(has) == len(files) else "most files have it"
    return likely, f"{every}: {', '.join(map(printable, has))}"


def _is_text(source: Source) -> bool:
    return any(_mean_length(source, name) > LONG for name in _text_columns(source))


def _text_columns(source: Source) -> Iterator[str]:
    for name, kind in source.columns.items():
        if pa.types.is_string(kind) or pa.types.is_large_string(kind):
            yield name


def _mean_length(source: Source, name: str) -> float:
    batch = next(iter(source.batches([name], batch_rows=SAMPLE)), None)
    cells = [] if batch is None else [x for x in batch.column(0).to_pylist() if x]
    return sum(map(len, cells)) / len(cells) if cells else 0.0


def _quasi(proposal: Proposal) -> list[str]:
    return proposal.by_role().get("quasi", [])


def _mentions(found: _Found, labels: Sequence[str] | None) -> list[str]:
    """Say what becomes of each type that the kit finds in a text."""
    lines = ["[mentions]"]
    if labels is None:
        lines.append(_UNMARKED)
    for label in ["AGE"] if labels is None else labels:
        line = _mention(label, found.columns)
        if line:
            lines.append(line)
    sex = next((c for c in found.columns if c.lower() in SEX_WORDS), None)
    if sex:
        lines.append(
            f'SEX = {{ column = "{sex}", keep = true }}  # notes say he and she: the fit never '
            "merges the sexes"
        )
    return lines


def _mention(label: str, columns: Sequence[str]) -> str | None:
    """Return the line of a type; None where the kit's own mark is right."""
    kind = kind_of(label)
    if kind == "age" and "age" in columns:
        return f'{label} = "age"  # written as the interval of the person\'s row'
    if any(word in label.upper() for word in ZIP_WORDS):
        code = next((c for c in columns if names_as(c, "place") or "zip" in c.lower()), None)
        return code and f'{label} = "{code}"  # written as the interval of the person\'s row'
    if kind == "date":
        born = any(word in label.upper() for word in ("DOB", "BIRTH"))
        if born:
            return f'{label} = "drop"  # beside moved dates it would reveal the age to the day'
        return f'{label} = "shift"  # moves with its person\'s other dates'
    return None
