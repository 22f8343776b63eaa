"""The tokens of a release that nothing was put in the place of, and how likely each identifies."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from voile.documents.acceptance.limits import Floats
from voile.documents.committee.committee import Committee
from voile.documents.committee.publication import BATCH, PublishedDocument
from voile.documents.replacements import Reason
from voile.documents.text.document import Document
from voile.documents.words.tokens import Tokens, are_signs

Pair = tuple[PublishedDocument, Document]
"""A document as released, and its source."""
READER = Reason("reader")
"""Why what readers found is removed."""
UNKNOWN = 0.002
"""The score of a token where no classifier says more: about what good committees leave."""


@dataclass(frozen=True, eq=False)
class Kept:
    """Tokens, (n,): the number of their document, and where they stand in its source.

    Parameters
    ----------
    scores : how likely each identifies somebody, as the committee's first member has it.
    left : nothing stands in its place, as apply wrote the release: what readers removed since does
        not count, so that the numbers of tokens stay.
    is_sign : it has no letter and no digit, and identifies nobody.
    """

    document: NDArray[np.intp]
    start: NDArray[np.intp]
    end: NDArray[np.intp]
    scores: Floats
    left: NDArray[np.bool_]
    is_sign: NDArray[np.bool_]

    @classmethod
    def of(cls, pairs: Sequence[Pair], committee: Committee) -> Kept:
        """Cut the sources into tokens, and score them. Memory: O(tokens).

        pairs : with the edits that apply made.
        """
        parts = list(_parts(pairs, committee))
        return cls(*(np.concatenate(one) for one in zip(*parts, strict=True)))

    @property
    def tokens(self) -> NDArray[np.intp]:
        """The numbers of the tokens that are left to read, by which a `Reading` knows them."""
        return np.flatnonzero(self.left & ~self.is_sign)

    @property
    def signs(self) -> int:
        """How many signs are left beside them."""
        return int((self.left & self.is_sign).sum())


def _parts(
    pairs: Sequence[Pair], committee: Committee
) -> Iterator[tuple[NDArray[np.generic], ...]]:
    remover, first = committee.remover(), 0
    none = np.zeros(0)
    numbers, flags = none.astype(int), none.astype(bool)
    yield numbers, numbers, numbers, none, flags, flags
    while part := pairs[first : first + BATCH]:
        origins = [origin for _, origin in part]
        tokens, scores = remover.scored(origins, unknown=UNKNOWN)
        covered = _covered(tokens, [published for published, _ in part])
        places = tokens.document + first, tokens.starts, tokens.ends
        yield *places, scores, ~covered, are_signs(tokens, [one.text for one in origins])
        first += len(part)


def _covered(tokens: Tokens, published: Sequence[PublishedDocument]) -> NDArray[np.bool_]:
    """Return which tokens a replacement stands for, all of their characters."""
    covered = np.zeros(len(tokens), dtype=np.bool_)
    for number, one in enumerate(published):
        if not one.edits:
            continue
        here = slice(*tokens.first[number : number + 2])
        starts = np.array([edit.source_start for edit in one.edits])
        ends = np.array([edit.source_end for edit in one.edits])
        over = np.searchsorted(starts, tokens.starts[here], side="right") - 1
        covered[here] = (over >= 0) & (ends[over] >= tokens.ends[here])
    return covered
