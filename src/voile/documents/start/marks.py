"""What several proposers say of the same notes, joined: identifiers, harmless and unknown tokens.

A known value or a checked number is an identifier. A doubtful proposal is one only where nothing
sure is of its type; else nobody knows, if its rule is mostly right or a machine doubts it too. Nor
does anybody know of a token that this machine, which took it for harmless with all the rest, still
thinks may identify: an unmatched doctor stands where other doctors stand. Nor of a proposal that is
mostly wrong, as reviewers said of others like it.
"""

from __future__ import annotations

from bisect import bisect_right
from collections import Counter
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import chain, filterfalse

import numpy as np
from numpy.typing import NDArray

from voile.core.errors import RequestError
from voile.documents.patterns import PATTERNS
from voile.documents.replacements.removal import Reason, Removal, join_removals
from voile.documents.start.proposer import Proposer
from voile.documents.start.quick_look import QuickLook
from voile.documents.start.rules import NAME, RULES
from voile.documents.start.trust import sources_of, trust
from voile.documents.text.corpus import Corpus
from voile.documents.text.document import Document, Span
from voile.documents.words.tokens import token_labels, unknown_tokens

Bools = NDArray[np.bool_]

NEARLY_ALL = 0.9
"""Of a rule's proposals: if as many are known anyway, it has no more people to name."""
SURE_RULES = frozenset(rule.name for rule in RULES if rule.sure or rule.label != NAME)
"""Rules that are mostly right: of names, those that say so; of all else, all."""
CHECKED = frozenset(name for name, one in PATTERNS.items() if one.checked)
ELSEWHERE = 0.5
"""Of the places of a form that may be doubted: where as many are, all are."""
SUSPECT = 0.1
"""The probability of being part of an identifier from which nobody knows of an unmarked token."""
BELIEVED = 0.3
"""The chance to be right below which nobody knows of a proposal. At .5 rules fall that are half
right, and few names are left to learn from."""


@dataclass(frozen=True)
class Reviewed:
    """What a reviewer said of characters of a document: all but the spans there are harmless."""

    document: int  # its number, from 0
    start: int
    end: int
    spans: tuple[Span, ...]  # of the document's own characters, within start and end
    unsure: bool = False  # then nobody knows


@dataclass(frozen=True, eq=False)
class ProposedMarks:
    """Notes, and what is proposed of each.

    sure, doubtful : (d,) removals of each document, in its order and apart.
    """

    documents: tuple[Document, ...]
    sure: tuple[list[Removal], ...]
    doubtful: tuple[list[Removal], ...]

    @classmethod
    def of(cls, documents: Sequence[Document], proposers: Sequence[Proposer]) -> ProposedMarks:
        """Ask every proposer; where several propose the same, the first gives the type."""
        plain = [replace(one, spans=(), unknown=()) for one in documents]
        proposed = list(zip(*(one.propose(plain) for one in proposers), strict=True))
        sure = [join_removals(*(filter(is_sure, one) for one in by)) for by in proposed]
        rest = [join_removals(*(filterfalse(is_sure, one) for one in by)) for by in proposed]
        return cls(tuple(plain), tuple(sure), tuple(rest))

    def corpus(self, look: QuickLook, reviewed: Sequence[Reviewed] = ()) -> Corpus:
        """Return the documents with identifiers as spans, and what nobody knows.

        What was reviewed is known, whatever was proposed there; what reviewers refused is not
        learnt from elsewhere either.

        Raises
        ------
        RequestError : nothing is proposed at all.
        """
        reviewed = [*reviewed, *self._refused(look, reviewed)]
        half = self._joined(reviewed)
        if not half.labels:
            raise RequestError(
                "nothing in the notes looks like an identifier",
                instead="give the columns beside them with --known, or mark some notes and use fit",
            )
        tokens = look.tokens
        identifiers = token_labels(tokens, half, half.labels) > 0
        unknown = unknown_tokens(tokens, half) & ~identifiers
        probability = look.probabilities(identifiers, ~unknown)
        read, unsure = reviewed_tokens(look, reviewed)
        free = ~identifiers & ~read
        doubted = ((probability > SUSPECT) | self._trusted(look)) & free
        doubted |= _as_elsewhere(look, doubted, free)
        return with_unknown(half, look, np.flatnonzero(doubted | unsure))

    def trust(self, look: QuickLook, reviewed: Sequence[Reviewed]) -> NDArray[np.float64]:
        """Return how far unread doubtful proposals are believed, (n,); 1 elsewhere."""
        read, unsure = reviewed_tokens(look, reviewed)
        said = self._joined(reviewed)
        right = token_labels(look.tokens, said, said.labels) > 0
        pairs = zip(self.sure, self.doubtful, strict=True)
        in_doubt = [[*filterfalse(is_sure, join_removals(*both))] for both in pairs]
        source = sources_of(look.tokens, self.documents, in_doubt)
        believed = trust(look.tokens, source, read & ~unsure, right)
        return np.where(read, 1.0, believed)

    def _refused(self, look: QuickLook, reviewed: Sequence[Reviewed]) -> Iterator[Reviewed]:
        """Yield, as what nobody knows, the runs of tokens whose proposals are hardly believed."""
        tokens = look.tokens
        places = np.flatnonzero(self.trust(look, reviewed) < BELIEVED)
        ends = (np.diff(places) > 1) | (np.diff(tokens.document[places]) > 0)
        for run in filter(len, np.split(places, np.flatnonzero(ends) + 1)):
            start, end = int(tokens.starts[run[0]]), int(tokens.ends[run[-1]])
            yield Reviewed(int(tokens.document[run[0]]), start, end, (), unsure=True)

    def _taught(self) -> Mapping[str, Callable[[Removal], bool]]:
        """Return for each type which of its doubtful proposals are identifiers nevertheless.

        Of names of whom some are sure, none: a rule that has others has strangers, or errors. Of
        all else those that are mostly right, as of dates, of which columns have the birth alone;
        where there are none, and nothing sure, all.
        """
        kinds: dict[str, Callable[[Removal], bool]] = {
            removal.label: _always for one in self.doubtful for removal in one
        }
        rest = chain.from_iterable(self.doubtful)
        kinds |= {removal.label: is_trusted for removal in rest if is_trusted(removal)}
        sure = {removal.label for one in self.sure for removal in one}
        return kinds | {label: _never if label == NAME else is_trusted for label in sure}

    def _trusted(self, look: QuickLook) -> Bools:
        """Return which tokens a doubtful proposal has that is mostly right, (n,)."""
        matched = self._matched_rules()
        spans = (
            tuple(
                Span(one.start, one.end, "")
                for one in rest
                if is_trusted(one) and not all(reason.name in matched for reason in one.by)
            )
            for rest in self.doubtful
        )
        pairs = zip(self.documents, spans, strict=True)
        found = Corpus(replace(document, spans=own) for document, own in pairs)
        return np.asarray(token_labels(look.tokens, found, ("",)) > 0)

    def _matched_rules(self) -> frozenset[str]:
        """Return the rules of which sure proposals have nearly all: the rest are its errors."""
        found, every = Counter[str](), Counter[str]()
        for sure, rest in zip(self.sure, self.doubtful, strict=True):
            ends = [one.end for one in sure]
            for one in rest:
                rules = [reason.name for reason in one.by if reason.kind == "rule"]
                next_one = sure[bisect_right(ends, one.start) :][:1]
                every.update(rules)
                found.update(rules if next_one and next_one[0].start < one.end else ())
        return frozenset(rule for rule, n in every.items() if found[rule] >= NEARLY_ALL * n)

    @staticmethod
    def probabilities(look: QuickLook, corpus: Corpus) -> NDArray[np.float64]:
        """Return each token's probability of identifying somebody, (n,), by how a corpus is marked.

        Cost: a quick look.
        """
        identifiers = token_labels(look.tokens, corpus, corpus.labels) > 0
        return look.probabilities(identifiers, identifiers | ~unknown_tokens(look.tokens, corpus))

    def counts(self) -> Mapping[Reason, int]:
        """Count what is proposed, by what proposes it."""
        proposed = chain.from_iterable((*self.sure, *self.doubtful))
        return Counter(reason for removal in proposed for reason in removal.by)

    def names(self) -> tuple[int, int]:
        """Count the names that are proposed, and those of them that no known value meets."""
        pairs = zip(self.sure, self.doubtful, strict=True)
        found = [one for sure, rest in pairs for one in join_removals(sure, rest)]
        names = [one for one in found if one.label == NAME]
        met = sum(any(why.kind in ("known", "possible") for why in one.by) for one in names)
        return len(names), len(names) - met

    def _joined(self, reviewed: Sequence[Reviewed]) -> Corpus:
        taught = self._taught()
        lines: dict[int, list[Reviewed]] = {}
        for line in reviewed:
            lines.setdefault(line.document, []).append(line)
        documents = []
        for number, (document, sure, rest) in enumerate(
            zip(self.documents, self.sure, self.doubtful, strict=True)
        ):
            believed = [one for one in rest if taught[one.label](one)]
            doubted = [(one.start, one.end) for one in rest if one not in believed]
            spans = [Span(one.start, one.end, one.label) for one in join_removals(sure, believed)]
            documents.append(_read(document, spans, doubted, lines.get(number, ())))
        return Corpus(documents)


def _as_elsewhere(look: QuickLook, doubted: Bools, open_to_doubt: Bools) -> Bools:
    """Return which tokens have a form that is often doubted elsewhere, and not in small letters.

    A doctor whom no table has is met in the notes of many, now with a title and now without.
    """
    tokens = look.tokens
    size = len(tokens.forms)
    often = np.bincount(tokens.form[doubted & open_to_doubt], minlength=size)
    every = np.bincount(tokens.form[open_to_doubt], minlength=size)
    large = np.array([form != form.lower() for form in tokens.forms], dtype=np.bool_)
    found = large & (often >= ELSEWHERE * every) & (often > 0)
    return np.asarray(found[tokens.form] & open_to_doubt)


def is_sure(removal: Removal) -> bool:
    """Return whether known values or a checksum say so, and no look alone."""
    return any(
        one.kind == "known" or (one.kind == "pattern" and one.name in CHECKED) for one in removal.by
    )


def _always(removal: Removal) -> bool:
    return True


def _never(removal: Removal) -> bool:
    return False


def is_trusted(removal: Removal) -> bool:
    """Return whether a proposal that is not sure is mostly right: a title, a field, a form.

    A starter's is, unless the starter itself calls it unlikely.
    """
    return any(
        one.kind == "pattern"
        or (one.kind == "starter" and not one.name)
        or (one.kind == "rule" and one.name in SURE_RULES)
        for one in removal.by
    )


def _read(
    document: Document,
    spans: Sequence[Span],
    unknown: Sequence[tuple[int, int]],
    lines: Sequence[Reviewed],
) -> Document:
    """Put what reviewers said in the place of what was proposed there."""
    kept, doubted = list(spans), list(unknown)
    for line in lines:
        kept = [piece for one in kept for piece in _without(one, line)]
        doubted = [
            (piece.start, piece.end)
            for start, end in doubted
            for piece in _without(Span(start, end, ""), line)
        ]
        if line.unsure:
            doubted.append((line.start, line.end))
        else:
            kept.extend(line.spans)
    return replace(document, spans=tuple(kept), unknown=tuple(doubted))


def _without(span: Span, line: Reviewed) -> Iterator[Span]:
    """Yield what of a span lies outside a line."""
    if span.start < min(span.end, line.start):
        yield replace(span, end=min(span.end, line.start))
    if max(span.start, line.end) < span.end:
        yield replace(span, start=max(span.start, line.end))


def reviewed_tokens(look: QuickLook, reviewed: Sequence[Reviewed]) -> tuple[Bools, Bools]:
    """Return which tokens reviewers have read, and of which of them they were unsure, (n,) each."""
    read = np.zeros(len(look.tokens), dtype=np.bool_)
    unsure = read.copy()
    for line in reviewed:
        begin, end = look.tokens.first[line.document : line.document + 2]
        starts = look.tokens.starts[begin:end]
        inside = (starts >= line.start) & (starts < line.end)
        read[begin:end] |= inside
        unsure[begin:end] |= inside & line.unsure
    return read, unsure


def with_unknown(corpus: Corpus, look: QuickLook, tokens: NDArray[np.intp]) -> Corpus:
    """Return the corpus where nobody knows of these tokens alone, by their places, rising."""
    of = look.tokens
    bounds = np.searchsorted(tokens, of.first).tolist()
    documents = []
    for number, document in enumerate(corpus):
        here = tokens[bounds[number] : bounds[number + 1]]
        places = zip(of.starts[here].tolist(), of.ends[here].tolist(), strict=True)
        documents.append(replace(document, unknown=tuple(places)))
    return Corpus(documents)
