"""Notes of the county's hospital that mention their patients, with marked mentions."""

from __future__ import annotations

import json
import re
from collections.abc import Mapping
from datetime import date
from typing import Any

import pyarrow as pa

from voile.demo.names import words
from voile.keys.random import RandomState, streams

TEMPLATES = (
    "{NAME|given} {NAME|family} , a {AGE|age}-year-old from {ZIP|zip} , came on {DATE|day} with "
    "{diagnosis} . {SEX|She} was seen in {ward} and went home after {stay} days .",
    "Seen on {DATE|day} : patient {NAME|family} , aged {AGE|age} , {diagnosis} . {SEX|She} lives "
    "alone , area {ZIP|zip} . No fever .",
    "{diagnosis} since {DATE|day} . {NAME|given} {NAME|family} , born {DOB|birth} , is {AGE|words} "
    "years old . {SEX|She} takes no drugs .",
    "Discharge of {NAME|given} {NAME|family} ( {AGE|age} years , {ZIP|zip} ) from {ward} . "
    "Admitted {DATE|day} , stay {stay} days .",
    "Mrs or Mr {NAME|family} , {AGE|age} , was well . Next visit after {DATE|day} , in {ward} .",
)
_PART = re.compile(r"\{(?:([A-Z]+)\|)?(\w+)\}")
_ONES = words(
    "zero one two three four five six seven eight nine ten eleven twelve thirteen fourteen",
    "fifteen sixteen seventeen eighteen nineteen",
)
_TENS = words("twenty thirty forty fifty sixty seventy eighty ninety")


def make_notes(seed: RandomState, patients: pa.Table) -> pa.Table:
    """Write a note for each visit: visit_id, person_id, note, and its spans as JSON.

    Every note mentions the name, the age and the day of admission, in digits or in words. Most
    mention the ZIP code and, by a pronoun, the sex. Some mention the day of birth.
    """
    [drawn] = streams(seed, "notes")
    which = drawn.integers(0, len(TEMPLATES), size=len(patients))
    written = [
        _write(TEMPLATES[n], row) for n, row in zip(which, patients.to_pylist(), strict=True)
    ]
    return pa.table(
        {
            "visit_id": patients["visit_id"],
            "person_id": patients["person_id"],
            "note": pa.array([text for text, _ in written], pa.string()),
            "spans": pa.array([spans for _, spans in written], pa.string()),
        }
    )


def _write(template: str, row: Mapping[str, Any]) -> tuple[str, str]:
    """Return a note and its spans."""
    said = _describe_row(row)
    text, spans, done = "", [], 0
    for part in _PART.finditer(template):
        text += template[done : part.start()]
        label, value = part[1], said[part[2]]
        if label:
            spans.append({"start": len(text), "end": len(text) + len(value), "label": label})
        text, done = text + value, part.end()
    return text + template[done:], json.dumps(spans)


def _describe_row(row: Mapping[str, Any]) -> dict[str, str]:
    return {
        "given": row["given_name"],
        "family": row["family_name"],
        "age": str(row["age"]),
        "words": in_words(row["age"]),
        "zip": row["zip"],
        "day": _day(row["visit_date"]),
        "birth": _day(row["birth_date"]),
        "diagnosis": row["diagnosis"],
        "ward": row["ward"],
        "stay": str(row["length_of_stay"]),
        "She": "She" if row["sex"] == "F" else "He",
    }


def _day(day: date) -> str:
    return f"{day.day} {day:%B} {day.year}"


def in_words(age: int) -> str:
    """Write an age in words.

    >>> in_words(7), in_words(40), in_words(47), in_words(104)
    ('seven', 'forty', 'forty-seven', 'one hundred and four')
    """
    if age >= 100:
        rest = f" and {in_words(age - 100)}" if age > 100 else ""
        return f"one hundred{rest}"
    if age < 20:
        return _ONES[age]
    tens, ones = divmod(age, 10)
    return _TENS[tens - 2] + (f"-{_ONES[ones]}" if ones else "")
