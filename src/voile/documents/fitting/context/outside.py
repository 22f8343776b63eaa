"""Extract the words of a corpus outside its spans, with their subjects."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from functools import cached_property

import numpy as np
from numpy.typing import NDArray
from scipy import sparse

from voile.documents.text.sequence import DocumentSequence
from voile.documents.words.token_classes import token_labels
from voile.documents.words.tokens import TextTokens, TokenNumbers, tokenise

Places = NDArray[np.intp]


@dataclass(frozen=True, eq=False)
class OutsideWords:
    """The words of a corpus that no span overlaps."""

    tokens: TextTokens  # the tokens of all texts
    # (n,) the number of each token's word, without case; -1 inside a span, and for a token with
    # neither letter nor digit
    word: Places
    words: Mapping[str, int]  # the number of each word
    whose: Places  # (d,) the number of each document's subject
    subjects: int  # the number of subjects

    @classmethod
    def of(cls, corpus: DocumentSequence) -> OutsideWords:
        """Read a corpus. Cost: O(characters)."""
        tokens = tokenise(document.text for document in corpus)
        known = TokenNumbers()
        lowered = np.array(known.number(form.casefold() for form in tokens.forms), dtype=np.intp)
        plain = np.array(
            [any(map(str.isalnum, word)) for word in known.known_words], dtype=np.bool_
        )
        number = lowered[tokens.form] if len(tokens) else np.zeros(0, dtype=np.intp)
        outside = token_labels(tokens, corpus, corpus.labels) == 0
        names, whose = np.unique(np.array(corpus.subjects, dtype=np.str_), return_inverse=True)
        word = np.where(outside & plain[number], number, -1)
        words = {form: place for place, form in enumerate(known.known_words)}
        return cls(tokens, word, words, np.asarray(whose, dtype=np.intp), len(names))

    @cached_property
    def incidence(self) -> sparse.csr_array:
        """The remaining words of each subject, (subjects, words), 1 or absent."""
        kept = self.word >= 0
        return incidence(
            self.whose[self.tokens.document[kept]],
            self.word[kept],
            (self.subjects, len(self.words)),
        )


def incidence(rows: Places, columns: Places, shape: tuple[int, int]) -> sparse.csr_array:
    """Return a 0/1 matrix with a 1 at each of these positions; repeated positions count once."""
    matrix = sparse.csr_array((np.ones(len(rows), dtype=np.int32), (rows, columns)), shape=shape)
    matrix.sum_duplicates()
    matrix.data[:] = 1
    return matrix
