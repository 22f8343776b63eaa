"""Find the identifiers left in a release, by carrying over the original spans."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from voile.core.errors import RequestError
from voile.documents.replacements.published import PublishedDocument, PublishedEdit, PublishedText
from voile.documents.text.document import Document


def match_documents(
    published: Sequence[Document], truth: Sequence[Document]
) -> Iterator[tuple[PublishedDocument, Document]]:
    """Yield each published document, with the identifiers left as spans, together with its source.

    The documents are matched by id if every document has a unique id in both, and else by order.
    """
    for number, (one, source) in enumerate(_pair_documents(published, truth)):
        edits = edits_of(one)
        if not _from(one.text, source.text, edits):
            raise RequestError(
                "the published text, where nothing was replaced, is not that of the truth",
                where=f"document {number}",
                instead="give the truth in the published order, or ids that both know",
            )
        spans = PublishedText(one.text, edits).carry_spans(source.spans)
        yield PublishedDocument(one.text, spans, one.id, source.subject, edits=edits), source


def edits_of(document: Document) -> tuple[PublishedEdit, ...]:
    """Return the edits of a document. A document that was not published has none."""
    return getattr(document, "edits", ())


def _pair_documents(
    published: Sequence[Document], truth: Sequence[Document]
) -> Iterator[tuple[Document, Document]]:
    by_id = {one.id: one for one in truth}
    ids = {one.id for one in published}
    if len(ids) == len(published) and len(by_id) == len(truth) and ids <= by_id.keys() - {""}:
        return ((one, by_id[one.id]) for one in published)
    if len(published) != len(truth):
        raise RequestError(
            f"{len(published)} published documents for {len(truth)} of the truth",
            instead="give the sources of these documents, in their order or with their ids",
        )
    return zip(published, truth, strict=True)


def _from(text: str, source: str, edits: Sequence[PublishedEdit]) -> bool:
    """Return whether both texts are equal outside the edits."""
    here = there = 0
    for edit in (*edits, PublishedEdit(len(text), len(text), len(source), len(source), "")):
        if edit.start < here or text[here : edit.start] != source[there : edit.source_start]:
            return False
        here, there = edit.end, edit.source_end
    return True
