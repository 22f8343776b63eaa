"""Find the values of a column that mean a missing value, by comparison with its other values.

The spelling alone decides only if it is not a word: `?`, `n/a`, `k.A.`. `NA` is Namibia among codes
of countries, `Na` is sodium among symbols, and `None` is an answer among answers. A number such as
999 or -9 means a missing value if it is frequent, and far from all other numbers.
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
"""Placeholders that are also words, codes or names."""
SHAPES = (re.compile("[A-Z][a-z]*"), re.compile("[A-Z]+"), re.compile("[a-z]+"))
TITLE = SHAPES[0]
CODES = 3
"""The largest number of letters of a code."""
FEWEST = 5
"""The least number of distinct codes in a column that makes a word one of its codes."""
MOSTLY = 0.9
SENTINEL = re.compile(r"-?(9{2,}|8{2,}|7{2,})(\.9+|\.0)?|-[1789](\.0)?")
"""Numbers that people write for a missing value."""
SHARE, LEAST = 0.005, 3
"""The least frequency of a sentinel: a share of the rows with a value, and a number of rows."""
GAP = 0.25
"""The least distance of a sentinel from the other numbers, as a share of their range."""
STEPS = 5
"""The same distance, as a multiple of the widest gap between two of the other numbers."""


class MissingValues(NamedTuple):
    """The texts that mean a missing value, and counts for the reason.

    Parameters
    ----------
    texts : the texts for a roles file, with numbers last.
    numbers, rows : the number of texts that are numbers, and the number of rows with them.
    spelled : the number of rows with the other texts.
    kept : the number of placeholder words that are values in this column.
    """

    texts: tuple[str, ...] = ()
    numbers: int = 0
    rows: int = 0
    spelled: int = 0
    kept: int = 0

    @property
    def reason(self) -> str:
        """The reason for a roles file, without the values."""
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
    """Propose the texts that mean a missing value in a column, in decreasing order of frequency.

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
    """Count a column's values as text, in decreasing order of frequency."""
    import pyarrow.compute as pc

    known = column.drop_null()
    counted = pc.value_counts(pc.utf8_trim_whitespace(known) if is_text else known)
    first = pc.sort_indices(counted.field("counts"), [("", "descending")])
    values = counted.field("values").take(first).to_pylist()
    return dict(zip(map(str, values), counted.field("counts").take(first).to_pylist(), strict=True))


def _is_one_of(text: str, others: Sequence[str]) -> bool:
    """Return whether a word has the form of the other values, so that it is one of them."""
    shape = next((one for one in SHAPES if one.fullmatch(text)), None)
    alike = [other for other in others if shape and shape.fullmatch(other)]
    if len(others) < 2 or len(alike) < MOSTLY * len(others):
        return False
    if shape is TITLE or text.casefold() == "none":
        return True
    codes = max(map(len, alike)) <= CODES and len(alike) >= FEWEST
    return codes and len(text) in {len(other) for other in alike}


def _find_sentinels(counts: Mapping[str, int]) -> list[str]:
    """Return the isolated and frequent numbers that people write for a missing value."""
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
