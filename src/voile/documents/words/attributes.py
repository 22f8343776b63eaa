"""Attributes of a token's form: the word, its affixes, its shape, and gazetteers."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from functools import lru_cache

WORD, AFFIX, SHAPE = 1, 2, 4
"""The kinds of attributes, as bits. Each block of features takes some of them."""

MARK = "mark"
CLASSES = ("mark", "X", "Xx", "x", "0", "mixed", "other")
"""The classes of tokens, by the shape of their forms."""
NO_WORD, SMALL, CAPITAL, CAPITALS = range(4)
"""The case of a form."""
AFFIXES = 4
_RUNS = re.compile(r"(.)\1+")


def attributes_of(form: str, listed: Mapping[str, Sequence[str]]) -> list[tuple[int, str]]:
    """Return the attributes of a form, each with its kind.

    `listed` maps a word in lower case to the names of the gazetteers that contain it.
    """
    if is_mark(form):
        return [(WORD | SHAPE, MARK), (WORD | SHAPE, f"mark={form[1:-1]}")]
    word, shape, letters = form.lower(), shape_of(form), form.isalpha()
    found = [(WORD, f"w={word if letters else _digits(word)}")]
    found += [(WORD | SHAPE, f"list={name}") for name in listed.get(word, ())]
    found += [(SHAPE, f"s={shape}"), (SHAPE, f"c={_short(shape)}")]
    if letters:
        ends = range(1, min(AFFIXES, len(word) - 1) + 1)
        found += [(AFFIX, f"<{word[:n]}") for n in ends]
        found += [(AFFIX, f"{word[-n:]}>") for n in ends]
    return found


@lru_cache(maxsize=1 << 16)
def classify_form(form: str) -> int:
    """Return the capitalisation of a form: `SMALL`, `CAPITAL`, `CAPITALS`, or `NO_WORD` for signs.

    >>> [classify_form(form) for form in ("ana", "Ana", "ANA", "A", "12")]
    [1, 2, 3, 2, 0]
    """
    if not any(map(str.isalpha, form)):
        return NO_WORD
    if form.upper() == form.lower() or form[0] != form[0].lower():
        return CAPITALS if len(form) > 1 and form == form.upper() != form.lower() else CAPITAL
    return SMALL if form == form.lower() else CAPITAL


def is_mark(form: str) -> bool:
    return len(form) > 2 and form[0] == "[" and form[-1] == "]"


class _CharacterShapes(dict[int, str]):
    """A cache of the symbol that represents each character in a shape."""

    def __missing__(self, point: int) -> str:
        c = chr(point)
        self[point] = "X" if c.isupper() else "x" if c.isalpha() else "0" if c.isdigit() else c
        return self[point]


_SHAPES = _CharacterShapes()


def shape_of(form: str) -> str:
    """Return the shape of a form: X for capitals, x for other letters, 0 for digits.

    Only the first 12 characters count. Other characters stay as they are.
    """
    return form[:12].translate(_SHAPES)


@lru_cache(maxsize=1 << 12)
def _short(shape: str) -> str:
    return _RUNS.sub(r"\1", shape)


def _digits(word: str) -> str:
    """Replace each digit of a word by 0 if the word has more than two digits."""
    return re.sub(r"\d", "0", word) if sum(c.isdigit() for c in word) > 2 else word
