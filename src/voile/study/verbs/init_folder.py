"""A plan for a folder of files with a common column of subjects."""

from __future__ import annotations

import json
import re
from collections.abc import Collection, Sequence
from dataclasses import dataclass, field, replace
from itertools import chain, count, islice
from pathlib import Path

from voile.core.errors import RequestError, SourceError
from voile.data import Source, open_source
from voile.data.column_words import mentions as names_as
from voile.data.roles import AS_IT_IS
from voile.documents.model.start.known.columns import NOTHING, Kind, kind_of_column
from voile.proposals.proposal import RolesProposal
from voile.proposals.seen import printable
from voile.study.plan.plan import TAKEN
from voile.study.verbs.init_columns import (
    SAMPLE,
    count_people,
    keep_age_bands,
    propose_table,
    without,
)
from voile.study.verbs.init_parts import (
    SUPPRESS,
    ClassPromise,
    FoundParts,
    NotesPart,
    PeopleTables,
    RequestedPlan,
)
from voile.study.verbs.init_subject import find_subject

SUFFIXES = (".csv", ".tsv", ".parquet", ".jsonl", ".ndjson")
LOOKED_FOR = ("name", "phone", "email", "id", "address", "organisation")
"""Kinds of identifiers that notes are searched for. Places and days of birth are added to them."""
_UNLINKED = (
    'links = "none"  # its rows have no pseudonym: several rows of one person single people out; '
    "most_rows = 1 keeps one row of each person, with the pseudonym"
)


@dataclass(frozen=True)
class FoundTable:
    """A file with the column of subjects: its proposed roles, its rows and its people."""

    file: str
    source: Source
    proposal: RolesProposal
    rows: int
    people: int

    @classmethod
    def of(cls, file: str, source: Source, subject: str) -> FoundTable:
        rows = sum(len(batch) for batch in source.batches([subject]))
        people = int(count_people(source, subject)[None])
        return cls(file, source, propose_table(source, subject), rows, people)

    @property
    def quasi(self) -> list[str]:
        return self.proposal.by_role().get("quasi", [])

    @property
    def texts(self) -> list[str]:
        return self.proposal.by_role().get("text", [])

    @property
    def kept_columns(self) -> list[str]:
        return [one.name for one in self.proposal.columns if one.role in AS_IT_IS]

    @property
    def is_notes(self) -> bool:
        """Whether the table has texts, and no other columns that others may know except days."""
        return bool(self.texts) and not self.quasi

    def without(self, names: Collection[str], why: str) -> FoundTable:
        """Return the table with some columns dropped."""
        return replace(self, proposal=without(self.proposal, [*names], why))

    def list_dropped(self) -> list[str]:
        """Return a comment with the columns that are not released, each with its reason."""
        found = [
            f"#   {printable(one.name)}: {one.why}"
            for one in self.proposal.columns
            if one.role in ("drop", "identifier") and one.name != self.proposal.subject
        ]
        head = f"# Not released of {printable(self.file)}, {self.rows:,} rows each:"
        return [head, *found] if found else []


def plan_folder(asked: RequestedPlan) -> FoundParts:
    """Plan files with a common column: tables, and notes if a column contains long text.

    A file with only notes is a separate part. If others may know more of its rows than a day, it is
    a table, and its notes are a part of that table. Files that cannot be fitted are left out, with
    the reason.

    Raises
    ------
    RequestError : no file is a table of people.
    """
    files, omitted = _open_files(asked.place)
    subject, why = find_subject(files, asked.place, asked.subject)
    whose = {name: source for name, source in files.items() if subject in source.columns}
    omitted += [_omit(name, files[name], f"it has no column {printable(subject)}")
                for name in files if name not in whose]  # fmt: skip
    tables = [FoundTable.of(name, source, subject) for name, source in whose.items()]
    order = _first_counted([one for one in tables if not one.is_notes], asked.population)
    if not order or not order[0].quasi:
        raise RequestError(
            "no file has a column that others may know, of two values or more",
            where=asked.place,
            instead="add a table of the people with their ages, sexes or places",
        )
    promised = ClassPromise.of(order[0].source, subject, order[0].quasi)
    known = _find_known(tables, subject, asked.place).with_asked(asked, subject)
    plan = _FolderPlan(asked, subject, known, promised, omitted)
    for table in (one for one in tables if one.is_notes):
        plan.add_notes(table)
    for table in order:
        plan.add_table(table)
    columns = [*order[0].quasi]
    code = next((name for name in columns if "zip" in name.lower()), None)
    codes = None if code is None else (code, "values = true")
    return FoundParts(
        subject,
        why,
        [],
        plan.parts(),
        plan.roles(),
        columns,
        promised,
        bool(plan.notes),
        codes,
        omitted,
        plan.is_joined,
    )


@dataclass
class _FolderPlan:
    """The parts of a plan for a folder, and the omissions with their reasons."""

    asked: RequestedPlan
    subject: str
    known: PeopleTables
    promised: ClassPromise
    omitted: list[str]
    tables: dict[str, FoundTable] = field(default_factory=dict)
    notes: dict[str, NotesPart] = field(default_factory=dict)
    _taken: set[str] = field(default_factory=set)

    def add_notes(self, table: FoundTable) -> None:
        """Add a file with only notes, if a kit can be made from them."""
        place = self._place(table)
        part = NotesPart(place, f"source = {self.asked.beside(place)}", tuple(table.texts))
        try:
            part = part.check_tables(self.asked, self.subject, self.known)
        except RequestError as error:
            self.omitted.append(_omit(table.file, table.source, error.what))
        else:
            self.notes[self._free_name(table.file)] = part

    def add_table(self, table: FoundTable) -> None:
        """Add a table with its columns of notes, without columns of an earlier table."""
        again = [one for one in (*table.quasi, *table.kept_columns) if one in self._taken]
        table = table.without(again, "an earlier table has it")
        stem = self._free_name(table.file)
        for text in table.texts:
            said = json.dumps(text, ensure_ascii=False)
            where = f'of = "{stem}"\ntext = {said}'
            part = NotesPart(self._place(table), where, (text,), is_column=True, of=stem)
            try:
                part = part.check_tables(self.asked, self.subject, self.known)
            except RequestError as error:
                table = table.without([text], error.what)
            else:
                self.notes[self._free_name(text, stem)] = part
        if not (table.quasi or table.kept_columns or table.texts):
            why = "no column of it is new and can be released"
            self.omitted.append(_omit(table.file, table.source, why))
            return
        self.tables[stem] = table
        self._taken |= {*table.quasi, *table.kept_columns}

    def parts(self) -> list[str]:
        """Return the lines of the parts, with the tables first."""
        lines: list[str] = []
        for n, (stem, table) in enumerate(self.tables.items()):
            unlinked = self.is_joined and table.rows > table.people
            lines += _table_part(
                stem, table, self.asked, self.promised, is_first=n == 0, is_unlinked=unlinked
            )
        for stem, part in self.notes.items():
            lines += part.lines(stem, self.asked, self.subject)
        return lines

    @property
    def is_joined(self) -> bool:
        """Whether parts share pseudonyms.

        They do if no part that others follow has several rows of a person. Other parts with several
        rows of a person have no pseudonyms.
        """
        first = next(iter(self.tables))
        followed = {first, *(part.of for part in self.notes.values())}
        return not any(
            table.rows > table.people for stem, table in self.tables.items() if stem in followed
        )

    def roles(self) -> dict[str, str]:
        """Return the roles of each table. With notes, the first table keeps bands of ages."""
        proposed = {stem: table.proposal for stem, table in self.tables.items()}
        first = next(iter(self.tables.values()))
        sex = self.promised.sex
        if self.notes and sex is not None and self.promised.keeps_sex:
            columns = keep_age_bands(
                first.source, first.proposal.columns, self.subject, sex, self.promised.k, SUPPRESS
            )
            proposed[next(iter(proposed))] = replace(first.proposal, columns=columns)
        return {stem: one.to_toml() for stem, one in proposed.items()}

    def _place(self, table: FoundTable) -> str:
        return str(Path(self.asked.place) / table.file)

    def _free_name(self, file: str, of: str = "") -> str:
        return _free_name(file, {*self.tables, *self.notes, of}, of)


def _table_part(
    stem: str,
    table: FoundTable,
    asked: RequestedPlan,
    promised: ClassPromise,
    *,
    is_first: bool,
    is_unlinked: bool,
) -> list[str]:
    """Return the lines of a part of rows. A table without quasi-identifiers has one policy."""
    columns = ", ".join(map(printable, table.quasi))
    lines = [
        *table.list_dropped(),
        f"[parts.{stem}]",
        f'kind = "tables"  # {f"it has {columns}" if columns else "events: nothing to generalise"}',
        f"source = {asked.beside(str(Path(asked.place) / table.file))}",
        f'roles = "{stem}.toml"  # proposed column by column: correct it',
    ]
    if is_first:
        lines.append(asked.fit)
    elif table.quasi:
        k = min(promised.k, table.people)
        lines.append(f"fit = {{ k = {k} }}  # no class of fewer people")
        lines.append("choose = { knee = true }  # where more detail begins to cost more risk")
    if is_unlinked:
        lines.append(_UNLINKED)
    return [*lines, ""]


def _open_files(place: str) -> tuple[dict[str, Source], list[str]]:
    """Open the tables of a folder, and write a comment for each other file and empty table."""
    files: dict[str, Source] = {}
    omitted: list[str] = []
    for path in sorted(one for one in Path(place).iterdir() if one.is_file()):
        if path.suffix.lower() not in SUFFIXES:
            omitted.append(f"# {printable(path.name)} is not in the study: it is no table")
            continue
        try:
            source = open_source(path)
            rows = next((len(x) for x in source.batches([*source.columns][:1]) if len(x)), 0)
        except SourceError as error:
            if not error.what.startswith("is empty"):
                raise
            rows = 0
        if rows:
            files[path.name] = source
        else:
            omitted.append(f"# {printable(path.name)} is not in the study: it has no rows")
    if not files:
        said = "there is no table" if not omitted else "no table has a row"
        raise RequestError(said, where=place, instead=f"a folder of {', '.join(SUFFIXES)}")
    return files, omitted


def _omit(name: str, source: Source, why: str) -> str:
    rows = sum(len(batch) for batch in source.batches([*source.columns][:1]))
    return f"# {printable(name)} ({rows:,} rows) is not in the study: {why}"


def _first_counted(tables: Sequence[FoundTable], population: str | None) -> list[FoundTable]:
    """Order tables: first the one with most quasi-identifiers in the population.

    Among equals, a table with one row per person comes first, then one with more quasi-identifiers.
    """
    counted = set() if population is None else {*open_source(population).columns}
    return sorted(
        tables,
        key=lambda one: (
            -len(counted & {*one.quasi}),
            not one.quasi,
            one.rows > one.people,
            -len(one.quasi),
        ),
    )


def _free_name(file: str, taken: Collection[str], of: str = "") -> str:
    """Return a free name for a part, from its file or its column."""
    stem = _name(file)
    more = f"{of}-{stem}" if of else _name(file.replace(".", "-"))
    names = chain((stem, more), (f"{more}-{n}" for n in count(2)))
    return next(one for one in names if one not in taken and one not in TAKEN)


def _name(file: str) -> str:
    return re.sub(r"[^A-Za-z0-9_-]+", "-", Path(file).stem) or "part"


def _find_known(tables: Sequence[FoundTable], subject: str, place: str) -> PeopleTables:
    """Find the columns of names, numbers and addresses, and days and places in the same tables."""
    own: list[str] = []
    why: list[str] = []
    wanted: set[str] = set()
    others: set[str] = set()
    for table in tables:
        name, source = table.file, table.source
        roles = {one.name: one.role for one in table.proposal.columns}
        kinds = {c: kind for c, kind in _kinds(source).items() if c != subject}
        found = [c for c, kind in kinds.items() if _is_looked_for(c, kind, roles[c])]
        if any(kinds[c] in LOOKED_FOR for c in found):
            others |= kinds.keys() - {*found}
            own.append(str(Path(place) / name))
            wanted |= {*found}
            said = ", ".join(f"{printable(c)} ({kinds[c]})" for c in found)
            why.append(f"# {said} of {printable(name)}: by their names and values")
    return PeopleTables(
        own, (), dict.fromkeys(sorted(others - wanted), NOTHING) if own else {}, why
    )


def _kinds(source: Source) -> dict[str, Kind]:
    """Return the kind of known value that each column seems to contain."""
    first = next(islice(source.batches(batch_rows=SAMPLE), 1), None)
    columns = () if first is None else zip(first.schema.names, first.columns, strict=True)
    kinds = {name: kind_of_column(name, cells) for name, cells in columns}
    return {name: kind for name, kind in kinds.items() if kind is not None}


def _is_looked_for(name: str, kind: Kind, role: str) -> bool:
    """Return whether a column's role and name allow its kind. Days of visits identify no one."""
    if kind in LOOKED_FOR:
        return role == "identifier"
    return role == "quasi" and (kind == "place" or names_as(name, "birth"))
