"""Texts put together again from their tokens, for models that read text."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from itertools import pairwise

import numpy as np
from numpy.typing import NDArray

from voile.documents.words.tokens import BLANK

GAPS = ("", " ", "\n", "\n\n")
"""The text put before a token, by the gap that it had."""


def rebuild_texts(
    words: Sequence[str], gap: NDArray[np.uint8], first: NDArray[np.intp]
) -> Iterator[tuple[slice, str, NDArray[np.intp], NDArray[np.intp]]]:
    """Yield each document's tokens, its text as far as tokens tell, and where they stand in it.

    words, gap : (n,) the tokens' forms, and what stands before each, empty where unknown.
    first : (d + 1,) where each document's tokens begin.
    """
    if not len(gap):
        gap = np.full(len(words), BLANK, dtype=np.uint8)
    for begin, end in pairwise(first.tolist()):
        if end > begin:
            before = ["", *(GAPS[one] for one in gap[begin + 1 : end].tolist())]
            own = words[begin:end]
            text = "".join(part for pair in zip(before, own, strict=True) for part in pair)
            sizes = np.fromiter(map(len, own), np.intp, end - begin)
            ends = np.cumsum(sizes + np.fromiter(map(len, before), np.intp, end - begin))
            yield slice(begin, end), text, ends - sizes, ends
