"""Estimate the trust in unread proposals.

A rule that takes one word too many does so in every note. A machine that learns from these
proposals is as certain of the error as the rule. Only reviewers can correct it. Their answers about
a source's proposals apply to its other proposals. Their answers about the same word from that
source have the most weight.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

import numpy as np
from numpy.typing import NDArray

from voile.documents.replacements.removal import TextRemoval
from voile.documents.text.document import Document, Span
from voile.documents.text.sequence import DocumentSequence
from voile.documents.words.token_classes import token_labels
from voile.documents.words.tokens import TextTokens

Floats = NDArray[np.float64]
Bools = NDArray[np.bool_]
SOURCE, WORD = 5.0, 0.5
"""The prior weights of a source and of a word, in tokens read."""
SYSTEMATIC = 0.1
"""The probability that a source is wrong about a word before any of its occurrences is read."""


def sources_of(
    tokens: TextTokens, documents: Sequence[Document], proposed: Sequence[Sequence[TextRemoval]]
) -> NDArray[np.int16]:
    """Return the number of each token's source and type of proposal, (n,).

    Numbers start at 1, and 0 means no proposal.
    """
    spans = [[Span(one.start, one.end, _source(one)) for one in own] for own in proposed]
    pairs = zip(documents, spans, strict=True)
    corpus = DocumentSequence(replace(document, spans=tuple(own)) for document, own in pairs)
    return token_labels(tokens, corpus, corpus.labels)


def _source(removal: TextRemoval) -> str:
    """Return the name of a proposal's source, the first of several."""
    return " ".join((removal.label, *map(str, removal.by[:1])))


def trust(tokens: TextTokens, source: NDArray[np.int16], read: Bools, right: Bools) -> Floats:
    """Return the probability that the proposal of each token is right, (n,).

    Numbers and signs share only their source with other tokens.

    Parameters
    ----------
    source : (n,), the source of each token's proposal; 0 without a proposal, with a trust of 1.
    read, right : (n,), which tokens were read, and which identify a person.
    """
    seen = read & (source > 0)
    of_source = _share(source, seen, right, np.ones(len(source)), SOURCE)
    of_word = _share(tokens.form, seen, right, (1 - SYSTEMATIC) * of_source, WORD)
    is_word = np.array([form[0].isalpha() for form in tokens.forms], dtype=np.bool_)
    found = np.where(is_word[tokens.form], of_word, of_source)
    return np.where(source > 0, found, 1.0)


def _share(
    group: NDArray[np.integer], seen: Bools, right: Bools, unread: Floats, weight: float
) -> Floats:
    """Return the share of right tokens in each token's group, `unread` if none is seen, (n,)."""
    every = np.bincount(group[seen], minlength=int(group.max(initial=0)) + 1)
    found = np.bincount(group[seen & right], minlength=len(every))
    return np.asarray((weight * unread + found[group]) / (weight + every[group]))
