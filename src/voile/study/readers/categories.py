"""Categories: race, ethnicity, occupation, marital status, and other values that are words.

The adversary searches the texts of a person for the words of a column's values. Several values may
match: "hispanic white" of one column, "other" in any text. The adversary therefore learns from the
release the most frequent value of people with the same words, and guesses that value.
"""

from __future__ import annotations

import re
from collections import Counter, defaultdict
from collections.abc import Iterable, Mapping
from functools import cached_property

from voile.data.column_words import glossary
from voile.documents.replacements.draws import fold_value

SHORTEST = 4
"""Minimum letters of a single word of a value, for a search of its own."""
MOST_VALUES = 1000
"""Maximum distinct values of a category column."""
RACES = {
    "black": ("african american",),
    "white": ("caucasian",),
    "hispanic": ("latino", "latina", "latinx"),
    "native": ("american indian", "native american", "alaska native"),
    "pacific": ("pacific islander", "native hawaiian"),
}
MARITAL = {
    "m": ("married",),
    "s": ("single", "never married", "unmarried"),
    "d": ("divorced",),
    "w": ("widowed", "widow", "widower"),
    "l": ("separated",),
    "p": ("partnered",),
}
"""Words for one-letter codes of the marital status."""
_WORD = re.compile(r"[^\W_]+")


class CategoryReader:
    """A finder of a column's values in a text, by the words of the values.

    column : its name decides which codes have words. cells : the column's values.

    >>> found = CategoryReader("race", ["White", "Black", "Hispanic", "Two or more"])
    >>> sorted(found.find_values("A hispanic white male , African American father ."))
    ['Black', 'Hispanic', 'White']
    >>> sorted(CategoryReader("marital_status", ["M", "S"]).find_values("He is single ."))
    ['S']
    """

    def __init__(self, column: str, cells: Iterable[str]) -> None:
        words = self._words_of(column, [*cells])
        self._cells = {word: cell for word, cell in words.items() if sum(map(str.isalpha, word))}

    @cached_property
    def _pattern(self) -> re.Pattern[str]:
        longest = sorted(self._cells, key=lambda word: (-len(word), word))
        forms = (r"[\W_]+".join(map(re.escape, word.split())) for word in longest)
        return re.compile(rf"(?<![^\W_])(?:{'|'.join(forms)})(?![^\W_])", re.IGNORECASE)

    def __bool__(self) -> bool:
        return bool(self._cells)

    def find_values(self, text: str) -> frozenset[str]:
        """Return the values with a word in the text."""
        found = (" ".join(_WORD.findall(one)) for one in self._pattern.findall(fold_value(text)))
        return frozenset(self._cells[word] for word in found if word in self._cells)

    def _words_of(self, column: str, cells: list[str]) -> Mapping[str, str]:
        known = MARITAL if glossary()["household"].found_in(column) else RACES
        of: dict[str, set[str]] = defaultdict(set)
        for cell in cells:
            words = _words(cell)
            whole = " ".join(words)
            forms = {whole} if len(whole) >= SHORTEST - 1 else set()
            forms |= {word for word in words if len(word) >= SHORTEST}
            for word in {whole, *words}:
                forms |= {*known.get(word, ())}
            for form in forms:
                of[form].add(cell)
        whole_cells = {" ".join(_words(cell)): cell for cell in cells}
        return {form: whole_cells.get(form, min(own)) for form, own in of.items()
                if len(own) == 1 or form in whole_cells}  # fmt: skip


def find_stated(said: Mapping[str, frozenset[str]], truth: Mapping[str, str]) -> frozenset[str]:
    """Return the people with texts that reveal their value, if the adversary learns from words.

    said : the values with words in each person's texts. truth : each person's value. Among people
        with the same words, those with the most frequent value count.

    >>> said = {"a": frozenset("HW"), "b": frozenset("HW"), "c": frozenset("W"), "d": frozenset()}
    >>> sorted(find_stated(said, {"a": "H", "b": "H", "c": "W", "d": "W"}))
    ['a', 'b', 'c']
    """
    counts: dict[frozenset[str], Counter[str]] = defaultdict(Counter)
    for person, words in said.items():
        if words and person in truth:
            counts[words][truth[person]] += 1
    commonest = {words: max(own.values()) for words, own in counts.items()}
    return frozenset(
        person
        for person, words in said.items()
        if words and person in truth and counts[words][truth[person]] == commonest[words]
    )


def _words(text: str) -> list[str]:
    return _WORD.findall(fold_value(text))
