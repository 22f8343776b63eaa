"""The share of a source's words that its release contains, counted in the texts of both."""

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

    A word counts as often as both the source and the release contain it, in any place. The share is
    therefore at least the share of words that stay in their places. Marks are no words.

    Parameters
    ----------
    texts, columns : the columns of text of the release and of the source.
    numbers : (n,) the source's number of each released row.

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
    """Yield the row, the column's number and the text of each cell, by default of all rows."""
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
