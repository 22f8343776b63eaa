"""Find the values of a column that mean a missing value, by the column's other values.

A spelling alone decides only where it is no word: `?`, `n/a`, `k.A.`. `NA` is Namibia among codes
of countries, `Na` is sodium among symbols, `None` is an answer among answers. A number such as 999
or -9 means a missing value if it is frequent, and far from all other numbers.
"""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from decimal import Decimal
from itertools import pairwise
from typing import TYPE_CHECKING, NamedTuple

from voile.data.placeholders import PLACEHOLDERS

if TYPE_CHECKING:
    import pyarrow as pa

WORDS = frozenset({"na", "nan", "nc", "nil", "none", "null"})
"""Placeholders that are words, codes or names as well."""
SHAPES = (re.compile("[A-Z][a-z]*"), re.compile("[A-Z]+"), re.compile("[a-z]+"))
TITLE = SHAPES[0]
CODES = 3
"""Letters of a code, at most."""
FEWEST = 5
"""Distinct codes by which a code is known as one of them."""
MOSTLY = 0.9
SENTINEL = re.compile(r"-?(9{2,}|8{2,}|7{2,})(\.9+|\.0)?|-[1789](\.0)?")
"""Numbers that people write for a missing value."""
SHARE, LEAST = 0.005, 3
"""A sentinel is in so many rows at least: a share of those with a value, and as a number."""
GAP = 0.25
"""A sentinel is farther from the other numbers than this share of their range,"""
STEPS = 5
"""and than so many times the widest gap between any two of them."""


class MissingValues(NamedTuple):
    """Texts that mean a missing value, and texts of the same spelling that are values.

    texts : as a roles file lists them, the numbers among them last.
    numbers : how many are numbers. rows : in how many rows these are.
    spelled : in how many rows the others are. kept : how many spellings are values.
    """

    texts: tuple[str, ...] = ()
    numbers: int = 0
    rows: int = 0
    spelled: int = 0
    kept: int = 0

    @property
    def reason(self) -> str:
        """Say in a roles file why, without the values."""
        said = []
        if self.spelled:
            said.append(f"missing: words or signs for it, in {self.spelled:,} rows")
        if self.numbers:
            what = "a number" if self.numbers == 1 else f"{self.numbers} numbers"
            said.append(f"missing: {what} far from all others, in {self.rows:,} rows")
        if self.kept:
            said.append("a word for missing is a value, as it is written like the others")
        return "".join(f"; {one}" for one in said)


NONE = MissingValues()


def find_missing(column: pa.ChunkedArray, *, is_text: bool, is_number: bool) -> MissingValues:
    """Propose the missing values of a column, the most frequent first.

    >>> import pyarrow as pa
    >>> ages = pa.chunked_array([[31, 45, 999, 28, 999, 999, 39]])
    >>> find_missing(ages, is_text=False, is_number=True).texts
    ('999',)
    >>> find_missing(pa.chunked_array([["12", "k.A.", "13", "k.A."]]), is_text=True,
    ...              is_number=False).texts
    ('k.A.',)
    """
    counts = _count(column, is_text=is_text) if is_text or is_number else {}
    spelled = [text for text in counts if text.casefold() in PLACEHOLDERS | WORDS]
    others = [text for text in counts if text not in spelled]
    words = {text for text in spelled if text.casefold() in WORDS and _is_one_of(text, others)}
    spelled = [text for text in spelled if text not in words]
    numbers = _find_sentinels({text: counts[text] for text in others})
    said, rows = (sum(counts[text] for text in some) for some in (spelled, numbers))
    texts = (*spelled, *(text.removesuffix(".0") for text in numbers))
    return MissingValues(texts, len(numbers), rows, said, len(words))


def _count(column: pa.ChunkedArray, *, is_text: bool) -> Mapping[str, int]:
    """Count a column's values, as text, the most frequent first."""
    import pyarrow.compute as pc

    known = column.drop_null()
    counted = pc.value_counts(pc.utf8_trim_whitespace(known) if is_text else known)
    first = pc.sort_indices(counted.field("counts"), [("", "descending")])
    values = counted.field("values").take(first).to_pylist()
    return dict(zip(map(str, values), counted.field("counts").take(first).to_pylist(), strict=True))


def _is_one_of(text: str, others: Sequence[str]) -> bool:
    """Return True if a word is written as the other values are, so that it is one of them."""
    shape = next((one for one in SHAPES if one.fullmatch(text)), None)
    alike = [other for other in others if shape and shape.fullmatch(other)]
    if len(others) < 2 or len(alike) < MOSTLY * len(others):
        return False
    if shape is TITLE or text.casefold() == "none":
        return True
    codes = max(map(len, alike)) <= CODES and len(alike) >= FEWEST
    return codes and len(text) in {len(other) for other in alike}


def _find_sentinels(counts: Mapping[str, int]) -> list[str]:
    """Return the numbers that people write for none, if they are isolated and frequent."""
    asked = {text: n for text, n in counts.items() if SENTINEL.fullmatch(text)}
    if not asked or len(asked) == len(counts):
        return []
    try:
        numbers = sorted(Decimal(text) for text in counts if text not in asked)
    except ArithmeticError:
        return []
    if not all(number.is_finite() for number in numbers):
        return []
    present = sum(counts.values())
    least, most = numbers[0], numbers[-1]
    steps = [b - a for a, b in pairwise(numbers)]
    apart = max(Decimal(str(GAP)) * (most - least), STEPS * max(steps, default=Decimal(1)))
    return [
        text
        for text, n in asked.items()
        if n >= max(LEAST, SHARE * present)
        if (Decimal(text) < 0 <= least) or not least - apart <= Decimal(text) <= most + apart
    ]
