"""Count true dates of a person in a release that moves other dates of the same person.

A date is *true* if the release contains the same date as the source. One true date reveals how far
all dates of its person have moved. The gate reads dates with its own grammar:

- days in figures with a year
- days with a month's name in six languages
- month/day in figures after a word such as `on` or `due`
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from voile.data import Source
from voile.gate.finding import NOBODY, GateFinding
from voile.gate.kept_words import iterate_texts

_MONTHS = (
    "January February March April June July August September October November December Jan Feb Apr "
    "Jun Jul Aug Sep Sept Oct Nov Dec enero febrero marzo abril mayo junio julio agosto septiembre "
    "octubre noviembre diciembre Januar Februar März Mai Juni Juli Oktober Dezember janvier "
    "février mars avril mai juin juillet août septembre octobre novembre décembre janeiro "
    "fevereiro março maio junho julho setembro outubro dezembro gennaio "
    "febbraio aprile maggio giugno luglio settembre ottobre dicembre"
)
_NAME = f"(?:(?i:{'|'.join(_MONTHS.split())})|May|MAY|Mar)"
_DAY = "(?:0?[1-9]|[12][0-9]|3[01])"
_DATE = re.compile(
    r"(?<![\w./-])(?:"
    r"(?:19|20)[0-9]{2}(?P<a>[-/.])[01]?[0-9](?P=a)[0-3]?[0-9]"
    r"|[0-3]?[0-9](?P<b>[-/.])[0-3]?[0-9](?P=b)(?:19|20)?[0-9]{2}"
    rf"|{_NAME}\.? {_DAY}(?:st|nd|rd|th)?(?:,? (?:19|20)[0-9]{{2}})?"
    rf"|{_DAY}(?:st|nd|rd|th|\.)? (?:de |of )?{_NAME}"
    r"|(?:(?<=\bon )|(?<=\bOn )|(?<=f/u )|(?<=\bdue )|(?<=dated )|(?<=since ))"
    rf"(?:0?[1-9]|1[0-2])/{_DAY}"
    r"(?! ?(?:of|strength))"
    r")(?![\w%]|[./-][0-9])"
)
_BEFORE = re.compile(r"(\w+)\W*\Z")
_BACK = 24


@dataclass(frozen=True)
class _DateMention:
    """The text of a date, and the word before it."""

    text: str
    before: str


def measure_dates_left(
    release: Source,
    texts: Sequence[str],
    source: Source,
    columns: Sequence[str],
    numbers: NDArray[np.int64],
    people: Source | None = None,
) -> tuple[GateFinding, ...]:
    """Count the true dates that reveal how far a person's dates have moved, and count these people.

    Only people with at least one moved date count. If a text and its source contain equally many
    dates, the dates are compared in order. Otherwise a date is true if both texts contain it after
    the same word.

    Parameters
    ----------
    texts, columns : the text columns of the release and of the source.
    numbers : (n,), the source's row number of each released row.
    people : a column `person` of tokens in the release's order. None means that each row is a
        person.

    Cost: O(characters). Memory grows with the number of dates.
    """
    before = {
        (row, place): found
        for row, place, text in iterate_texts(source, columns, numbers)
        if (found := _read_dates(text))
    }
    persons = _persons(people, len(numbers))
    left, moved = Counter[int](), Counter[int]()
    for row, place, text in iterate_texts(release, texts):
        was = before.get((int(numbers[row]), place))
        if was is not None:
            true = _count_true(was, _read_dates(text))
            left[persons[row]] += true
            moved[persons[row]] += len(was) - true
    revealed = {person: n for person, n in left.items() if n and moved[person]}
    return (
        NOBODY.finds("true_dates", sum(revealed.values()), "mentions"),
        NOBODY.finds("people_with_true_dates", len(revealed), "people"),
    )


def _read_dates(text: str) -> list[_DateMention]:
    found = []
    for match in _DATE.finditer(text):
        word = _BEFORE.search(text, max(0, match.start() - _BACK), match.start())
        found.append(_DateMention(match.group(), "" if word is None else word[1]))
    return found


def _count_true(was: Sequence[_DateMention], now: Sequence[_DateMention]) -> int:
    if len(was) == len(now):
        return sum(a.text == b.text for a, b in zip(was, now, strict=True))
    return (Counter(was) & Counter(now)).total()


def _persons(people: Source | None, rows: int) -> Mapping[int, int] | Sequence[int]:
    """Return the person of each row; a row without a token is a person of its own."""
    if people is None:
        return range(rows)
    tokens = [x for batch in people.batches(["person"]) for x in batch.column(0).to_pylist()]
    return [-1 - row if token is None else token for row, token in enumerate(tokens)]
