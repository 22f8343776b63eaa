"""Index the known values of some people by the words and codes to look up in a note."""

from __future__ import annotations

from collections.abc import Iterable
from typing import NamedTuple

import pyarrow as pa

from voile.documents.model.start.known.codes import codes_of
from voile.documents.model.start.known.days import day_codes, day_keys
from voile.documents.model.start.known.names import PeopleNames
from voile.documents.model.start.known.parts import key_of
from voile.documents.model.start.known.phrases import ValuePhrase
from voile.documents.model.start.known.vocabulary import ValueVocabulary

Entries = list[int]
"""A flat sequence of owner, key, and number of the item under the key."""


class ValueCode(NamedTuple):
    """A number or a day, with its column."""

    text: str
    kind: str
    column: str


class ValueIndex:
    """An index of values by owner: words of names, phrases, codes and days."""

    def __init__(self) -> None:
        self.vocabulary = ValueVocabulary()
        self.names = PeopleNames()
        self.name_words: Entries = []
        self.phrases: list[ValuePhrase] = []
        self.phrase_owners: list[int] = []
        self.codes: list[ValueCode] = []
        self.code_keys: Entries = []
        self.day_keys: Entries = []

    def add(self, owners: Iterable[int], values: pa.Table) -> None:
        """Add values, as rows of `SCHEMA`, each with its owner."""
        columns = (
            values.column(name).to_pylist() for name in ("number", "column", "kind", "value")
        )
        for owner, person, column, kind, value in zip(owners, *columns, strict=True):
            if kind == "name":
                for word, number in self.names.add(owner, person, column, value):
                    self.name_words += owner, self.vocabulary.number(word), number
            elif kind == "date":
                self._add_day(owner, column, int(value))
            elif not self._add_codes(owner, column, kind, value) and kind != "phone":
                self._add_phrase(owner, ValuePhrase.of(kind, column, value))

    def _add_day(self, owner: int, column: str, day: int) -> None:
        for key in day_keys(day):
            self.day_keys += owner, key, len(self.codes)
        self.codes.append(ValueCode("", "date", column))
        for code in day_codes(day):
            self._add_code(owner, ValueCode(code, "date", column))

    def _add_codes(self, owner: int, column: str, kind: str, value: str) -> bool:
        """Add a value that is a number, and return whether it is one."""
        if kind in ("email", "address", "organisation"):
            return False
        codes = set(codes_of(kind, value))
        for code in codes:
            self._add_code(owner, ValueCode(code, kind, column))
        return bool(codes)

    def _add_code(self, owner: int, code: ValueCode) -> None:
        self.code_keys += owner, key_of(code.text), len(self.codes)
        self.codes.append(code)

    def _add_phrase(self, owner: int, phrase: ValuePhrase) -> None:
        if phrase.words:
            for place in phrase.strong:
                self.vocabulary.number(phrase.words[place])
            self.phrases.append(phrase)
            self.phrase_owners.append(owner)
