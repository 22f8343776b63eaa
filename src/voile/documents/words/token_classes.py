"""The class of each token: its type of identifier, unknown, or a sign."""

from __future__ import annotations

from collections.abc import Iterable, Sequence

import numpy as np
from numpy.typing import NDArray

from voile.documents.text.document import Document
from voile.documents.words.tokens import Ints, TextTokens


def are_signs(tokens: TextTokens, texts: Sequence[str]) -> NDArray[np.bool_]:
    """Return which tokens contain no letter and no digit, (n,)."""
    numbers, starts, ends = tokens.document.tolist(), tokens.starts.tolist(), tokens.ends.tolist()
    places = zip(numbers, starts, ends, strict=True)
    worded = (any(map(str.isalnum, texts[n][start:end])) for n, start, end in places)
    return ~np.fromiter(worded, np.bool_, len(tokens))


def token_labels(
    tokens: TextTokens, documents: Iterable[Document], labels: Sequence[str]
) -> NDArray[np.int16]:
    """Return the type of the identifier that overlaps each token, (n,): from 1, or 0 for none."""
    numbers = {label: number for number, label in enumerate(labels, 1)}
    found = np.zeros(len(tokens), dtype=np.int16)
    for number, document in enumerate(documents):
        spans = [span for span in document.spans if span.label in numbers]
        if spans:
            part = slice(*tokens.first[number : number + 2])
            types = np.array([0, *(numbers[span.label] for span in spans)], dtype=np.int16)
            places = [(span.start, span.end) for span in spans]
            found[part] = types[_places_of(places, tokens.starts[part], tokens.ends[part])]
    return found


def unknown_tokens(tokens: TextTokens, documents: Iterable[Document]) -> NDArray[np.bool_]:
    """Return which tokens overlap text of unknown status, (n,)."""
    found = np.zeros(len(tokens), dtype=np.bool_)
    for number, document in enumerate(documents):
        if document.unknown:
            part = slice(*tokens.first[number : number + 2])
            found[part] = _places_of(document.unknown, tokens.starts[part], tokens.ends[part]) > 0
    return found


def _places_of(places: Sequence[tuple[int, int]], starts: Ints, ends: Ints) -> NDArray[np.intp]:
    """Return the number of the range that overlaps each token: from 1, or 0 for none.

    places : disjoint ranges (start, end), in ascending order.
    """
    begin, last = np.array(places).T
    where = np.searchsorted(last, starts, side="right")
    inside = where < len(last)
    inside[inside] = begin[where[inside]] < ends[inside]
    return np.where(inside, where + 1, 0)
