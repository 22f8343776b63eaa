"""The roles that a plan proposes for a table's columns, and whether they can be fitted."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from datetime import date
from functools import partial
from itertools import pairwise
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from voile.core.errors import RequestError
from voile.data import Source
from voile.data.column_words import find_words
from voile.data.column_words import mentions as names_as
from voile.data.roles import AS_IT_IS
from voile.documents.model.start.known.columns import kind_of_column
from voile.documents.model.start.lists import frequent_words, public_lists
from voile.documents.replacements.names import fold
from voile.engines.counting import count_combinations
from voile.proposals.proposal import ColumnProposal, RolesProposal
from voile.proposals.propose import propose
from voile.study.adversary.days import as_days, can_be_moved, day_columns
from voile.tables.fitting.space import PolicySpace

UNDECIDED = "not released until you decide"
LONG = 60
"""Average characters of a text cell above which the column contains notes."""
SAMPLE = 1000
LIVES = 40
"""Maximum years that nine tenths of a column's days span if they are days of events."""
NAMES = 10
"""Distinct values from which a column may contain names. A race may be White or Black."""
_WORD = re.compile(r"[^\W\d_]{3}")
_BREAKS = re.compile(r"[\s.,'’-]+")
_PARTICLES = ("da", "de", "del", "della", "der", "di", "dos", "du", "la", "le", "van", "von", "zu")
SEX_WORDS = ({"f", "w", "female", "woman"}, {"m", "male", "man"})
"""Words for the sexes. A sex column contains at least one of each set."""
MOST_SEXES, OLDEST = 5, 130
MOST_CODE = 3
"""Maximum capitals of a code such as ICU."""
WIDTHS = (20, 30, 40)
"""Years of an age band that every policy keeps. The first possible width is used."""


def propose_table(source: Source, subject: str) -> RolesProposal:
    """Propose the roles of a table of a study.

    Long texts are notes, and days move with their person. Days of birth are an exception. Days that
    cannot be moved are dropped. Undecided columns are dropped too, and so are quasi-identifiers
    that cannot be generalised, such as one with a single value.
    """
    proposal = propose(source, "tables")
    texts = {name for name in _text_columns(source) if _mean_length(source, name) > LONG}
    moved = [c.name for c in proposal.columns if c.role in ("quasi", *AS_IT_IS)]
    days = set(day_columns(source, moved))

    def propose_role(one: ColumnProposal) -> ColumnProposal:
        if one.name == subject:
            return ColumnProposal(subject, "identifier", f"whose a row is; {one.why}")
        if one.name in texts:
            return ColumnProposal(one.name, "text", f"notes; {one.why}")
        if one.role in ("quasi", "undecided") and (named := _propose_names(source, one)):
            return named
        if one.role == "undecided":
            return ColumnProposal(one.name, "drop", f"{UNDECIDED}; {one.why}")
        if one.name not in days:
            return one
        if names_as(one.name, "birth") or _spans_lives(source, one.name):
            why = "a birth date by its name or its years"
            return one if one.role == "quasi" else ColumnProposal(one.name, "drop", why)
        if can_be_moved(source, one.name):
            return ColumnProposal(one.name, "keep", "a day: it moves by its person's one offset")
        return ColumnProposal(one.name, "drop", "its days are not written as 2013-07-01: they stay")

    columns = tuple(_usable(source, propose_role(one), subject) for one in proposal.columns)
    return replace(proposal, columns=columns, subject=subject)


def count_people(source: Source, subject: str, column: str | None = None) -> Mapping[Any, float]:
    """Count the people of a table, by the values of a column if one is given."""
    if column is None:
        return {None: float(len(count_combinations(source, [subject])))}
    found = count_combinations(source, [column], subject=subject, floats=[column])
    return dict(zip(*(found[n].to_pylist() for n in (column, "count")), strict=True))


def find_sex(source: Source, columns: Sequence[str]) -> str | None:
    """Return the column of the sex, found by its name or by values such as F and M."""
    return next(
        (one for one in columns if names_as(one, "sex") or _has_sexes(source, one)),
        None,
    )


def _has_sexes(source: Source, name: str) -> bool:
    values = pc.unique(source.read([name]).column(0).drop_null())
    words = {str(one).strip().lower() for one in values.slice(0, MOST_SEXES + 1).to_pylist()}
    return len(words) <= MOST_SEXES and all(words & own for own in SEX_WORDS)


def find_age(source: Source, columns: Sequence[str]) -> str | None:
    """Return the column of ages in completed years, found by its name and its whole numbers."""
    return next((one for one in columns if names_as(one, "birth") and _has_ages(source, one)), None)


def _has_ages(source: Source, name: str) -> bool:
    values = [str(one) for one in pc.unique(source.read([name]).column(0).drop_null()).to_pylist()]
    return bool(values) and all(one.isdecimal() and int(one) <= OLDEST for one in values)


def _propose_names(source: Source, one: ColumnProposal) -> ColumnProposal | None:
    """Propose a column of addresses or, if its header has no other meaning, of names.

    Evidence of names: many values are on lists, most are capitalised words outside the lists, or
    most differ.
    """
    if not pa.types.is_string(source.columns[one.name]):
        return None
    cells = source.read([one.name]).column(0).drop_null()
    values = pc.unique(cells).slice(0, SAMPLE)
    if len(values) < NAMES:
        return None
    kind = kind_of_column(one.name, values)
    if kind == "address":
        return ColumnProposal(one.name, "identifier", "its values are streets with numbers")
    if find_words(one.name) is not None:
        return None
    if kind == "name":
        return ColumnProposal(one.name, "identifier", "many of its values are listed names")
    texts = values.to_pylist()
    drop = partial(ColumnProposal, one.name, "drop")
    if sum(map(_is_of_no_list, texts)) > len(texts) / 2:
        return drop(f"{UNDECIDED}; most of its values are words of no list, as rare names are")
    if len(texts) > len(cells) / 2 and sum(map(_has_word, texts)) > len(texts) / 2:
        return drop(f"{UNDECIDED}; its words tell most rows apart")
    return None


def _has_word(text: str) -> bool:
    return _WORD.search(text) is not None


def _is_of_no_list(text: str) -> bool:
    """Return whether a value consists of capitalised words, one of them outside the word lists."""
    words = [one for one in _BREAKS.split(text) if len(one) > 1 and one not in _PARTICLES]
    if not all(map(_is_capitalised, words)):
        return False
    return any(
        not (folded in frequent_words() or folded in public_lists()["place"])
        for folded in map(fold, words)
    )


def _is_capitalised(word: str) -> bool:
    """Return whether a word begins with a capital, or consists of four or more capitals."""
    if not word.isalpha():
        return False
    return len(word) > MOST_CODE if word.isupper() else len(word) > 2 and word[0].isupper()


def _usable(source: Source, one: ColumnProposal, subject: str) -> ColumnProposal:
    """Drop a quasi-identifier if its domain cannot be built, with the reason that the fit gives."""
    if one.role != "quasi":
        return one
    try:
        PolicySpace.of(source, None, [one.name], subject=subject, settings={one.name: one.settings})
    except RequestError as error:
        if "pair" in one.settings:
            return one
        return ColumnProposal(one.name, "drop", error.what)
    return one


def _spans_lives(source: Source, name: str) -> bool:
    """Return whether nine tenths of a column's days span more years than events do."""
    days = as_days(source.read([name]).column(0)).drop_null().to_numpy().astype("datetime64[D]")
    if not len(days):
        return False
    low, high = np.quantile(days.astype(np.int64), [0.05, 0.95])
    return bool(high - low > LIVES * 365.25)


def _text_columns(source: Source) -> Iterator[str]:
    for name, kind in source.columns.items():
        if pa.types.is_string(kind) or pa.types.is_large_string(kind):
            yield name


def _mean_length(source: Source, name: str) -> float:
    batch = next(iter(source.batches([name], batch_rows=SAMPLE)), None)
    cells = [] if batch is None else [x for x in batch.column(0).to_pylist() if x]
    return sum(map(len, cells)) / len(cells) if cells else 0.0


def without(
    proposal: RolesProposal, names: Mapping[str, str] | Sequence[str], why: str
) -> RolesProposal:
    """Return a proposal in which some columns are dropped for a reason."""
    columns = (
        ColumnProposal(one.name, "drop", why) if one.name in names else one
        for one in proposal.columns
    )
    return replace(proposal, columns=tuple(columns))


def keep_age_bands(
    source: Source, columns: Sequence[ColumnProposal], subject: str, sex: str, k: int, few: float
) -> tuple[ColumnProposal, ...]:
    """Return the columns, with bands that all policies keep for the first age or birth year column.

    A study with notes keeps the sexes apart. Policies for a whole column would then prefer the many
    values of a ZIP code, and give everyone one age. Bands prevent this. `few` is the maximum share
    of people in bands of fewer than k people of one sex.
    """
    age = next(
        (one for one in columns if one.role == "quasi" and names_as(one.name, "birth")), None
    )
    cuts = [] if age is None else _find_bands(source, age, subject, sex, k, few)
    if age is None or not cuts:
        return tuple(columns)
    own = replace(age, settings={**age.settings, "keep_cuts": cuts})
    own = replace(own, why=f"{age.why}; every policy keeps these bands")
    return tuple(own if one is age else one for one in columns)


def _find_bands(
    source: Source, age: ColumnProposal, subject: str, sex: str, k: int, few: float
) -> list[int | str]:
    """Return the values after which split points are kept, in bands as narrow as the people allow.

    A year of birth is written as a day in the form of the column's days.
    """
    settings = {age.name: age.settings}
    space = PolicySpace.of(source, None, [age.name, sex], subject=subject, settings=settings)
    domain, counts = space.domains[0], space.counts
    years = [x for x in domain.values if isinstance(x, int)]
    if domain.parser.edges or len(years) < len(domain) - domain.nullable:
        return []
    for width in WIDTHS:
        ends = [a for a, b in pairwise(years) if a // width != b // width]
        place = np.searchsorted(ends, years)
        bands = np.append(place, len(ends))[counts.codes[:, 0]]
        keys = np.unique(np.column_stack([bands, counts.codes[:, 1]]), axis=0, return_inverse=True)
        people = np.bincount(keys[1].ravel(), counts.sample)
        if people[people < k].sum() <= few * counts.subjects:
            form = age.settings.get("form")
            return [date(end, 1, 1).strftime(form) if form else end for end in ends]
    return []
