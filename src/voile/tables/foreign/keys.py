"""Detect keys that link a release to its original: row order, row numbers, identifiers, digits.

The adversary has the original, or another table in the same order, and tries each way to pair rows.
A pair counts if the released row could be that original row by all released columns. Random pairing
is the baseline. A key is a way that pairs more rows than that.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass

import numpy as np
import pyarrow as pa
from numpy.typing import NDArray

from voile.core.evidence import Evidence, Finding, Note, Rate
from voile.tables.domains.domain import encode_cells
from voile.tables.foreign.boxes import Bits, Codes
from voile.tables.foreign.codes import HASHES, form_of_codes, hash_of

Rows = NDArray[np.int64]
Texts = list[str | None]
MOST_ALIKE = 0.5  # a key has at least this share of distinct values among its rows
NOT_DIGITS = re.compile(r"\D+")


@dataclass(frozen=True, eq=False)
class RowSides:
    """Released and original rows, and the values that determine which pairs fit.

    Attributes
    ----------
    holds : by column, the possible values of each released cell.
    released : (n, q) the cell numbers of released rows.
    original : (m, q) the values of original rows.
    same : the values of released and original rows in the columns that were released unchanged.
    """

    holds: Sequence[Bits]
    released: Codes
    original: Codes
    same: tuple[Rows, Rows]

    def fit(self, released: Rows, original: Rows) -> Bits:
        """Return whether the released row of each pair could be the original row."""
        found = self.same[0][released] == self.same[1][original]
        for held, own, values in zip(self.holds, self.released.T, self.original.T, strict=True):
            found &= held[own[released], values[original]]
        return np.asarray(found)


WAYS: dict[str, Callable[[str], str]] = {
    "its values": str,
    "their digits": lambda text: NOT_DIGITS.sub("", text).lstrip("0"),
    "their digits, reversed": lambda text: NOT_DIGITS.sub("", text)[::-1].lstrip("0"),
}
"""The forms of an original's identifier in a released column, in addition to hashes."""


def try_keys(
    sides: RowSides,
    released: pa.Table,
    identifiers: pa.Table,
    rng: np.random.Generator,
) -> Evidence:
    """Test each released column, and the row order, as a key to the original's rows.

    Parameters
    ----------
    released : the released columns that are not quasi-identifiers.
    identifiers : the original's columns that identify its rows or people.
    """
    n, m = len(sides.released), len(sides.original)
    findings = []
    baseline = _rate(sides, np.arange(n), rng.integers(0, max(m, 1), n))
    for name, pairs in _pairings(sides, released, identifiers):
        ours, theirs = pairs
        rate = _rate(sides, ours, theirs, n)
        findings.append(
            Finding(
                name,
                rate,
                baseline=baseline,
                meaning="The share of released rows paired with an original row that they could "
                "be.",
            )
        )
    return Evidence(
        attack="keys to the original",
        heading="linkability",
        story=Note(
            "The adversary pairs released rows with the original's by their order, by row numbers, "
            "and by remains of identifiers. Such remains are their text, their digits, or a hash "
            "without a secret. Success is a pair in which the released row could be the original's "
            "by all released columns."
        ),
        knows=("row order",),
        findings=tuple(findings),
        notes=(Note("Baseline: released rows paired with original rows at random."),),
    )


def is_key(finding: Finding) -> bool:
    """Return whether a pairing is better than chance: its 95% interval is above the baseline's."""
    assert finding.baseline is not None
    return finding.rate.interval()[0] > finding.baseline.interval()[1]


def _rate(sides: RowSides, ours: Rows, theirs: Rows, trials: int | None = None) -> Rate:
    hits = int(sides.fit(ours, theirs).sum())
    return Rate(hits, len(ours) if trials is None else trials)


def _pairings(
    sides: RowSides, released: pa.Table, identifiers: pa.Table
) -> Iterator[tuple[str, tuple[Rows, Rows]]]:
    n, m = len(sides.released), len(sides.original)
    if n == m:
        yield "paired by row order", (np.arange(n), np.arange(n))
    for name in released.column_names:
        texts = texts_of(released.column(name))
        for own in identifiers.column_names if form_of_codes(texts) else ():
            yield from _by_hash(name, texts, own, texts_of(identifiers.column(own)))
        if len(set(texts)) < MOST_ALIKE * n:
            continue
        numbers = _whole_numbers(texts)
        if numbers is not None:
            for first in (0, 1):
                inside = (numbers >= first) & (numbers < m + first)
                ours = np.flatnonzero(inside)
                yield (
                    f"paired by {name} as a row number from {first}",
                    (
                        ours,
                        numbers[ours] - first,
                    ),
                )
            if n == m:
                yield (
                    f"paired by the order of {name}",
                    (
                        np.argsort(numbers, kind="stable"),
                        np.arange(n),
                    ),
                )
        for own in identifiers.column_names:
            yield from _by_identifier(name, texts, own, texts_of(identifiers.column(own)))


def _by_identifier(
    name: str, texts: Texts, own: str, theirs: Texts
) -> Iterator[tuple[str, tuple[Rows, Rows]]]:
    for way, of in WAYS.items():
        read = WAYS["their digits"] if "digits" in way else str
        pairs = _pair_texts(_each(read, texts), _each(of, theirs))
        if pairs is not None:
            yield f"paired by {name} as {own}, {way}", pairs
            return


def _by_hash(
    name: str, texts: Texts, own: str, theirs: Texts
) -> Iterator[tuple[str, tuple[Rows, Rows]]]:
    """Test hashes without a secret, or their first digits. Several rows may have the same code."""
    length = max(len(text) for text in texts if text is not None)
    codes = _each(str.lower, texts)
    for hashed in HASHES:
        known = {text: hash_of(hashed, text, length) for text in set(theirs) if text is not None}
        pairs = _pair_texts(codes, _each(known.__getitem__, theirs))
        if pairs is not None:
            yield f"paired by {name} as {own}, their {hashed} hash", pairs
            return


def _each(read: Callable[[str], str], texts: Texts) -> Texts:
    return [None if text is None else read(text) for text in texts]


def _pair_texts(ours: Texts, theirs: Texts) -> tuple[Rows, Rows] | None:
    """Pair rows with equal texts in order, or return None if fewer than half have a pair."""
    row_of = dict(zip(_number_repeats(theirs), range(len(theirs)), strict=True))
    found = [
        (place, row_of[text])
        for place, text in enumerate(_number_repeats(ours))
        if text[0] is not None and text in row_of
    ]
    if not found or len(found) < MOST_ALIKE * len(ours):
        return None
    here, there = np.array(found, dtype=np.int64).T
    return here, there


def _number_repeats(texts: Texts) -> Iterator[tuple[str | None, int]]:
    """Yield each text with the number of its earlier occurrences."""
    before = Counter[str | None]()
    for text in texts:
        yield text, before[text]
        before[text] += 1


def texts_of(column: pa.ChunkedArray) -> Texts:
    """Return the cells of a column as text."""
    cells, places = encode_cells(column)
    texts = [None if cell is None else str(cell) for cell in cells]
    return [texts[place] for place in places]


def _whole_numbers(texts: Texts) -> Rows | None:
    try:
        numbers = [int(text) for text in texts if text is not None]
    except ValueError:
        return None
    whole = len(numbers) == len(texts) and all(abs(number) < 2**62 for number in numbers)
    return np.array(numbers, dtype=np.int64) if whole else None
