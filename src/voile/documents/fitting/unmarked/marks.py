"""Join the proposals of several proposers for the same notes with the reviewers' answers.

A known value or a checked number is an identifier. So is a doubtful proposal that is mostly right:
a title, a field, a form. Other doubtful proposals are unknown.
"""

from __future__ import annotations

from bisect import bisect_right
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from itertools import chain, filterfalse, starmap

from voile.documents.fitting.unmarked.proposer import RemovalProposer
from voile.documents.model.start.rules import RULES
from voile.documents.model.start.rules.forms import FORM_NAMES
from voile.documents.model.start.rules.rule import NAME
from voile.documents.patterns import PATTERNS
from voile.documents.replacements.removal import RemovalReason, TextRemoval
from voile.documents.replacements.spans import settle_spans
from voile.documents.text.document import Document, Span
from voile.documents.text.sequence import DocumentSequence

NEARLY_ALL = 0.9
"""The share of mostly right names that must be known to treat the other names as errors."""
SURE_RULES = frozenset(
    (*(rule.name for rule in RULES if rule.sure or rule.label != NAME), *FORM_NAMES)
)
"""Rules that are mostly right: the sure rules for names, and all other rules."""
CHECKED = frozenset(name for name, one in PATTERNS.items() if one.checked)


@dataclass(frozen=True)
class ReviewedSpan:
    """A reviewer's answer for a part of a document: all its text except the spans is harmless."""

    document: int  # the number of the document, from 0
    start: int
    end: int
    spans: tuple[Span, ...]  # with offsets in the document, within start and end
    unsure: bool = False  # whether the reviewer was undecided


@dataclass(frozen=True, eq=False)
class ProposedMarks:
    """Notes, and the proposals for each.

    sure, doubtful : (d,), the removals of each document, ordered and disjoint.

    Results that do not depend on a reviewer's answer are computed once.
    """

    documents: tuple[Document, ...]
    sure: tuple[list[TextRemoval], ...]
    doubtful: tuple[list[TextRemoval], ...]

    @classmethod
    def of(
        cls, documents: Sequence[Document], proposers: Sequence[RemovalProposer]
    ) -> ProposedMarks:
        """Collect the proposals of every proposer.

        If several propose the same text, a mostly right proposal determines the type before others.
        So a street with a doctor's name gets its type from the rule for streets. Among equals, the
        first proposal determines the type.
        """
        plain = [replace(one, spans=(), unknown=()) for one in documents]
        proposed = list(zip(*(one.propose(plain) for one in proposers), strict=True))
        texts = [one.text for one in plain]
        sure = [
            settle_spans(text, *(filter(is_sure, one) for one in by))
            for text, by in zip(texts, proposed, strict=True)
        ]
        return cls(tuple(plain), tuple(sure), tuple(map(_doubtful, texts, proposed)))

    @cached_property
    def proposed_removals(self) -> Sequence[list[TextRemoval]]:
        """All proposals for each document, the sure ones first."""
        texts = (one.text for one in self.documents)
        return [*starmap(settle_spans, zip(texts, self.sure, self.doubtful, strict=True))]

    def _taught(self) -> Mapping[str, Callable[[TextRemoval], bool]]:
        """Return for each type a predicate of its doubtful proposals that count as identifiers.

        Proposals that are mostly right are identifiers, such as dates if columns contain only the
        birth date, and doctors in no table. Doubtful names are not identifiers if tables contain
        nearly all names. If no proposal of a type is sure or mostly right, all of them are
        identifiers.
        """
        kinds: dict[str, Callable[[TextRemoval], bool]] = {
            removal.label: _always for one in self.doubtful for removal in one
        }
        rest = chain.from_iterable(self.doubtful)
        kinds |= {removal.label: is_trusted for removal in rest if is_trusted(removal)}
        sure = {removal.label for one in self.sure for removal in one}
        kinds |= dict.fromkeys(sure, is_trusted)
        return kinds | {NAME: _never} if self._knows_all_names() else kinds

    def _knows_all_names(self) -> bool:
        """Return whether the sure proposals cover nearly all trusted proposals of names."""
        known = []
        for sure, rest in zip(self.sure, self.doubtful, strict=True):
            ends = [one.end for one in sure]
            for one in rest:
                if one.label == NAME and is_trusted(one):
                    next_one = sure[bisect_right(ends, one.start) :][:1]
                    known.append(bool(next_one) and next_one[0].start < one.end)
        return bool(known) and sum(known) >= NEARLY_ALL * len(known)

    def counts(self) -> Mapping[RemovalReason, int]:
        """Count the proposals by their reasons."""
        proposed = chain.from_iterable((*self.sure, *self.doubtful))
        return Counter(reason for removal in proposed for reason in removal.by)

    def names(self) -> tuple[int, int]:
        """Count the proposed names, and those that match no known value."""
        names = [one for one in chain.from_iterable(self.proposed_removals) if one.label == NAME]
        met = sum(any(why.kind in ("known", "possible") for why in one.by) for one in names)
        return len(names), len(names) - met

    def join_reviews(self, reviewed: Sequence[ReviewedSpan]) -> DocumentSequence:
        """Return the documents with identifiers as spans, and with unknown text."""
        lines: dict[int, list[ReviewedSpan]] = {}
        for line in reviewed:
            lines.setdefault(line.document, []).append(line)
        return DocumentSequence(
            _apply_review(document, lines[number]) if number in lines else document
            for number, document in enumerate(self._unread)
        )

    @cached_property
    def _unread(self) -> Sequence[Document]:
        """The documents without the reviewers' answers."""
        taught = self._taught()
        documents = []
        for document, sure, rest in zip(self.documents, self.sure, self.doubtful, strict=True):
            believed = [one for one in rest if taught[one.label](one)]
            doubted = [(one.start, one.end) for one in rest if not taught[one.label](one)]
            settled = settle_spans(document.text, sure, believed)
            spans = (Span(one.start, one.end, one.label) for one in settled)
            documents.append(replace(document, spans=tuple(spans), unknown=tuple(doubted)))
        return documents


def is_sure(removal: TextRemoval) -> bool:
    """Return whether known values or a checksum confirm a removal."""
    return any(
        one.kind == "known" or (one.kind == "pattern" and one.name in CHECKED) for one in removal.by
    )


def _doubtful(text: str, proposed: Iterable[Sequence[TextRemoval]]) -> list[TextRemoval]:
    """Join the proposals for a document that are not sure, in the order of their proposers."""
    rest = [[*filterfalse(is_sure, one)] for one in proposed]
    trusted = (filter(is_trusted, one) for one in rest)
    return settle_spans(text, *trusted, *(filterfalse(is_trusted, one) for one in rest))


def _always(removal: TextRemoval) -> bool:
    return True


def _never(removal: TextRemoval) -> bool:
    return False


def is_trusted(removal: TextRemoval) -> bool:
    """Return whether a proposal that is not sure is mostly right: a title, a field, a form.

    Proposals of a pretrained model are mostly right, unless it marks them as unlikely.
    """
    return any(
        one.kind == "pattern"
        or (one.kind == "starter" and not one.name)
        or (one.kind == "rule" and one.name in SURE_RULES)
        for one in removal.by
    )


def _apply_review(document: Document, lines: Sequence[ReviewedSpan]) -> Document:
    """Replace the proposals in some lines by the reviewers' answers."""
    kept = [*document.spans]
    doubted = [Span(start, end, "") for start, end in document.unknown]
    for line in lines:
        kept, doubted = ([*_without(ones, line)] for ones in (kept, doubted))
        if line.unsure:
            doubted.append(Span(line.start, line.end, ""))
        else:
            kept.extend(line.spans)
    return replace(
        document, spans=tuple(kept), unknown=tuple((one.start, one.end) for one in doubted)
    )


def _without(spans: Iterable[Span], line: ReviewedSpan) -> Iterator[Span]:
    """Yield the parts of some spans that are outside a line."""
    for span in spans:
        if span.end <= line.start or line.end <= span.start:
            yield span
            continue
        if span.start < line.start:
            yield replace(span, end=line.start)
        if line.end < span.end:
            yield replace(span, start=line.end)
