"""Publish text with the removals of a committee."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from itertools import pairwise

import numpy as np

from voile.documents.model.committee.committee import TokenRemover
from voile.documents.model.committee.removals import TokenRemovals
from voile.documents.replacements.published import PublishedDocument, RemovalReplacer
from voile.documents.replacements.published_document import publish
from voile.documents.replacements.removal import RemovalReason, TextRemoval
from voile.documents.replacements.spans import join_adjacent
from voile.documents.text.document import Document

BATCH = 256


def publish_documents(
    remover: TokenRemover, documents: Iterable[Document], put: RemovalReplacer
) -> Iterator[PublishedDocument]:
    """Yield each published document in order. Memory: one batch."""
    waiting: list[Document] = []
    for document in documents:
        waiting.append(document)
        if len(waiting) == BATCH:
            yield from _publish_documents(remover, waiting, put)
            waiting = []
    yield from _publish_documents(remover, waiting, put)


def _publish_documents(
    remover: TokenRemover, documents: Sequence[Document], put: RemovalReplacer
) -> Iterator[PublishedDocument]:
    removed = remover(documents)
    for document, removals in zip(documents, removals_by_text(remover, removed), strict=True):
        yield publish(document, join_adjacent(document.text, removals), put)


def removals_by_text(remover: TokenRemover, removed: TokenRemovals) -> Iterator[list[TextRemoval]]:
    """Yield a committee's removals for each text, with one removal for each token."""
    tokens, labels = removed.tokens, remover.labels
    passes = [(RemovalReason("pass", name, n),) for n, name in enumerate(remover.learners, 1)]
    gone = np.flatnonzero(removed.type)
    starts, ends = tokens.starts[gone].tolist(), tokens.ends[gone].tolist()
    types, who = removed.type[gone].tolist(), removed.member[gone].tolist()
    bounds = np.searchsorted(gone, tokens.first).tolist()
    for begin, end in pairwise(bounds):
        yield [
            TextRemoval(starts[x], ends[x], labels[types[x] - 1], passes[who[x]])
            for x in range(begin, end)
        ]
