"""Measure the share of the source's words that a release still contains."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterable, Iterator, Sequence

import numpy as np
import pyarrow as pa
from numpy.typing import NDArray

from voile.data import Source
from voile.gate.finding import NOBODY, GateFinding

BATCH_ROWS = 1024
_WORD = re.compile(r"\w+")
_MARK = re.compile(r"\[[A-Z0-9_]+\]")


def measure_kept_words(
    release: Source,
    texts: Sequence[str],
    source: Source,
    columns: Sequence[str],
    numbers: NDArray[np.int64],
) -> GateFinding:
    """Return the share of words in the released rows' source texts that the release contains.

    The common count of a word is the smaller of its counts in the source and in the release, in any
    position. The share is therefore at least the share of words that stay in their positions. Marks
    do not count as words.

    Parameters
    ----------
    texts, columns : the text columns of the release and of the source.
    numbers : (n,), the source's row number of each released row.

    Cost: O(characters). Memory grows with the number of distinct words.
    """
    before, after = Counter[str](), Counter[str]()
    for _, _, text in iterate_texts(source, columns, numbers):
        before.update(_WORD.findall(text))
    for _, _, text in iterate_texts(release, texts):
        after.update(_WORD.findall(_MARK.sub(" ", text)))
    words = before.total()
    kept = sum(min(times, after[word]) for word, times in before.items())
    return NOBODY.finds("published_tokens", kept / words if words else 1.0, "share")


def iterate_texts(
    source: Source, columns: Sequence[str], numbers: NDArray[np.int64] | None = None
) -> Iterator[tuple[int, int, str]]:
    """Yield the row number, the column number and the text of each non-null cell.

    numbers : the rows to read. None means all rows.
    """
    wanted = None if numbers is None else np.sort(numbers)
    first = 0
    for batch in source.batches(columns, batch_rows=BATCH_ROWS):
        rows: Iterable[int] = range(len(batch))
        if wanted is not None:
            start, end = np.searchsorted(wanted, [first, first + len(batch)])
            rows = (wanted[start:end] - first).tolist()
        cells = [batch.column(name).cast(pa.large_string()).to_pylist() for name in columns]
        for row in rows:
            for place, column in enumerate(cells):
                if (text := column[row]) is not None:
                    yield first + row, place, text
        first += len(batch)
