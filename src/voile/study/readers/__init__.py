"""Readers of mentions, one for each kind. They convert words of a text to cells of a column."""

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
    """Return the reader for the mentions of a type.

    Parameters
    ----------
    label : the type of the mentions.
    values : the cells of its column, if the column lists them.
    meanings : for a list of words, the cells that each word means.
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
    """Return whether a type is a sex, such as SEX, GENDER or PATIENT_SEX."""
    return not _SEX.isdisjoint(safe_label(label).split("_"))


def is_zip(label: str) -> bool:
    """Return whether a type is a ZIP code, such as ZIP, ZIPCODE or POSTAL_CODE."""
    return safe_label(label).startswith(("ZIP", "POST"))


def finds_alone(label: str, *, words: bool) -> bool:
    """Return whether a type's reader finds mentions in every form that it reads, without a kit."""
    return words or is_sex(label)
