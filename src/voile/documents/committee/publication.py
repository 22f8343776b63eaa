"""From what a committee removes to the text that may be published."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from itertools import pairwise
from typing import Any

import numpy as np

from voile.core.errors import RequestError
from voile.documents.committee.committee import Committee, Remover, TokenRemovals
from voile.documents.replacements import (
    Edit,
    PublishedText,
    Reason,
    Removal,
    Replacer,
    join_adjacent,
    make_replacer,
)
from voile.documents.replacements.markup import keep_json
from voile.documents.text.corpus import Corpus
from voile.documents.text.document import Document


@dataclass(frozen=True, slots=True)
class PublishedDocument(Document):
    """A document as published; its spans are the identifiers that are left."""

    edits: tuple[Edit, ...] = ()  # what stands in the place of what, in the order of the text


def sanitize_texts(committee: Committee, texts: Any, how: str | Replacer) -> Any:
    """Put texts through a committee; see `GreedySanitizer.sanitize`."""
    put = make_replacer(how) if isinstance(how, str) else how
    if isinstance(texts, Corpus):
        return Corpus(publish_documents(committee.remover(), texts, put))
    refused = RequestError("sanitize takes a corpus or a list of texts")
    if isinstance(texts, str) or not isinstance(texts, Iterable):
        raise refused
    given = list(texts)
    if not all(isinstance(text, str) for text in given):
        raise refused
    plain = [Document(text) for text in given]
    return [one.text for one in publish_documents(committee.remover(), plain, put)]


BATCH = 256


def publish_documents(
    remover: Remover, documents: Iterable[Document], put: Replacer
) -> Iterator[PublishedDocument]:
    """Yield each document as published, in order; memory follows the batch."""
    waiting: list[Document] = []
    for document in documents:
        waiting.append(document)
        if len(waiting) == BATCH:
            yield from _published(remover, waiting, put)
            waiting = []
    yield from _published(remover, waiting, put)


def _published(
    remover: Remover, documents: Sequence[Document], put: Replacer
) -> Iterator[PublishedDocument]:
    removed = remover(documents)
    for document, removals in zip(documents, removals_by_text(remover, removed), strict=True):
        yield publish(document, join_adjacent(document.text, removals), put)


def publish(document: Document, removals: Sequence[Removal], put: Replacer) -> PublishedDocument:
    """Replace what is removed, and carry over the spans that are left."""
    made: PublishedText = keep_json(document.text, put(document, removals))
    return PublishedDocument(
        made.text,
        tuple(made.carried(document.spans)),
        document.id,
        document.subject,
        annotated=document.annotated,
        edits=tuple(made.edits),
    )


def removals_by_text(remover: Remover, removed: TokenRemovals) -> Iterator[list[Removal]]:
    """Yield for each text what a committee removes of it, a token each."""
    tokens, labels = removed.tokens, remover.labels
    passes = [(Reason("pass", name, n),) for n, name in enumerate(remover.learners, 1)]
    gone = np.flatnonzero(removed.type)
    starts, ends = tokens.starts[gone].tolist(), tokens.ends[gone].tolist()
    types, who = removed.type[gone].tolist(), removed.member[gone].tolist()
    bounds = np.searchsorted(gone, tokens.first).tolist()
    for begin, end in pairwise(bounds):
        yield [
            Removal(starts[x], ends[x], labels[types[x] - 1], passes[who[x]])
            for x in range(begin, end)
        ]
