"""Readers of mentions, one for each kind: they turn the words of a text into cells of a column."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from voile.documents.replacements.kinds import kind_of, safe_label
from voile.study.readers.ages import AgeReader
from voile.study.readers.reader import FoundMention, MentionFinder, MentionReader
from voile.study.readers.sexes import SexReader
from voile.study.readers.values import ValueReader, ZipCodes, read_words

__all__ = [
    "FoundMention",
    "MentionFinder",
    "MentionReader",
    "finds_alone",
    "is_sex",
    "read_words",
    "reader_of",
]

_SEX = frozenset(("SEX", "SEXO", "GENDER", "GENERO"))


def reader_of(
    label: str, values: Sequence[str] = (), meanings: Mapping[str, Sequence[str]] | None = None
) -> MentionReader:
    """Return what reads the mentions of a type.

    values : the cells of the column that it follows, where that lists them. meanings : of a list of
    words, the cells that each means.
    """
    if is_zip(label):
        return ZipCodes(values, meanings)
    if meanings is not None:
        return ValueReader(values, meanings)
    if kind_of(label) == "age":
        return AgeReader()
    if is_sex(label):
        return SexReader(values)
    return ValueReader(values)


def is_sex(label: str) -> bool:
    """Return whether a type is the sex: SEX, GENDER, PATIENT_SEX."""
    return not _SEX.isdisjoint(safe_label(label).split("_"))


def is_zip(label: str) -> bool:
    """Return whether a type is a ZIP code: ZIP, ZIPCODE, POSTAL_CODE."""
    return safe_label(label).startswith(("ZIP", "POST"))


def finds_alone(label: str, *, words: bool) -> bool:
    """Return whether a type's reader finds mentions in every form that it reads, without a kit."""
    return words or is_sex(label)
