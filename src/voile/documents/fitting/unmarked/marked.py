"""Mark notes by proposals, a machine and reviewers: identifiers, harmless and unknown tokens.

Tokens are unknown in three cases:

- A proposal is doubtful and not an identifier, and a machine also doubts it.
- The machine learned a token as harmless, but still finds that it may identify a person. For
  example, an unknown doctor occurs in the same contexts as known doctors.
- A proposal is mostly wrong, by the answers of reviewers about similar proposals.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from itertools import filterfalse

import numpy as np
from numpy.typing import NDArray

from voile.core.errors import RequestError
from voile.documents.fitting.unmarked.marks import ProposedMarks, ReviewedSpan, is_sure
from voile.documents.fitting.unmarked.quick_look import QuickLook
from voile.documents.fitting.unmarked.trust import sources_of, trust
from voile.documents.model.start.rules.rule import NAME
from voile.documents.text.sequence import DocumentSequence
from voile.documents.words.token_classes import token_labels, unknown_tokens

Bools = NDArray[np.bool_]
Floats = NDArray[np.float64]

ELSEWHERE = 0.5
"""The share of a form's doubted occurrences from which all its occurrences are doubted."""
SUSPECT = 0.1
"""The probability of an identifier from which an unmarked token is unknown."""
BELIEVED = 0.3
"""The probability of being right below which a proposal is unknown.

At .5, rules that are half right would be excluded, and few names would remain for training.
"""


@dataclass(frozen=True, eq=False)
class MarkedTokens:
    """The n tokens of all notes with their current marks. Unknown tokens may identify or not."""

    corpus: DocumentSequence  # with identifiers as spans
    identifiers: Bools  # (n,)
    unknown: Bools  # (n,)
    trust: Floats  # (n,) the trust in unread doubtful proposals; 1 elsewhere


@dataclass(frozen=True, eq=False)
class MarkedNotes:
    """Notes with their proposals, and a quick look at them.

    Results that do not depend on a reviewer's answer are computed once.
    """

    marks: ProposedMarks
    look: QuickLook

    def corpus(self, reviewed: Sequence[ReviewedSpan] = ()) -> DocumentSequence:
        """Return the documents with identifiers as spans, and with the unknown tokens.

        Reviewed text is known, independent of the proposals there. Spans that reviewers rejected
        are also not learned elsewhere. Cost: a quick look.

        Raises
        ------
        RequestError : there is no proposal in any note.
        """
        marked = self._mark_tokens(reviewed)
        return with_unknown(marked.corpus, self.look, np.flatnonzero(marked.unknown))

    def probabilities(self, reviewed: Sequence[ReviewedSpan] = ()) -> Floats:
        """Return the probability that each token of the look identifies a person, (n,).

        Cost: two quick looks.
        """
        marked = self._mark_tokens(reviewed)
        known = marked.identifiers | ~marked.unknown
        return self.look.probabilities(marked.identifiers, known) * marked.trust

    def trust(self, reviewed: Sequence[ReviewedSpan]) -> Floats:
        """Return the trust in unread doubtful proposals, (n,); 1 elsewhere."""
        read, unsure = reviewed_tokens(self.look, reviewed)
        said = self.marks.join_reviews(reviewed)
        right = token_labels(self.look.tokens, said, said.labels) > 0
        believed = trust(self.look.tokens, self._source, read & ~unsure, right)
        return np.where(read, 1.0, believed)

    def _mark_tokens(self, reviewed: Sequence[ReviewedSpan]) -> MarkedTokens:
        tokens, believed = self.look.tokens, self.trust(reviewed)
        reviewed = [*reviewed, *self._list_disbelieved(believed)]
        half = self.marks.join_reviews(reviewed)
        refuse_unmarked(half)
        identifiers = token_labels(tokens, half, half.labels) > 0
        unknown = unknown_tokens(tokens, half) & ~identifiers
        probability = self.look.probabilities(identifiers, ~unknown)
        read, unsure = reviewed_tokens(self.look, reviewed)
        free = ~identifiers & ~read
        doubted = (probability > SUSPECT) & free
        names = token_labels(tokens, half, (NAME,)) > 0
        seen = doubted | (names & (self._source > 0) & ~read)
        doubted |= _as_elsewhere(self.look, seen, free | seen) & free
        return MarkedTokens(half, identifiers, doubted | unsure, believed)

    def _list_disbelieved(self, believed: Floats) -> Iterator[ReviewedSpan]:
        """Yield, as unknown, the runs of tokens with proposals of little trust."""
        tokens = self.look.tokens
        places = np.flatnonzero(believed < BELIEVED)
        ends = (np.diff(places) > 1) | (np.diff(tokens.document[places]) > 0)
        for run in filter(len, np.split(places, np.flatnonzero(ends) + 1)):
            start, end = int(tokens.starts[run[0]]), int(tokens.ends[run[-1]])
            yield ReviewedSpan(int(tokens.document[run[0]]), start, end, (), unsure=True)

    @cached_property
    def _source(self) -> NDArray[np.int16]:
        """The source of the proposal of each doubted token, (n,)."""
        in_doubt = [[*filterfalse(is_sure, one)] for one in self.marks.proposed_removals]
        return sources_of(self.look.tokens, self.marks.documents, in_doubt)


def refuse_unmarked(corpus: DocumentSequence) -> None:
    """Raise `RequestError` if no identifier is proposed in any note."""
    if not corpus.labels:
        raise RequestError(
            "nothing in the notes looks like an identifier",
            instead="give tables of known values with --known, or mark some notes and use fit",
        )


def _as_elsewhere(look: QuickLook, seen: Bools, among: Bools) -> Bools:
    """Return which tokens have a capitalised form that often seems to identify.

    That is the case in at least half of its occurrences.

    For example, a doctor in no table occurs in many notes, with or without a title.
    """
    tokens = look.tokens
    size = len(tokens.forms)
    often = np.bincount(tokens.form[seen], minlength=size)
    every = np.bincount(tokens.form[among], minlength=size)
    large = np.array([form != form.lower() for form in tokens.forms], dtype=np.bool_)
    found = large & (often >= ELSEWHERE * every) & (often > 0)
    return np.asarray(found[tokens.form] & among)


def reviewed_tokens(look: QuickLook, reviewed: Sequence[ReviewedSpan]) -> tuple[Bools, Bools]:
    """Return which tokens reviewers have read, and which of them are undecided, (n,) each."""
    read = np.zeros(len(look.tokens), dtype=np.bool_)
    unsure = read.copy()
    for line in reviewed:
        begin, end = look.tokens.first[line.document : line.document + 2]
        starts = look.tokens.starts[begin:end]
        inside = (starts >= line.start) & (starts < line.end)
        read[begin:end] |= inside
        unsure[begin:end] |= inside & line.unsure
    return read, unsure


def with_unknown(
    corpus: DocumentSequence, look: QuickLook, tokens: NDArray[np.intp]
) -> DocumentSequence:
    """Return the corpus with only the given tokens marked as unknown.

    tokens : the numbers of the tokens, in ascending order.
    """
    of = look.tokens
    bounds = np.searchsorted(tokens, of.first).tolist()
    documents = []
    for number, document in enumerate(corpus):
        here = tokens[bounds[number] : bounds[number + 1]]
        places = zip(of.starts[here].tolist(), of.ends[here].tolist(), strict=True)
        documents.append(replace(document, unknown=tuple(places)))
    return DocumentSequence(documents)
