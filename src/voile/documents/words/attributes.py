"""What a token's form tells of it: itself, its affixes, its shape.

As in the paper: the word, its morphology, its shape, and lists of names where there are any.
"""

from __future__ import annotations

import re
from collections.abc import Mapping

WORD, AFFIX, SHAPE = 1, 2, 4
"""Kinds of attributes; a view takes some of them."""

MARK = "mark"
AFFIXES = 4
_RUNS = re.compile(r"(.)\1+")


def attributes_of(form: str, lists: Mapping[str, frozenset[str]]) -> list[tuple[int, str]]:
    """Return a form's attributes, each with its kind.

    Parameters
    ----------
    lists : gazetteers, name -> words in lower case.

    Examples
    --------
    >>> [name for _, name in attributes_of("Ana", {"given": frozenset({"ana"})})]
    ['w=ana', 'list=given', 's=Xxx', 'c=Xx', '<a', '<an', 'a>', 'na>']
    >>> attributes_of("[NAME]", {})
    [(5, 'mark'), (5, 'mark=NAME')]
    """
    if is_mark(form):
        return [(WORD | SHAPE, MARK), (WORD | SHAPE, f"mark={form[1:-1]}")]
    word, shape = form.lower(), shape_of(form)
    short = _RUNS.sub(r"\1", shape)
    found = [(WORD, f"w={_digits(word)}")]
    found += [(WORD | SHAPE, f"list={name}") for name, words in lists.items() if word in words]
    found += [(SHAPE, f"s={shape}"), (SHAPE, f"c={short}")]
    if form.isalpha():
        ends = range(1, min(AFFIXES, len(word) - 1) + 1)
        found += [(AFFIX, f"<{word[:n]}") for n in ends]
        found += [(AFFIX, f"{word[-n:]}>") for n in ends]
    return found


def is_mark(form: str) -> bool:
    """Say whether a form is written like what stands where something was removed."""
    return len(form) > 2 and form[0] == "[" and form[-1] == "]"


def shape_of(form: str) -> str:
    """Return a form with capitals, letters and digits made alike; long ones cut.

    >>> shape_of("McCoy"), shape_of("10B"), shape_of("-")
    ('XxXxx', '00X', '-')
    """
    return "".join(
        "X" if c.isupper() else "x" if c.isalpha() else "0" if c.isdigit() else c for c in form[:12]
    )


def _digits(word: str) -> str:
    """Tell short numbers apart, longer ones by their length alone.

    >>> _digits("10"), _digits("1963"), _digits("b12"), _digits("20943")
    ('10', '0000', 'b12', '00000')
    """
    return re.sub(r"\d", "0", word) if sum(c.isdigit() for c in word) > 2 else word
