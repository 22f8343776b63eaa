"""Write a plan for a folder, a FHIR export or an OMOP schema, with a reason for each choice."""

from __future__ import annotations

import json
import os
import secrets
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, replace
from datetime import date
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Literal
from warnings import catch_warnings, simplefilter

from voile.core.brief import BriefRepr
from voile.core.errors import RequestError
from voile.data import Source, open_source
from voile.data.column_words import mentions as names_as
from voile.data.fhir.exports import is_fhir_folder
from voile.data.files.atomic import write_text
from voile.data.files.outputs import OutputKind, never
from voile.documents.replacements.kinds import kind_of
from voile.proposals.proposal import ColumnProposal, RolesProposal
from voile.study.carriers.carrier import (
    KNOWN,
    NOTE,
    NOTES,
    PEOPLE,
    STAFF,
    SUBJECT,
    ZIPS,
    ExportCarrier,
)
from voile.study.plan.entries import ExportTable
from voile.study.plan.plan import EXPORT, StudyPlan
from voile.study.verbs.check import check
from voile.study.verbs.export import known_in, open_export, unpack_export, write_known
from voile.study.verbs.init_columns import count_people, keep_age_bands
from voile.study.verbs.init_folder import plan_folder
from voile.study.verbs.init_parts import (
    SUPPRESS,
    ClassPromise,
    FoundParts,
    NotesPart,
    PeopleTables,
    RequestedPlan,
    labels_of,
)

ZIP_WORDS = ("ZIP", "POST")
_TENTH = "max_relative_risk = 0.1  # a tenth of the matches that the source as it is would give"
_LEAST = "least_loss = true  # no population says how rare people are: the least loss at this k"
HEADS = (b"# A plan of voile.", b"# The table of people", b"# Proposed from")
"""The beginnings of the files that init writes."""
_UNJOINED = (
    "join = false  # rows have no pseudonym: several rows of one person single people out together"
)
_UNMARKED = 'DATE = "drop"  # some are birth dates; with moved dates they reveal the age to the day'
_PEOPLE_COLUMNS = {
    "age": "completed years on the plan's day",
    "sex": "as the export has it",
    "race": "and ethnicity, in one word",
    "zip": "the ZIP code of the home",
}


@dataclass(frozen=True)
class PlanFiles(BriefRepr):
    """The files of init: the plan, its roles, and the secret if there was none."""

    plan: Path
    roles: tuple[Path, ...]
    key: Path | None


def init(
    place: str,
    out: Path,
    *,
    kit: str | None = None,
    annotated: str | None = None,
    known: Sequence[str] = (),
    known_people: Sequence[str] = (),
    population: str | None = None,
    as_of: date | None = None,
    subject: str | None = None,
    force: bool = False,
) -> PlanFiles:
    """Inspect a folder or a schema, and write a plan, its roles and its secret into one folder.

    The plan passes `check` before init returns. If it fails, all files are restored.

    Parameters
    ----------
    place : a folder with a FHIR bulk export, OMOP tables, or files with a common column of
        subjects; or `postgresql://host/database::schema`.
    out : path of the plan.
    kit, annotated : the origin of the kit of notes, at most one of them. It is a kit, or annotated
        notes to fit one on, with their roles next to them as `.toml`. Without either, the kit is
        made from the notes themselves, by a search for the people's data in `place`.
    known, known_people : more tables of values to search for: values of each person, by the
        subject's column; and values of people whom any note may name.
    population : a table that counts the people of the population.
    as_of : the day on which ages are counted. The default is the day of the last visit.
    subject : the column of people in a folder's files. By default, names and values decide.
    force : whether to replace a plan and roles that voile wrote. An existing secret is kept.

    Raises
    ------
    RequestError : no plan is possible for this place, or a file would be replaced.
    InfeasibleError : there are too few people.
    """
    form = _form(place)
    asked = RequestedPlan(out, place, population, kit, annotated, known, known_people, subject)
    asked.check()
    found = plan_folder(asked) if form is None else _of_export(form, asked, as_of)
    key = out.parent / f"{out.stem}.key"
    roles = {out.parent / f"{name}.toml": said for name, said in found.roles.items()}
    if out in roles:
        raise RequestError("a part has the plan's name", where=str(out), instead="choose another")
    for path in (out, *roles):
        _PLAN.check_free(path, force=force)
    out.parent.mkdir(parents=True, exist_ok=True)
    is_new = not os.path.lexists(key)
    mentions = _mentions(found, labels_of(asked)) if found.has_notes else []
    lines = [*_head(found, key.name, population), *found.export, *found.parts, *mentions, ""]
    with _restored_on_error(out, *roles, *([key] if is_new else [])):
        if is_new:
            write_text(key, secrets.token_hex(32), _SECRET)
        for path, text in roles.items():
            write_text(path, text, _PLAN, force=force)
        write_text(out, "\n".join([*lines, *found.omitted, ""]), _PLAN, force=force)
        with catch_warnings():
            simplefilter("ignore")  # `fit` gives the same warnings
            with unpack_export(StudyPlan.read_file(out)) as plan:
                check(plan)
    return PlanFiles(out, tuple(roles), key if is_new else None)


@contextmanager
def _restored_on_error(*paths: Path) -> Iterator[None]:
    """Restore the earlier content of small files if the block fails."""
    earlier = {path: path.read_text() for path in paths if path.is_file()}
    try:
        yield
    except BaseException:
        for path in paths:
            if path not in earlier:
                path.unlink(missing_ok=True)
            elif path.read_text() != earlier[path]:
                write_text(path, earlier[path], _PLAN, force=True)
        raise


def _is_ours(path: Path) -> bool:
    return path.is_file() and path.read_bytes().startswith(HEADS)


_PLAN = OutputKind("a plan or roles file", {"": _is_ours})
_SECRET = OutputKind("a secret", {"": never}, is_private=True)


def _form(place: str) -> Literal["fhir", "omop"] | None:
    if "::" in place or "://" in place or place.startswith("service="):
        return "omop"
    folder = Path(place)
    if not folder.is_dir():
        raise RequestError("there is no folder", where=place, instead="name the export's folder")
    names = {path.name.lower() for path in folder.iterdir()}
    if is_fhir_folder(folder):
        return "fhir"
    return "omop" if names & {"person.csv", "person.parquet"} else None


def _head(found: FoundParts, key: str, population: str | None) -> list[str]:
    return [
        "# A plan of voile. Each choice has its reason next to it: read it and correct it.",
        "[study]",
        f"subject = {json.dumps(found.subject, ensure_ascii=False)}  # {found.why}",
        f'key_file = "{key}"  # pseudonyms and dates depend on it: it never leaves',
        "date_shift_days = 365  # one offset for each person, in every part and in text",
        *([] if found.is_joined else [_UNJOINED]),
        "",
        "[promise]",
        _LEAST if population is None else _TENTH,
        f"k = {found.promised.k}  # {found.promised.why}",
        f"suppress = {SUPPRESS}  # at most this share of rows is left out for it",
        "",
    ]


def _of_export(
    form: Literal["fhir", "omop"], asked: RequestedPlan, as_of: date | None
) -> FoundParts:
    export, lines = _export_table(form, asked, as_of)
    carrier = open_export(export, asked.place)
    known = PeopleTables() if asked.kit or asked.annotated else _find_known(carrier)
    with TemporaryDirectory() as name:  # has mode 0700
        folder = Path(name)
        carrier.unpack(folder)
        write_known(carrier, folder)
        people = open_source(folder / f"{PEOPLE}.parquet")
        proposal = _people_proposal(people)
        quasi = proposal.by_role().get("quasi", [])
        if not quasi:
            raise RequestError(
                "all people have one age, sex, race and ZIP code, so no policy generalises them",
                where=asked.place,
                instead="study them in a folder of tables with other columns",
            )
        promised = ClassPromise.of(people, SUBJECT, quasi)
        notes, omitted = _export_notes(folder, asked, known.with_asked(asked, SUBJECT))
        if notes and promised.keeps_sex and "sex" in quasi:
            kept = keep_age_bands(people, proposal.columns, SUBJECT, "sex", promised.k, SUPPRESS)
            proposal = replace(proposal, columns=kept)
    parts = [
        f"[parts.{PEOPLE}]",
        'kind = "tables"',
        f'source = "{EXPORT}people"  # age, sex, race and ZIP code of each person',
        f'roles = "{PEOPLE}.toml"',
        asked.fit,
        "",
    ]
    return FoundParts(
        SUBJECT,
        "every resource names its patient" if form == "fhir" else "every table has it",
        lines,
        [*parts, *(notes.lines(NOTES, asked, SUBJECT) if notes else ())],
        {PEOPLE: proposal.to_toml()},
        quasi,
        promised,
        notes is not None,
        ("zip", f'words = "{EXPORT}{ZIPS}"') if "zip" in quasi else None,
        [*_list_content(carrier), *omitted],
    )


def _export_table(
    form: Literal["fhir", "omop"], asked: RequestedPlan, as_of: date | None
) -> tuple[ExportTable, list[str]]:
    """Return the export with its day of ages and without types that have no rule, and its lines."""
    opened = ExportTable(form=form, source=asked.place, as_of=as_of or date.min)
    drop = open_export(opened, asked.place).without_rule()
    opened = opened.model_copy(update={"drop": drop})
    day, why = as_of, "it was asked for"
    if day is None:
        found = open_export(opened, asked.place).last_day()
        day, why = found or date.today(), "the last visit began then"
        why = why if found else "no visit has a day: it is today"
        why += "; a population must count ages on it" if asked.population else ""
    file = "a resource of FHIR" if form == "fhir" else "a table person"
    dropped = f"drop = {json.dumps(drop)}  # no rule releases these"
    lines = [
        "[export]",
        f'form = "{form}"  # there is {file}',
        f"source = {asked.beside(asked.place)}",
        f"as_of = {day}  # the day on which ages are counted: {why}",
        *([dropped] if drop else []),
        "",
    ]
    return opened.model_copy(update={"as_of": day}), lines


def _export_notes(
    folder: Path, asked: RequestedPlan, known: PeopleTables
) -> tuple[NotesPart | None, list[str]]:
    """Return the notes of an unpacked export, or a comment on why no kit can be made."""
    notes = NotesPart(f"{EXPORT}{NOTES}", f'source = "{EXPORT}{NOTES}"', (NOTE,), True)
    try:
        found = notes.in_folder(folder).check_tables(asked, SUBJECT, known.in_folder(folder)).known
    except RequestError as error:
        rows = sum(len(one) for one in open_source(folder / f"{NOTES}.parquet").batches([SUBJECT]))
        return None, [f"#   {NOTES}: {rows:,} rows: {error.what}"]
    return replace(notes, known=known if found.own or found.everyone else found), []


def _people_proposal(people: Source) -> RolesProposal:
    """Propose the roles of the table of people. A column with at most one value is dropped."""
    columns = [ColumnProposal(SUBJECT, "identifier", "becomes the pseudonym that every part has")]
    for name, why in _PEOPLE_COLUMNS.items():
        if len(count_people(people, SUBJECT, name)) > 1:
            columns.append(ColumnProposal(name, "quasi", why))
        else:
            columns.append(ColumnProposal(name, "drop", f"{why}: one value or none"))
    return RolesProposal("people", people.read([SUBJECT]).num_rows, tuple(columns), SUBJECT)


def _list_content(carrier: ExportCarrier) -> Iterator[str]:
    """Yield comments with the rows of each released file, then with the content without a rule."""
    covered = carrier.count_covered()
    yield "# Released by rules:"
    yield from (f"#   {name}: {rows:,} rows" for name, rows in covered.items())
    yield "# Not released:"
    fields: dict[tuple[str, str], list[str]] = {}
    for one in carrier.list_uncovered():
        file, dot, field = one.name.partition(".")
        if dot and file in covered:
            fields.setdefault((file, one.why), []).append(f"{field} {one.rows:,}")
        else:
            yield f"#   {one.name}: {one.rows:,} rows: {one.why}"
    for (file, why), counted in fields.items():
        yield f"#   {file}: {', '.join(counted)} rows: {why}"


def _find_known(carrier: ExportCarrier) -> PeopleTables:
    """Return an export's data on people and staff that its notes may mention."""
    tables = known_in(carrier)
    own = [f"{EXPORT}{KNOWN}"] if KNOWN in tables else []
    everyone = [f"{EXPORT}{STAFF}"] if STAFF in tables else []
    whose = {KNOWN: "about its people, in their own notes", STAFF: "about its staff, in every note"}
    why = []
    for name, rows in tables.items():
        columns = dict.fromkeys(column for row in rows for column in row if column != SUBJECT)
        why.append(f"# the export's {', '.join(columns)} {whose[name]}")
    return PeopleTables(own, everyone, {}, why)


def _mentions(found: FoundParts, labels: Sequence[str] | None) -> list[str]:
    """Return the lines on the treatment of each type that the kit finds in a text."""
    lines = ["[mentions]"]
    if labels is None:
        lines.append(_UNMARKED)
        if found.codes is not None:
            column, looked_for = found.codes
            said = f'ZIP = {{ column = "{column}", {looked_for} }}'
            lines.append(f"{said}  # the people's codes are looked for")
    for label in ["AGE"] if labels is None else labels:
        line = _mention(label, found)
        if line:
            lines.append(line)
    if found.promised.sex is not None:
        sex = json.dumps(found.promised.sex, ensure_ascii=False)
        if found.promised.keeps_sex:
            why = "notes say he and she: the fit never merges the sexes"
            lines.append(f"SEX = {{ column = {sex}, keep = true }}  # {why}")
        else:
            why = "written neutrally: there are too few people of one sex for k"
            lines.append(f"SEX = {sex}  # {why}")
    return lines


def _mention(label: str, found: FoundParts) -> str | None:
    """Return the line of a type, or None if the kit's own placeholder is right."""
    kind = kind_of(label)
    if kind == "age" and found.promised.age is not None:
        age = json.dumps(found.promised.age, ensure_ascii=False)
        return f"{label} = {age}  # written as the interval of the person's row"
    if any(word in label.upper() for word in ZIP_WORDS):
        code = next((c for c in found.columns if names_as(c, "place") or "zip" in c.lower()), None)
        return code and f'{label} = "{code}"  # written as the interval of the person\'s row'
    if kind == "date":
        born = any(word in label.upper() for word in ("DOB", "BIRTH"))
        if born:
            return f'{label} = "drop"  # with moved dates it would reveal the age to the day'
        return f'{label} = "shift"  # moves with its person\'s other dates'
    return None
