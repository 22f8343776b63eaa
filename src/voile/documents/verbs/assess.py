"""The verb assess, which compares texts that another tool redacted with their originals."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from voile.core.errors import RequestError
from voile.core.evidence import Evidence, Finding, Note, Rate
from voile.core.progress import ProgressHook
from voile.data import Source
from voile.data.roles import Roles
from voile.documents.attack.alignment import align, count_marks, is_of
from voile.documents.attack.remaining import match_documents
from voile.documents.columns import text_roles
from voile.documents.model.quantities import LEFT, REMOVED
from voile.documents.options import AssessOptions
from voile.documents.replacements.published import PublishedDocument, PublishedText
from voile.documents.replacements.removal import KnownFinder
from voile.documents.text.document import Document, Span
from voile.documents.text.files_source import FilesSource
from voile.documents.text.formats.tables import source_documents
from voile.documents.words.tokens import TextTokens, tokenise
from voile.release.assessment import ReleaseAssessment
from voile.report.suppression import FEW

Pair = tuple[PublishedDocument, Document]
Case = tuple[Document, Span, bool]
"""An identifier of an original, and whether a part of it is left."""


@dataclass(frozen=True)
class DocumentAssessment:
    """The assessment of released texts from any tool.

    read_known : a function that reads the tables of known values.
    """

    read_known: Callable[[AssessOptions], KnownFinder | None]

    def assess(
        self,
        original: Source,
        released: Source,
        roles: Roles | None,
        options: AssessOptions,
        *,
        seed: int | None,
        progress: ProgressHook,
    ) -> ReleaseAssessment:
        """Align texts with their originals, and count identifiers left and tokens removed.

        If the original has annotations, the result counts the identifiers left by type, and the
        removed harmless tokens. If tables are given, it counts the original's values that are left.
        Otherwise it contains only lengths and marks. No random numbers are drawn, so `seed` has no
        effect.

        Raises
        ------
        RequestError : the documents are not those of the original, or known columns occur in none
            of them.
        """
        known = self.read_known(options)
        theirs = _roles_of(original, roles, options)
        truth = list(source_documents(original, theirs))
        ours = source_documents(released, text_roles(released, theirs.of("text")))
        bare = [Document(one.text, id=one.id) for one in ours]
        if len(bare) != len(truth):
            raise RequestError(
                f"{len(bare):,} released texts for {len(truth):,} of the original",
                where=released.name,
                instead="give the originals of these texts, in their order",
            )
        aligned = list(_align_texts(bare, truth, released.name, progress))
        pairs = list(match_documents(aligned, truth))
        has_spans = any(one.spans for one in truth)
        annotated = [pair for pair in pairs if pair[1].annotated and has_spans]
        evidence = [_count_remaining(annotated)] if annotated else []
        if known is not None:
            progress("looking for known values", 0)
            evidence.append(_known_left(pairs, known, options.by))
        figures = {
            "documents": float(len(pairs)),
            "replaced": float(sum(len(one.edits) for one, _ in pairs)),
            "share_of_characters_left": _share_left(pairs),
        }
        for one in evidence:
            for finding in (each for each in one.findings if not each.of and each.rate.trials):
                figures[finding.quantity.replace(" ", "_")] = finding.rate.value
        marks = count_marks(one.text for one, _ in pairs)
        facts = {
            "annotated": len(annotated),
            "met": {} if known is None else dict(known.hits),
            "marks": {k: v for k, v in marks.items() if v >= FEW},
        }
        return ReleaseAssessment("documents", released.name, figures, tuple(evidence), facts)


def _roles_of(source: Source, given: Roles | None, options: AssessOptions) -> Roles:
    if options.subject is None and options.by in source.columns:
        options = options.model_copy(update={"subject": options.by})
    if given is None and not options.text and isinstance(source, FilesSource):
        return text_roles(source, ("text",), options.spans, options.subject)
    return options.roles_of(source, given)


def _align_texts(
    ours: list[Document], truth: list[Document], where: str, progress: ProgressHook
) -> Iterator[PublishedDocument]:
    for number, (one, source) in enumerate(zip(ours, truth, strict=True), 1):
        progress("aligning texts", number, len(ours))
        edits = align(source.text, one.text)
        if not is_of(source, one.text, edits):
            raise RequestError(
                f"text {number} differs from the original's in more than the replacements",
                where=where,
                instead="give the originals of these texts, in their order",
            )
        yield PublishedDocument(one.text, (), source.id, source.subject, edits=edits)


def _share_left(pairs: list[Pair]) -> float:
    whole = sum(len(source.text) for _, source in pairs)
    gone = sum(edit.source_end - edit.source_start for one, _ in pairs for edit in one.edits)
    return 1 - gone / whole if whole else 1.0


def _count_remaining(pairs: list[Pair]) -> Evidence:
    """Count the identifiers with a part left, and the harmless tokens that are removed."""
    spans = [(source, span, _is_left(one, span)) for one, source in pairs for span in source.spans]
    gone = [(source, *_harmless(one, source)) for one, source in pairs]
    all_left, *by_label = _findings(LEFT, spans, "Annotated identifiers")
    removed = Finding(
        REMOVED,
        Rate.from_clusters((lost for _, lost, _ in gone), (whole for *_, whole in gone)),
        meaning="Tokens that nobody annotated and that are not in the released text.",
    )
    findings = (all_left, removed, *by_label)
    return Evidence(
        attack="what is left",
        heading="singling out",
        story=Note(
            "The reader of the released texts finds every identifier that was not replaced. "
            "Texts were aligned word by word with their originals, since no record lists the "
            "replacements."
        ),
        knows=(),
        findings=findings,
        notes=(Note("A surrogate that happens to be the same word counts as left."),),
    )


def _known_left(pairs: Sequence[Pair], known: KnownFinder, by: str | None) -> Evidence:
    """Count the known values in the originals, and those that are at least partly left."""
    sure: list[Case] = []
    possible: list[Case] = []
    for (one, source), found in zip(pairs, known.propose([x for _, x in pairs]), strict=True):
        for value in found:
            span = Span(value.start, value.end, value.label)
            cases = sure if known.sure(value) else possible
            cases.append((source, span, _is_left(one, span)))
    known.check(by)
    return Evidence(
        attack="known values left",
        heading="singling out",
        story=Note(
            "The reader of the released texts finds every name, number, day and address of the "
            "known tables that was not replaced. Texts were aligned word by word with their "
            "originals."
        ),
        knows=(),
        findings=(
            *_findings("known values left", sure, "Values of the tables that the original holds"),
            *_findings("possible values left", possible, "Words that may be such a value")[
                : bool(possible)
            ],
        ),
        notes=(
            Note(
                "Identifiers that stand in no table are not counted. A possible value is a name "
                "that the texts use as a word, or one with a typo."
            ),
        ),
    )


def _findings(quantity: str, cases: Sequence[Case], of: str) -> list[Finding]:
    """Return the share of identifiers with a part left, in total and for each type."""
    labels = sorted({span.label for _, span, _ in cases})
    whole = Finding(quantity, _rate(cases), meaning=f"{of}: some part is in the released text.")
    return [
        whole,
        *(
            Finding(quantity, _rate([case for case in cases if case[1].label == label]), of=label)
            for label in labels
        ),
    ]


def _rate(cases: Sequence[Case]) -> Rate:
    subjects = (source.subject or source.id for source, *_ in cases)
    return Rate.by_subject((left for *_, left in cases), subjects)


def _is_left(published: PublishedDocument, span: Span) -> bool:
    """Return whether a letter or digit of an identifier is outside every edit."""
    text = PublishedText(published.text, published.edits)
    parts = (published.text[part.start : part.end] for part in text.carry_spans([span]))
    return any(character.isalnum() for part in parts for character in part)


def _harmless(published: PublishedDocument, source: Document) -> tuple[int, int]:
    """Count the source's tokens outside spans: those that an edit overlaps, and all."""
    tokens = tokenise([source.text])
    harmless = ~_meets(tokens, ((span.start, span.end) for span in source.spans))
    edited = _meets(tokens, ((edit.source_start, edit.source_end) for edit in published.edits))
    return int((harmless & edited).sum()), int(harmless.sum())


def _meets(tokens: TextTokens, parts: Iterable[tuple[int, int]]) -> NDArray[np.bool_]:
    """Return which tokens overlap one of these parts of the text, as a mask (n,)."""
    found = np.zeros(len(tokens), dtype=np.bool_)
    for start, end in parts:
        found |= (tokens.starts < end) & (start < tokens.ends)
    return found
