"""The released rows of the OMOP tables.

A year of birth is computed from the middle of the age's interval and the day of the ages. A ZIP
code is the common beginning of all codes of its interval. `person_source_value` is the pseudonym.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from datetime import date
from functools import cached_property
from typing import Any, TypeAlias

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from voile.data.person_codes import HISPANIC, NOT_HISPANIC, RACES, SEXES, omop_concepts
from voile.study.carriers import carrier, omop_rules
from voile.study.carriers.omop_rules import ColumnRule, table_rules
from voile.study.carriers.row_limits import RowLimits

Row: TypeAlias = Mapping[str, Any]
Owners: TypeAlias = Mapping[str, Mapping[int, str]]
"""The person of each row that others refer to, by table and id."""
SEX_CONCEPTS, RACE_CONCEPTS = omop_concepts(SEXES), omop_concepts(RACES)
NO_DAY = "without a day that can be moved"
NO_EVENT = "a period without a released event"
NO_COST = "of no released row of its domain"
LINKS = "links to rows that are not there, not the person's own, or not released"
NOT_SPANNED = frozenset(
    ("observation_period", "payer_plan_period", "cohort", "drug_era", "dose_era", "condition_era")
)
"""Tables with days that an observation period does not span."""
_ROWS = 4096
_PERIOD = ("observation_period_start_date", "observation_period_end_date")


def find_domain_table(row: Row, rule: ColumnRule) -> str:
    """Return the table that a link refers to: the rule's, or that of the row's domain."""
    if rule.of in table_rules():
        return rule.of
    return omop_rules.domain_tables().get(str(row[rule.of]), "")


@dataclass
class OmopWriting:
    """The conversion of rows to their released form, with the days that people's events span."""

    released: carrier.ReleasedStudy
    people: Mapping[str, carrier.ExportPerson]
    owners: Owners
    limits: RowLimits
    drops_stays: bool = False
    spans: dict[str, tuple[date, date]] = field(default_factory=dict)
    _written: dict[str, int] = field(default_factory=dict)
    _withheld: set[tuple[str, Any]] = field(default_factory=set)
    """Rows of released people that are not released. No released row may refer to them."""

    def consider(self, table: str, rows: Iterator[Row]) -> None:
        """Count the rows of a table that can be released towards the row limits.

        The text of a note may be missing.
        """
        for row in rows:
            subject = self.find_subject(table, row)
            if self.released.shown(subject) is not None and not isinstance(
                self._write_cells(table, row, subject), str
            ):
                self.limits.consider(table, subject, row)

    def batches(
        self, table: str, rows: Iterator[Row], tally: carrier.FileTally
    ) -> Iterator[pa.RecordBatch]:
        """Yield the released rows of a table, in the model's columns."""
        made = self._locations(rows, tally) if table == "location" else self._rows(
            table, rows, tally
        )  # fmt: skip
        schema, held = omop_rules.schema_of(table), list[Row]()
        for row in made:
            held.append(row)
            if len(held) == _ROWS:
                yield pa.RecordBatch.from_pylist(held, schema)
                held = []
        yield pa.RecordBatch.from_pylist(held, schema)

    def number_rows(
        self, table: str, batch: pa.RecordBatch, tally: carrier.FileTally
    ) -> pa.RecordBatch:
        """Set the ids of shuffled rows that nothing refers to: their positions.

        All released rows of the table are known at this point, so links to other rows are removed.
        """
        batch = self._remove_links(table, batch, tally)
        first = self._written.get(table, 0) + 1
        self._written[table] = first + len(batch) - 1
        name = table_rules()[table].id
        if name is None or table == "location" or table in self.owners:
            return batch
        at = batch.schema.get_field_index(name)
        ids = pa.array(np.arange(first, first + len(batch)))
        return batch.set_column(at, batch.schema.field(at), ids)

    def _remove_links(
        self, table: str, batch: pa.RecordBatch, tally: carrier.FileTally
    ) -> pa.RecordBatch:
        """Remove the links to rows of the same table that are not released."""
        withheld = [self._ids[name][raw] for name, raw in self._withheld if name == table]
        for name, rule in table_rules()[table].columns.items() if withheld else ():
            if (rule.rule, rule.of) == (omop_rules.REF, table):
                at = batch.schema.get_field_index(name)
                lost = pc.is_in(batch.column(at), pa.array(withheld, pa.int64()))
                tally.dropped[f"{name}: {LINKS}"] += lost.true_count
                cells = pc.if_else(lost, None, batch.column(at))
                batch = batch.set_column(at, batch.schema.field(at), cells)
        return batch

    def _rows(self, table: str, rows: Iterator[Row], tally: carrier.FileTally) -> Iterator[Row]:
        for row in rows:
            tally.read += 1
            subject = self.find_subject(table, row)
            made = self._row(table, row, subject, tally)
            if isinstance(made, str):
                tally.put_aside(subject, made)
                if table in self.owners and made != carrier.NOT_RELEASED:
                    self._withheld.add((table, row[str(table_rules()[table].id)]))
            else:
                tally.released += 1
                yield made

    def find_subject(self, table: str, row: Row) -> str:
        """Return the person of a row, from its own column or from the row of its domain."""
        rules = table_rules()[table]
        if rules.person is not None:
            return str(row[rules.person])
        name, rule = next((n, x) for n, x in rules.columns.items() if x.rule == omop_rules.REF)
        return self.owners.get(find_domain_table(row, rule), {}).get(row[name], "")

    def _row(self, table: str, row: Row, subject: str, tally: carrier.FileTally) -> Row | str:
        """Return the released form of a row, or the reason for not releasing it."""
        rules = table_rules()[table]
        text = None
        if table == "note" and row["note_text"] is not None:  # taken for all, in order
            text = next(self.released.notes)
        if rules.person is None and not subject:
            return NO_COST
        shown = self.released.shown(subject)
        if shown is None:
            return carrier.NOT_RELEASED
        if table == "note" and text is None:
            return carrier.NO_TEXT
        made = self._write_cells(table, row, subject)
        if isinstance(made, str):
            return made
        if not self.limits.keeps(table, subject, row):
            return carrier.ABOVE_MOST
        tally.dropped.update(f"{n}: {LINKS}" for n in self._find_lost(table, row, made))
        if table == "note":
            made["note_text"] = text
        if table == "person":
            made |= self._describe_person(subject, shown)
        if table == "observation_period":
            if subject not in self.spans:
                return NO_EVENT
            made |= dict(zip(_PERIOD, self.spans[subject], strict=True))
        elif table not in NOT_SPANNED and rules.days:
            self._note_days(subject, [made[x] for x in rules.days if made[x] is not None])
        return made

    def _write_cells(self, table: str, row: Row, subject: str) -> dict[str, Any] | str:
        """Return the released cells of a row's own columns, or the reason for not releasing it."""
        rules = table_rules()[table]
        try:
            made = {
                name: self._cell(table, name, rule, row, subject)
                for name, rule in rules.source_columns.items()
            }
        except carrier.WithheldError as why:
            return str(why)
        if self.drops_stays:  # the model requires some of the later days
            days = [name for name in rules.days if made[name] is not None]
            made |= dict.fromkeys(days, made[days[0]] if days else None)
        needed = [n for n, one in rules.columns.items() if one.rule == omop_rules.FIRST_DAY]
        if any(made[name] is None for name in needed):
            return NO_DAY
        if rules.person is None and self._find_lost(table, row, made):
            return NO_COST
        return made

    def _find_lost(self, table: str, row: Row, made: Row) -> list[str]:
        """Return the columns of this row with links to missing or withheld rows."""
        columns = table_rules()[table].source_columns.items()
        links = [name for name, x in columns if x.rule == omop_rules.REF]
        return [name for name in links if made[name] is None and row[name] is not None]

    def _cell(self, table: str, name: str, rule: ColumnRule, row: Row, subject: str) -> Any:
        raw = row[name]
        if rule.rule == omop_rules.PERSON:
            return self._person_ids[subject]
        if rule.rule == omop_rules.ID:
            return self._ids[table][raw] if table in self.owners else None
        if rule.rule == omop_rules.REF:
            return self._link(find_domain_table(row, rule), raw, subject)
        if rule.rule == omop_rules.HOME:
            return self._homes.get(self._code(subject) or "")
        if rule.rule in (omop_rules.SHIFT, omop_rules.FIRST_DAY):
            return None if raw is None else self.released.move_day(subject, raw)
        if rule.rule == omop_rules.NEEDED:
            return raw or 0
        return raw if rule.rule in (omop_rules.KEEP, omop_rules.DOMAIN) else None

    def _link(self, table: str, raw: Any, subject: str) -> int | None:
        """Return the new id of a released row of the same person, else None."""
        own = self.owners.get(table, {}).get(raw) == subject
        return self._ids[table][raw] if own and (table, raw) not in self._withheld else None

    def _describe_person(self, subject: str, shown: carrier.Shown) -> Row:
        race = carrier.one_value(shown, "race")
        ethnicity = HISPANIC.omop if race == HISPANIC.word else NOT_HISPANIC if race else 0
        age = carrier.middle(shown, "age")
        return {
            "person_source_value": self.released.name_of(subject),
            "gender_concept_id": SEX_CONCEPTS.get(carrier.one_value(shown, "sex") or "", 0),
            "race_concept_id": RACE_CONCEPTS.get(race or "", 0),
            "ethnicity_concept_id": ethnicity,
            "year_of_birth": 0 if age is None else self.released.as_of.year - age,
        }

    def _locations(self, rows: Iterator[Row], tally: carrier.FileTally) -> Iterator[Row]:
        """Yield one home for each released ZIP code, in place of the homes of the source."""
        tally.read += sum(1 for _ in rows)
        tally.released += min(tally.read, len(self._homes))
        tally.set_aside[carrier.NOT_A_HOME] += tally.read - tally.released
        for code, number in self._homes.items():
            yield {"location_id": number, "zip": code}

    def _note_days(self, subject: str, days: list[date]) -> None:
        first, last = self.spans.get(subject, (max(days), min(days)))
        self.spans[subject] = (min(first, *days), max(last, *days))

    def _code(self, subject: str) -> str | None:
        shown = self.released.shown(subject)
        return carrier.common_start(shown, "zip") if shown else None

    @cached_property
    def _homes(self) -> Mapping[str, int]:
        codes = {self._code(one) for one in self._person_ids} - {None}
        return {str(code): n for n, code in enumerate(sorted(map(str, codes)), 1)}

    @cached_property
    def _person_ids(self) -> Mapping[str, int]:
        """The numbers of the released people, in random order."""
        there = [one for one in self.people if self.released.shown(one) is not None]
        return self._numbers(there)

    @cached_property
    def _ids(self) -> Mapping[str, Mapping[Any, int]]:
        """The numbers of released people's rows that others refer to, in random order."""
        return {
            table: self._numbers([n for n, who in own.items() if who in self._person_ids])
            for table, own in self.owners.items()
        }

    def _numbers(self, things: list[Any]) -> dict[Any, int]:
        drawn = self.released.chance.generator().permutation(len(things)) + 1
        return dict(zip(things, drawn.tolist(), strict=True))
