"""The tokens of a release that were not replaced, and their scores as identifiers."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from voile.documents.acceptance.limits import Floats
from voile.documents.model.committee.committee import TokenCommittee
from voile.documents.model.committee.publication import BATCH
from voile.documents.replacements.published import PublishedDocument
from voile.documents.replacements.removal import RemovalReason
from voile.documents.text.document import Document
from voile.documents.words.token_classes import are_signs
from voile.documents.words.tokens import TextTokens

Pair = tuple[PublishedDocument, Document]
"""A released document, and its source."""
READER = RemovalReason("reader")
"""The reason for removing the readers' finds."""
UNKNOWN = 0.002
"""The score of a token if a committee has no member: approximately the share that good
committees leave.
"""
RARE, NEW_WORD = 2, 0.05
"""The definition of a new word, and its probability of identifying a person.

A new word has a capital, never occurs in lower case, and is in at most `RARE` documents. If a
committee left it, it identifies a person with this probability: .055 to .065 in articles, mails and
tweets.
"""


@dataclass(frozen=True, eq=False)
class KeptTokens:
    """Tokens, (n,), with the number of their document and their offsets in its source.

    Parameters
    ----------
    scores : the probability that each token identifies a person, by the committee's first member.
    chances : the scores, raised for words that the committee may not have seen. A new word with a
        capital is more often a name. They set the order of reading, and no proof depends on them.
    left : whether the token is unchanged in the release that apply wrote. Later removals by readers
        are not included, so that the numbers of tokens stay the same.
    is_sign : whether the token has no letter and no digit, and so identifies no one.
    """

    document: NDArray[np.intp]
    start: NDArray[np.intp]
    end: NDArray[np.intp]
    scores: Floats
    chances: Floats
    left: NDArray[np.bool_]
    is_sign: NDArray[np.bool_]

    @classmethod
    def of(cls, pairs: Sequence[Pair], committee: TokenCommittee) -> KeptTokens:
        """Split the sources into tokens, and score them. Memory: O(tokens).

        pairs : documents with the edits that apply made.
        """
        parts = list(_parts(pairs, committee))
        document, start, end, scores, left, is_sign = map(np.concatenate, zip(*parts, strict=True))
        new = _new_words(pairs, document, start, end)
        chances = 1 - (1 - scores) * (1 - NEW_WORD * new)
        return cls(document, start, end, scores, chances, left, is_sign)

    @property
    def tokens(self) -> NDArray[np.intp]:
        """The numbers of the remaining tokens to read, as used by `AcceptanceReading`."""
        return np.flatnonzero(self.left & ~self.is_sign)

    @property
    def signs(self) -> int:
        """The number of remaining signs, which are not read."""
        return int((self.left & self.is_sign).sum())


def _parts(
    pairs: Sequence[Pair], committee: TokenCommittee
) -> Iterator[tuple[NDArray[np.generic], ...]]:
    remover, first = committee.remover(), 0
    none = np.zeros(0)
    numbers, flags = none.astype(int), none.astype(bool)
    yield numbers, numbers, numbers, none, flags, flags
    while part := pairs[first : first + BATCH]:
        origins = [origin for _, origin in part]
        tokens, scores = remover.score_tokens(origins, unknown=UNKNOWN)
        covered = _find_covered(tokens, [published for published, _ in part])
        places = tokens.document + first, tokens.starts, tokens.ends
        yield *places, scores, ~covered, are_signs(tokens, [one.text for one in origins])
        first += len(part)


def _find_covered(tokens: TextTokens, published: Sequence[PublishedDocument]) -> NDArray[np.bool_]:
    """Return which tokens are entirely covered by a replacement, as a mask (n,)."""
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


def _new_words(
    pairs: Sequence[Pair],
    document: NDArray[np.intp],
    start: NDArray[np.intp],
    end: NDArray[np.intp],
) -> NDArray[np.bool_]:
    """Return which tokens are words with a capital, never in lower case, and in few documents."""
    places = zip(document.tolist(), start.tolist(), end.tolist(), strict=True)
    words = [pairs[number][1].text[a:b] for number, a, b in places]
    small = {word for word in words if word.islower()}
    seen: dict[str, set[int]] = {}
    for word, number in zip(words, document.tolist(), strict=True):
        if len(own := seen.setdefault(word.casefold(), set())) <= RARE:
            own.add(number)
    is_new = {word for word, own in seen.items() if len(own) <= RARE and word not in small}
    found = (word[:1].isupper() and word.casefold() in is_new for word in words)
    return np.fromiter(found, dtype=np.bool_, count=len(words))
