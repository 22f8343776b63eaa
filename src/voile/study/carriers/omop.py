"""Read and write the OMOP common data model 5.4: CSV, Parquet, or a schema of PostgreSQL.

Memory: the people, and the id of each visit. Other rows are read one batch at a time.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Collection, Iterator, Mapping
from dataclasses import dataclass, field
from datetime import date
from pathlib import Path
from typing import Any

import pyarrow as pa

from voile.core.errors import RequestError, SourceError
from voile.data import Source, open_source, open_writer
from voile.data.person_codes import HISPANIC, RACES, SEXES, omop_concepts
from voile.data.postgres.address import DatabaseAddress
from voile.engines.shuffle import shuffle_rows
from voile.study.carriers import carrier
from voile.study.carriers.omop_rules import (
    NO_RULE,
    domain_tables,
    event_of,
    schema_of,
    table_rules,
    why_unreleased,
)
from voile.study.carriers.omop_writing import OmopWriting, Row, find_domain_table
from voile.study.carriers.row_limits import RowLimits

SUFFIXES = (".parquet", ".csv")
SEX_WORDS = {concept: word for word, concept in omop_concepts(SEXES).items()}
RACE_WORDS = {concept: word for word, concept in omop_concepts(RACES).items()}

_BORN = ("year_of_birth", "month_of_birth", "day_of_birth")
_OF_PERSON = ("person_id", "person_source_value", "location_id", *_BORN)
_HOME = ("location_id", "address_1", "address_2", "city", "zip")
_KNOWN_AS = {
    "person_source_value": "record_number",
    "address_1": "street",
    "address_2": "street_2",
    "zip": "zip_code",
    "provider_name": "full_name",
    "care_site_name": "institution",
}
"""The names under which a kit of notes expects columns of the model."""
_TIME = r"[T ]\d{2}:\d{2}.*$"
_REFERRED = ("visit_occurrence", "visit_detail", "payer_plan_period", "episode")
"""Tables with rows that other columns refer to. Costs refer to the tables of their domains."""


@dataclass
class OmopCarrier:
    """A folder with one file per table, or a PostgreSQL schema: `postgresql://host/database::cdm`.

    as_of : the day on which ages are counted. drop : tables that are not released.
    form : parquet or csv, the form of released tables. The default is the form of the source.
    most_rows : by table, the maximum number of released rows of a person.
    drops_stays : whether all days of a row are replaced by its first day.
    """

    place: str
    as_of: date
    drop: frozenset[str] = frozenset()
    form: str | None = None
    most_rows: Mapping[str, int] = field(default_factory=dict)
    drops_stays: bool = False
    _opened: dict[str, Source] = field(default_factory=dict, repr=False)
    _people: dict[str, carrier.ExportPerson] = field(default_factory=dict, repr=False)
    _owners: dict[str, dict[int, str]] = field(default_factory=dict, repr=False)
    """The person of each row that others refer to, by table and id."""

    def unpack(self, folder: Path) -> None:
        """Write the tables of people and notes.

        Raises
        ------
        RequestError : there is no table of people, or a row has no person.
        SourceError : a cell does not have its column's type.
        """
        self._index()
        carrier.write_people(self._people, self.as_of, folder)
        notes = (row for _, row in self.rows("note"))
        texts = ((str(row["person_id"]), row["note_text"]) for row in notes)
        carrier.write_notes(((who, text) for who, text in texts if text is not None), folder)

    def pack(
        self, released: carrier.ReleasedStudy, folder: Path, scratch: Path
    ) -> carrier.PackedExport:
        """Write the released tables, with shuffled rows, new ids and all columns of the model."""
        self._index()
        limits = RowLimits(lambda table, _: self.most_rows.get(table), released.secret)
        writing = OmopWriting(released, self._people, self._owners, limits, self.drops_stays)
        tallies = {name: carrier.FileTally() for name in self._tables()}
        rows: dict[str, int] = {}
        last = "observation_period"  # it spans the released days of the other tables
        for name in sorted(tallies, key=lambda one: one == last):
            if name in self.most_rows and name != "location":
                writing.consider(name, (row for _, row in self.rows(name)))
            batches = writing.batches(name, (row for _, row in self.rows(name)), tallies[name])
            mixed = shuffle_rows(batches, rng=released.chance.generator(), directory=scratch)
            place = folder / f"{name}.{self.form or self._suffix}"
            with open_writer(place, schema_of(name)) as writer:
                for batch in mixed:
                    writer.write(writing.number_rows(name, batch, tallies[name]))
            tallies[name].check(name)
            rows[place.name] = tallies[name].released
        return carrier.PackedExport(rows, tallies)

    def last_day(self) -> date | None:
        days = (row["visit_start_date"] for _, row in self.rows("visit_occurrence"))
        return max((day for day in days if day), default=None)

    def names(self) -> Iterator[tuple[str, carrier.Names]]:
        return iter(())  # the model has no names

    def events(self, *, written: bool) -> Iterator[carrier.PersonEvent]:
        name = "person_source_value" if written else "person_id"
        names = {row["person_id"]: str(row[name]) for _, row in self.rows("person")}
        for table in self._tables():
            rules, ranks = table_rules()[table], Counter[str]()
            for _, row in self.rows(table) if rules.person and table != "person" else ():
                whose = names[row[str(rules.person)]]
                days = tuple(row[name] for name in rules.days if row[name] is not None)
                ranks[whose] += 1
                yield carrier.PersonEvent(whose, *event_of(table, row), days, table, ranks[whose])
        yield from self._costs(names)

    def list_known(self) -> Iterator[tuple[str, carrier.Known]]:
        homes = {row.pop("location_id", ""): row for row in self._texts("location", _HOME)}
        for row in self._texts("person", _OF_PERSON):
            subject, home = row.pop("person_id", ""), row.pop("location_id", "")
            born = [row.pop(one, "") for one in _BORN]
            own = {**homes.get(home, {}), **row}
            if all(born):
                own["birth_date"] = "-".join(one.zfill(2) for one in born)
            named = {_KNOWN_AS.get(column, column): x for column, x in own.items()}
            if subject and named:
                yield subject, named

    def staff(self) -> Iterator[carrier.Known]:
        for table, names in (("provider", ("provider_name",)), ("care_site", ("care_site_name",))):
            for row in self._texts(table, names):
                if row:
                    yield {_KNOWN_AS[column]: x for column, x in row.items()}

    def without_rule(self) -> list[str]:
        return []  # `list_uncovered` returns the tables and columns without a rule

    def count_covered(self) -> dict[str, int]:
        return {name: _count(self._sources()[name]) for name in self._tables()}

    def list_uncovered(self) -> list[carrier.UncoveredContent]:
        tables, columns = [], []
        for name, source in self._sources().items():
            rows = _count(source)
            if name not in table_rules() or name in self.drop:
                why = "the plan drops it" if name in self.drop else why_unreleased(name)
                is_standard = name in table_rules() or why_unreleased(name) != NO_RULE
                tables.append(carrier.UncoveredContent(name, rows, why, is_standard))
                continue
            rules = table_rules()[name]
            columns += [
                carrier.UncoveredContent(f"{name}.{one}", rows, reason, one in rules.columns)
                for one in map(str.lower, source.columns)
                if (reason := rules.reason(one)) is not None
            ]
        return [*sorted(tables, key=lambda one: one.why == NO_RULE), *columns]

    def extract(self) -> carrier.Extract:
        starts = (row["visit_start_date"] for _, row in self.rows("visit_occurrence"))
        days = (
            row[name]
            for table in self._tables()
            for _, row in self.rows(table)
            for name in table_rules()[table].days
        )
        return carrier.extract_between(filter(None, starts), filter(None, days))

    def _index(self) -> None:
        """Read the people, and the person of each row that others refer to. Check every row."""
        if self._people:
            return
        homes = {row["location_id"]: carrier.zip_of(row["zip"]) for _, row in self.rows("location")}
        for place, row in self.rows("person"):
            person = _person(row, homes, place)
            if person.subject in self._people:
                raise SourceError("its person_id was there before", where=place)
            self._people[person.subject] = person
        if not self._people:
            raise RequestError("there is no table person, or nobody in it", where=self._name)
        there = self._tables()
        costed = domain_tables().values() if "cost" in there else ()
        self._owners = {name: {} for name in there if name in (*_REFERRED, *costed)}
        for name in there:
            if name not in ("location", "person") and table_rules()[name].person:
                self._index_table(name)

    def _index_table(self, name: str) -> None:
        """Check the person of each row, and store it if others refer to the row."""
        rules, owners = table_rules()[name], self._owners.get(name)
        person, own = str(rules.person), str(rules.id)
        for place, row in self.rows(name):
            if row[person] is None:
                raise RequestError(
                    f"a {name} without a subject",
                    where=place,
                    instead=f"give it a {person}, or take the row out",
                )
            if str(row[person]) not in self._people:
                raise RequestError(
                    "refers to a person that the table person does not have",
                    where=place,
                    instead="add the person, or take the row out",
                )
            if owners is not None:
                number = int(_take_needed(row, own, place))
                if number in owners:
                    raise SourceError(f"its {own} was there before", where=place)
                owners[number] = str(row[person])

    def _costs(self, names: Mapping[int, str]) -> Iterator[carrier.PersonEvent]:
        """Yield the costs of people's rows. Costs of no person are skipped."""
        if "cost" not in self._tables():
            return
        rule = table_rules()["cost"].columns["cost_event_id"]
        owners = {name: self._persons_of(name) for name in domain_tables().values()}
        ranks = Counter[str]()
        for _, row in self.rows("cost"):
            who = owners.get(find_domain_table(row, rule), {}).get(row["cost_event_id"])
            if who is not None:
                whose = names[who]
                ranks[whose] += 1
                yield carrier.PersonEvent(whose, *event_of("cost", row), (), "cost", ranks[whose])

    def _persons_of(self, name: str) -> dict[int, int]:
        """Return the person of each row of a table by the row's id."""
        key = str(table_rules()[name].id)
        return {row[key]: row["person_id"] for _, row in self.rows(name)}

    def rows(self, name: str) -> Iterator[tuple[str, Row]]:
        """Yield the place and the cells of each row of a table with rules, in the model's types."""
        source = self._open(name) if name not in self.drop else None
        if source is None:
            return
        read = table_rules()[name].source_columns
        names = {column.lower(): column for column in source.columns}
        wanted = [column for column in read if column in names]
        number = 0
        for batch in source.batches([names[column] for column in wanted]):
            cells = {one: _cast(batch.column(n), name, one) for n, one in enumerate(wanted)}
            blank = dict.fromkeys(read)
            for row in pa.table(cells).to_pylist() if wanted else ():
                number += 1
                yield f"{name}, row {number:,}", {**blank, **row}

    def _texts(self, name: str, wanted: Collection[str]) -> Iterator[dict[str, str]]:
        """Yield the wanted cells of a table as text, without null and blank cells."""
        source = self._open(name)
        if source is None:
            return
        names = {one.lower(): one for one in source.columns if one.lower() in wanted}
        for batch in source.batches([*names.values()]) if names else ():
            for row in batch.rename_columns([*names]).to_pylist():
                cells = {column: str(x).strip() for column, x in row.items() if x is not None}
                yield {column: x for column, x in cells.items() if x}

    def _tables(self) -> list[str]:
        there = self._sources()
        return [name for name in table_rules() if name in there and name not in self.drop]

    def _open(self, name: str) -> Source | None:
        return self._sources().get(name)

    def _sources(self) -> dict[str, Source]:
        """Open every table of the source, by its name in lower case."""
        if not self._opened:
            self._opened = self._open_folder() if self._address is None else self._open_schema()
        return self._opened

    def _open_folder(self) -> dict[str, Source]:
        found: dict[str, Source] = {}
        for path in sorted(Path(self.place).glob("*")):
            name = path.stem.lower()
            if path.suffix.lower() not in SUFFIXES:
                continue
            if name in found:
                raise RequestError(f"there are two files of table {name}", where=self._name)
            found[name] = open_source(path)
        return found

    def _open_schema(self) -> dict[str, Source]:
        """Open the tables of a schema of PostgreSQL."""
        from voile.data.postgres.session import DatabaseSession, literal
        from voile.data.postgres.source import PostgresSource

        assert self._address is not None
        schema, url = self._address.table or "public", self._address.url
        sql = (
            "SELECT table_name FROM information_schema.tables "  # views are read, too
            f"WHERE table_schema = {literal(schema)} ORDER BY 1"
        )
        with DatabaseSession(self._address) as session:
            names = [str(name) for (name,) in session.run(sql)]
        return {
            one.lower(): PostgresSource(DatabaseAddress(url, f"{schema}.{one}")) for one in names
        }

    @property
    def _address(self) -> DatabaseAddress | None:
        return DatabaseAddress.parse(self.place)

    @property
    def _suffix(self) -> str:
        if self._address is None and any(Path(self.place).glob("[Pp][Ee][Rr][Ss][Oo][Nn].csv")):
            return "csv"
        return "parquet"

    @property
    def _name(self) -> str:
        address = self._address
        return Path(self.place).name if address is None else address.name


def _count(source: Source) -> int:
    first = [*source.columns][:1]
    return sum(len(batch) for batch in source.batches(first)) if first else 0


def _cast(column: pa.Array, table: str, name: str) -> pa.Array:
    """Read a column as the model's type, with blank text as null."""
    import pyarrow.compute as pc

    kind = schema_of(table).field(name).type
    if pa.types.is_string(column.type) and not pa.types.is_string(kind):
        trimmed = pc.utf8_trim_whitespace(column)
        column = pc.if_else(pc.equal(trimmed, ""), None, trimmed)
        if pa.types.is_date(kind):  # a day may be written with a time
            column = pc.replace_substring_regex(column, _TIME, "")
    try:
        return column.cast(kind)
    except (pa.ArrowInvalid, pa.ArrowNotImplementedError):
        raise SourceError(
            f"column {name} holds values that are not of type {kind}", where=table
        ) from None


def _take_needed(row: Row, name: str, place: str) -> Any:
    if row[name] is None:
        raise SourceError(f"has no {name}", where=place)
    return row[name]


def _person(row: Row, homes: Mapping[int, str | None], place: str) -> carrier.ExportPerson:
    return carrier.ExportPerson(
        str(_take_needed(row, "person_id", place)),
        _birth(row, place),
        SEX_WORDS.get(row["gender_concept_id"]),
        HISPANIC.word
        if row["ethnicity_concept_id"] == HISPANIC.omop
        else RACE_WORDS.get(row["race_concept_id"]),
        homes.get(row["location_id"]),
    )


def _birth(row: Row, place: str) -> date | None:
    if row["year_of_birth"] is None:
        return None
    try:
        return carrier.birth_of(row["year_of_birth"], row["month_of_birth"], row["day_of_birth"])
    except ValueError:
        raise SourceError("has a day of birth that is not a date", where=place) from None
