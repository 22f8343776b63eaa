"""Rows of the OMOP tables as they are released.

A year of birth is the middle of the age's interval, counted back from the day of the ages; a ZIP
code is what all codes of its interval begin with; `person_source_value` holds the pseudonym.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from datetime import date
from functools import cached_property
from typing import Any, TypeAlias

import numpy as np
import pyarrow as pa

from voile.data.person_codes import HISPANIC, NOT_HISPANIC, RACES, SEXES, omop_concepts
from voile.study.carriers import carrier, omop_columns

Row: TypeAlias = Mapping[str, Any]
SEX_CONCEPTS, RACE_CONCEPTS = omop_concepts(SEXES), omop_concepts(RACES)
NO_DAY = "without a day that can be moved"
NO_EVENT = "a period without a released event"
_ROWS = 4096


@dataclass
class OmopWriting:
    """Writes released rows, and remembers the days that each person's events span.

    visits : whose each visit is.
    """

    released: carrier.Released
    people: Mapping[str, carrier.Person]
    visits: Mapping[int, str]
    spans: dict[str, tuple[date, date]] = field(default_factory=dict)
    _written: dict[str, int] = field(default_factory=dict)
    _visits: set[Any] = field(default_factory=set)
    """Those that were released, by the ids that they had: nothing refers to another."""

    def batches(
        self, table: str, rows: Iterator[Row], tally: carrier.Tally
    ) -> Iterator[pa.RecordBatch]:
        """Yield the released rows of a table, in the model's columns."""
        made = self._locations(rows, tally) if table == "location" else self._rows(
            table, rows, tally
        )  # fmt: skip
        schema, held = omop_columns.schema_of(table), list[Row]()
        for row in made:
            held.append(row)
            if len(held) == _ROWS:
                yield pa.RecordBatch.from_pylist(held, schema)
                held = []
        yield pa.RecordBatch.from_pylist(held, schema)

    def numbered(self, table: str, batch: pa.RecordBatch) -> pa.RecordBatch:
        """Give shuffled rows their ids: where each one stands."""
        first = self._written.get(table, 0) + 1
        self._written[table] = first + len(batch) - 1
        for name, rule in omop_columns.rules_of(table).items():
            if rule == omop_columns.ID and table != "location":
                at = batch.schema.get_field_index(name)
                ids = pa.array(np.arange(first, first + len(batch)))
                batch = batch.set_column(at, batch.schema.field(at), ids)
        return batch

    def _rows(self, table: str, rows: Iterator[Row], tally: carrier.Tally) -> Iterator[Row]:
        for row in rows:
            tally.read += 1
            made = self._row(table, row)
            if isinstance(made, str):
                tally.put_aside(str(row["person_id"]), made)
            else:
                tally.released += 1
                yield made

    def _row(self, table: str, row: Row) -> Row | str:
        """Return a row as it is released, or why it is not."""
        subject = str(row["person_id"])
        text = None
        if table == "note" and row["note_text"] is not None:  # each is taken, whoever it is of
            text = next(self.released.notes)
        shown = self.released.shown(subject)
        if shown is None:
            return carrier.NOT_RELEASED
        if table == "note" and text is None:
            return carrier.NO_TEXT
        if table == _VISIT:
            self._visits.add(row["visit_occurrence_id"])
        try:
            made = self._cells(table, row, subject, text)
        except carrier.WithheldError as why:
            self._visits.discard(row.get("visit_occurrence_id") if table == _VISIT else None)
            return str(why)
        if table == "person":
            made |= self._shown(subject, shown)
        if table == "observation_period":
            if subject not in self.spans:
                return NO_EVENT
            ends = dict(zip(_PERIOD, self.spans[subject], strict=True))
            made |= ends
        if table in omop_columns.EVENTS:
            self._note_days(subject, [x for x in made.values() if isinstance(x, date)])
        return made

    def _cells(self, table: str, row: Row, subject: str, text: str | None) -> dict[str, Any]:
        """Return the cells that come from the source.

        Raises WithheldError: a day that is needed cannot be moved, or one leaves the extract.
        """
        rules = omop_columns.rules_of(table)
        made = {name: self._cell(rule, row[name], subject, text) for name, rule in rules.items()}
        if any(
            rule == omop_columns.FIRST_DAY and made[name] is None for name, rule in rules.items()
        ):
            raise carrier.WithheldError(NO_DAY)
        return made

    def _cell(self, rule: str, raw: Any, subject: str, text: str | None) -> Any:
        if rule == omop_columns.PERSON:
            return self._person_ids[subject]
        if rule == omop_columns.VISIT:
            return self._visit_ids[raw] if raw in self._visits else None
        if rule == omop_columns.LOCATION:
            return self._homes.get(self._code(subject) or "")
        if rule in (omop_columns.DAY, omop_columns.FIRST_DAY):
            return None if raw is None else self.released.moved(subject, raw)
        if rule == omop_columns.TEXT:
            return text
        if rule == omop_columns.NEEDED:
            return raw or 0
        return raw if rule in (omop_columns.CONCEPT, omop_columns.NUMBER) else None

    def _shown(self, subject: str, shown: carrier.Shown) -> Row:
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

    def _locations(self, rows: Iterator[Row], tally: carrier.Tally) -> Iterator[Row]:
        """Yield a home for each ZIP code that released rows show, in the place of the source's."""
        tally.read += sum(1 for _ in rows)
        tally.released += len(self._homes)
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
        """Number the released people in random order."""
        there = [one for one in self.people if self.released.shown(one) is not None]
        return self._numbers(there)

    @cached_property
    def _visit_ids(self) -> Mapping[Any, int]:
        there = [n for n, whose in self.visits.items() if self.released.shown(whose) is not None]
        return self._numbers(there)

    def _numbers(self, things: list[Any]) -> dict[Any, int]:
        drawn = self.released.chance.generator().permutation(len(things)) + 1
        return dict(zip(things, drawn.tolist(), strict=True))


_VISIT = "visit_occurrence"
_PERIOD = ("observation_period_start_date", "observation_period_end_date")
