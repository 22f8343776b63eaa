"""Where a token's features look: at itself, its neighbours, its line, the same word elsewhere."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from voile.documents.words.tokens import LINE, Tokens

Places = NDArray[np.int32]

NOWHERE = -1
SHIFTS = {
    "here": 0,
    "before": -1,
    "after": 1,
    "two before": -2,
    "two after": 2,
    "three before": -3,
}


def views_of(tokens: Tokens, named: NDArray[np.bool_]) -> dict[str, Places]:
    """Return for each view where each token looks, (n,); NOWHERE outside its document.

    Parameters
    ----------
    named : (n,) tokens that are looked up elsewhere in their document: written like a name or a
        number, and not removed.
    """
    n = len(tokens)
    here = np.arange(n, dtype=np.int32)
    begin = np.repeat(tokens.first[:-1], np.diff(tokens.first)).astype(np.int32)
    end = np.repeat(tokens.first[1:], np.diff(tokens.first)).astype(np.int32)

    def shifted(places: Places, by: int) -> Places:
        moved = places + np.int32(by)
        return np.where((places >= 0) & (moved >= begin) & (moved < end), moved, NOWHERE)

    views = {name: shifted(here, by) for name, by in SHIFTS.items()}
    heads = np.maximum.accumulate(np.where(tokens.gap >= LINE, here, 0)).astype(np.int32)
    views["head of line"] = np.where(heads == here, NOWHERE, heads)
    other = another(tokens, named)
    views["before another"] = shifted(other, -1)
    views["after another"] = shifted(other, 1)
    return views


def another(tokens: Tokens, named: NDArray[np.bool_]) -> Places:
    """Find the same form elsewhere in the document: the one before, else the next; (n,)."""
    found = np.full(len(tokens), NOWHERE, dtype=np.int32)
    places = np.flatnonzero(named).astype(np.int32)
    key = tokens.document[places] * len(tokens.known) + tokens.form[places]
    order = np.argsort(key, kind="stable")
    places, key = places[order], key[order]
    same = key[1:] == key[:-1]
    found[places[:-1][same]] = places[1:][same]
    found[places[1:][same]] = places[:-1][same]
    return found


def repeats(tokens: Tokens, most: int) -> NDArray[np.int32]:
    """Count how often each token's form stands in its document, (n,), at most `most`."""
    key = tokens.document * len(tokens.known) + tokens.form
    _, place, counts = np.unique(key, return_inverse=True, return_counts=True)
    return np.minimum(counts, most)[place].astype(np.int32)
