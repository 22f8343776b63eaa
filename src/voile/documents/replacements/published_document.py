"""Publish a document: replace its removed identifiers by marks or surrogates."""

from __future__ import annotations

from collections.abc import Sequence

from voile.documents.replacements.markup import keep_json, replace_in_elements
from voile.documents.replacements.published import PublishedDocument, RemovalReplacer
from voile.documents.replacements.removal import TextRemoval
from voile.documents.text.document import Document


def publish(
    document: Document, removals: Sequence[TextRemoval], put: RemovalReplacer
) -> PublishedDocument:
    """Replace the removed text, and carry over the remaining spans."""
    made = keep_json(document.text, replace_in_elements(document, removals, put))
    return PublishedDocument(
        made.text,
        tuple(made.carry_spans(document.spans)),
        document.id,
        document.subject,
        annotated=document.annotated,
        edits=tuple(made.edits),
    )
