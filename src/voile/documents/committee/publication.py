"""From what a committee removes to the text that may be published."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from itertools import pairwise

import numpy as np

from voile.documents.committee.committee import TokenRemovals, TokenRemover
from voile.documents.replacements.markup import keep_json
from voile.documents.replacements.published import PublishedEdit, PublishedText
from voile.documents.replacements.removal import RemovalReason, TextRemoval
from voile.documents.replacements.replacer import RemovalReplacer
from voile.documents.replacements.spans import join_adjacent
from voile.documents.text.document import Document


@dataclass(frozen=True, slots=True)
class PublishedDocument(Document):
    """A document as published; its spans are the identifiers that are left."""

    edits: tuple[
        PublishedEdit, ...
    ] = ()  # what stands in the place of what, in the order of the text


BATCH = 256


def publish_documents(
    remover: TokenRemover, documents: Iterable[Document], put: RemovalReplacer
) -> Iterator[PublishedDocument]:
    """Yield each document as published, in order; memory follows the batch."""
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


def publish(
    document: Document, removals: Sequence[TextRemoval], put: RemovalReplacer
) -> PublishedDocument:
    """Replace what is removed, and carry over the spans that are left."""
    made: PublishedText = keep_json(document.text, put(document, removals))
    return PublishedDocument(
        made.text,
        tuple(made.carry_spans(document.spans)),
        document.id,
        document.subject,
        annotated=document.annotated,
        edits=tuple(made.edits),
    )


def removals_by_text(remover: TokenRemover, removed: TokenRemovals) -> Iterator[list[TextRemoval]]:
    """Yield for each text what a committee removes of it, a token each."""
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
