"""Rebuild texts from their tokens, for models that read text."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from itertools import pairwise

import numpy as np
from numpy.typing import NDArray

from voile.documents.words.tokens import BLANK

GAPS = ("", " ", "\n", "\n\n")
"""The text to insert before a token, by the gap before the token."""


def rebuild_texts(
    words: Sequence[str], gap: NDArray[np.uint8], first: NDArray[np.intp]
) -> Iterator[tuple[slice, str, NDArray[np.intp], NDArray[np.intp]]]:
    """Yield the slice of each document's tokens, the rebuilt text, and the tokens' starts and ends.

    words, gap : (n,), the forms of the tokens, and the gap before each. An empty `gap` means
        unknown gaps, which become blanks.
    first : (d + 1,), the first token of each document.
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
