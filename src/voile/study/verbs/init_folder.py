"""A plan for a folder of files with a common column of subjects."""

from __future__ import annotations

import json
import re
from collections import Counter
from collections.abc import Collection, Iterator, Mapping, Sequence
from dataclasses import replace
from itertools import chain, count, islice
from pathlib import Path

import pyarrow as pa

from voile.core.errors import RequestError
from voile.data import Source, open_source
from voile.data.column_words import mentions as names_as
from voile.documents.start.known.columns import NOTHING, Kind, kind_of_column
from voile.proposals.proposal import ColumnProposal, Proposal
from voile.proposals.propose import propose
from voile.proposals.seen import printable
from voile.study.adversary.days import can_be_moved, day_columns
from voile.study.plan.plan import TAKEN
from voile.study.verbs.init_parts import Asked, FoundParts, Known, notes_part

SUFFIXES = (".csv", ".tsv", ".parquet", ".jsonl", ".ndjson")
LONG = 60
"""Characters that a cell of text has on average where it is a note."""
SAMPLE = 1000
LOOKED_FOR = ("name", "phone", "email", "id", "address", "organisation")
"""Kinds of identifiers that are looked for in notes; places and days of birth go with them."""
_OTHER_FIT = (
    "fit = { k = 5 }  # no class of fewer people, as the promise says of the first table\n"
    "choose = { policy = 0 }  # the one of least risk"
)


def plan_folder(asked: Asked) -> FoundParts:
    """Plan files with a common column: tables, and notes where a column is long text.

    A file of notes alone is a part of its own. Where others know more of its rows than a day, it is
    a table, and its notes are a part of that.
    """
    place = asked.place
    files = {
        path.name: open_source(path)
        for path in sorted(Path(place).iterdir())
        if path.suffix.lower() in SUFFIXES
    }
    subject, why = _subject(files, place)
    whose = {name: source for name, source in files.items() if subject in source.columns}
    tables = {name: _proposed(source) for name, source in whose.items()}
    alone = [n for n, one in tables.items() if one.by_role().get("text") and not _quasi(one)]
    tables = {name: one for name, one in tables.items() if name not in alone}
    if not tables:
        raise RequestError("no file is a table of people", where=place)
    parts = [f"# {printable(name)} is not in the study: it has no column {printable(subject)}"
             for name in files if name not in whose]  # fmt: skip
    notes = {_name(name): [f"source = {asked.beside(str(Path(place) / name))}"] for name in alone}
    roles: dict[str, str] = {}
    taken: list[str] = []
    order = _first_counted(tables, asked.population)
    for name in order:
        own = _without(tables[name], taken, subject)
        columns, texts = _quasi(own), own.by_role().get("text", [])
        if roles and not (columns or texts):
            why_not = "no column of it is a new quasi-identifier"
            parts.append(f"# {printable(name)} is not in the study: {why_not}")
            continue
        stem = _free_name(name, {*roles, *notes})
        parts += [
            f"[parts.{stem}]",
            f'kind = "tables"  # {_why_table(columns)}',
            f"source = {asked.beside(str(Path(place) / name))}",
            f'roles = "{stem}.toml"  # proposed column by column: correct it',
            asked.fit if not roles else _OTHER_FIT,
            "",
        ]
        roles[stem] = own.to_toml()
        taken += columns
        for text in texts:
            said = json.dumps(text, ensure_ascii=False)
            notes[_free_name(text, {*roles, *notes}, stem)] = [f'of = "{stem}"', f"text = {said}"]
    known = _known(whose, subject, place) if notes else Known()
    for stem, where in notes.items():
        parts += notes_part(stem, where, asked, subject, known)
    columns = _quasi(tables[order[0]])
    code = next((name for name in columns if "zip" in name.lower()), None)
    codes = None if code is None else (code, "values = true")
    return FoundParts(subject, why, [], parts, roles, columns, has_notes=bool(notes), codes=codes)


def _proposed(source: Source) -> Proposal:
    """Propose the roles of a table of a study: long texts are notes, days move with their person.

    A day of birth is none of these; days that cannot be moved are dropped.
    """
    proposal = propose(source, "tables")
    texts = {name for name in _text_columns(source) if _mean_length(source, name) > LONG}
    days = day_columns(source, [one.name for one in proposal.columns if one.role == "quasi"])

    def own(one: ColumnProposal) -> ColumnProposal:
        if one.name in texts:
            return ColumnProposal(one.name, "text", f"notes; {one.why}")
        if one.name not in days or names_as(one.name, "birth"):
            return one
        if can_be_moved(source, one.name):
            return ColumnProposal(one.name, "keep", "a day: it moves by its person's one offset")
        return ColumnProposal(one.name, "drop", "its days are not written as 2013-07-01: they stay")

    return replace(proposal, columns=tuple(map(own, proposal.columns)))


def _first_counted(tables: Mapping[str, Proposal], population: str | None) -> list[str]:
    """Order tables: first the one most of whose quasi-identifiers the population counts."""
    counted = set() if population is None else {*open_source(population).columns}
    return sorted(
        tables,
        key=lambda name: (-len(counted & {*_quasi(tables[name])}), -len(_quasi(tables[name]))),
    )


def _without(proposal: Proposal, taken: Sequence[str], subject: str) -> Proposal:
    """Drop what is undecided, and an earlier table's quasi-identifiers.

    Intervals of two policies say more than either.
    """

    def own(one: ColumnProposal) -> ColumnProposal:
        if one.role == "quasi" and one.name in taken:
            return ColumnProposal(one.name, "drop", "a quasi-identifier of an earlier table")
        if one.role == "undecided":
            return ColumnProposal(one.name, "drop", f"not released until you decide; {one.why}")
        return one

    return replace(proposal, columns=tuple(map(own, proposal.columns)), subject=subject)


def _free_name(file: str, taken: Collection[str], of: str = "") -> str:
    """Name a part by its file, or the column of a table; by more where that is taken."""
    stem = _name(file)
    more = f"{of}-{stem}" if of else _name(file.replace(".", "-"))
    names = chain((stem, more), (f"{more}-{n}" for n in count(2)))
    return next(one for one in names if one not in taken and one not in TAKEN)


def _name(file: str) -> str:
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


def _known(whose: Mapping[str, Source], subject: str, place: str) -> Known:
    """Find the columns of names, numbers and addresses, and of the days and places beside them."""
    own: list[str] = []
    why: list[str] = []
    wanted: set[str] = set()
    others: set[str] = set()
    for name, source in whose.items():
        roles = {one.name: one.role for one in propose(source, "tables").columns}
        kinds = {c: kind for c, kind in _kinds(source).items() if c != subject}
        found = [c for c, kind in kinds.items() if _is_looked_for(c, kind, roles[c])]
        if any(kinds[c] in LOOKED_FOR for c in found):
            others |= kinds.keys() - {*found}
            own.append(str(Path(place) / name))
            wanted |= {*found}
            said = ", ".join(f"{printable(c)} ({kinds[c]})" for c in found)
            why.append(f"# {said} of {printable(name)}: by their names and values")
    return Known(own, (), dict.fromkeys(sorted(others - wanted), NOTHING) if own else {}, why)


def _kinds(source: Source) -> dict[str, Kind]:
    """Return the kind of known value that each column looks like."""
    first = next(islice(source.batches(batch_rows=SAMPLE), 1), None)
    columns = () if first is None else zip(first.schema.names, first.columns, strict=True)
    kinds = {name: kind_of_column(name, cells) for name, cells in columns}
    return {name: kind for name, kind in kinds.items() if kind is not None}


def _is_looked_for(name: str, kind: Kind, role: str) -> bool:
    """Say whether a column's role and name allow its kind: the day of a visit is nobody's own."""
    if kind in LOOKED_FOR:
        return role == "identifier"
    return role == "quasi" and (kind == "place" or names_as(name, "birth"))
