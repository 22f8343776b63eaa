"""Collect the documents of a source for training."""

from __future__ import annotations

from collections.abc import Iterable

import numpy as np
from numpy.typing import NDArray

from voile.data import Source
from voile.documents.text.document import Document, only_annotated
from voile.documents.text.reader import DocumentReader, is_usable, text_hash
from voile.documents.text.sequence import DocumentSequence


def read_learning_corpus(reader: DocumentReader, source: Source) -> DocumentSequence:
    """Return the annotated documents to learn from, without those held out; one pass.

    Neither a subject's copies of a document nor the order of rows changes the result. Empty and
    unusable texts are omitted. Texts without annotations are omitted with a warning.
    """
    return in_order(only_annotated(filter(is_usable, reader.read_documents(source))))


def in_order(documents: Iterable[Document]) -> DocumentSequence:
    """Return the documents in sorted order, with a subject's duplicate documents only once."""
    found = {(one.subject or "", one.text, one.spans): one for one in documents}
    return DocumentSequence(found[key] for key in sorted(found))


def text_hashes(corpus: Iterable[Document], key: bytes) -> NDArray[np.int64]:
    """Return a keyed hash of each text, (d,), by which a kit recognises its training texts."""
    return np.array([text_hash(one.text, key) for one in corpus], dtype=np.int64)
