"""Views of a token's features: itself, its neighbours, its line, and the same word elsewhere."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from voile.documents.words.tokens import NOWHERE, TextTokens

Places = NDArray[np.int32]

SHIFTS = {"here": 0, "before": -1, "after": 1, "two before": -2, "two after": 2, "three before": -3}


def views_of(tokens: TextTokens, other: Places) -> dict[str, Places]:
    """Return the position that each token looks at in each view, (n,).

    `other` is the position of the same form elsewhere in the document.
    """
    layout = tokens.layout
    return {
        **{name: layout.neighbours[by] for name, by in SHIFTS.items()},
        "head of line": layout.head,
        "before another": layout.shift_places(other, -1),
        "after another": layout.shift_places(other, 1),
    }


def occurrences(tokens: TextTokens, named: NDArray[np.bool_], most: int) -> tuple[Places, Places]:
    """Find another position of each form in its document, and count its occurrences.

    The position is the previous occurrence, or else the next one. Counts end at `most`. Only the
    tokens of the mask `named` are processed.
    """
    other = np.full(len(tokens), NOWHERE, dtype=np.int32)
    often = np.zeros(len(tokens), dtype=np.int32)
    places = np.flatnonzero(named).astype(np.int32)
    key = tokens.document[places] * len(tokens.known) + tokens.form[places]
    order = np.argsort(key, kind="stable")
    places, key = places[order], key[order]
    same = key[1:] == key[:-1]
    other[places[:-1][same]] = places[1:][same]
    other[places[1:][same]] = places[:-1][same]
    begin = np.flatnonzero(np.concatenate([[True], ~same])[: len(key)])
    counts = np.diff(np.append(begin, len(key)))
    often[places] = np.repeat(np.minimum(counts, most), counts)
    return other, often
