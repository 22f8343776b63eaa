"""Label context words that are correlated with identifiers as separate types."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import replace

import numpy as np

from voile.core.errors import RequestError, nearest
from voile.documents.fitting.context.outside import OutsideWords, incidence
from voile.documents.fitting.context.rules import ContextRules, RuleThresholds, mine_rules
from voile.documents.replacements.kinds import PREFIX
from voile.documents.text.document import Span
from voile.documents.text.sequence import DocumentSequence

SEEN = RuleThresholds(subjects=5)


def find_associations(
    corpus: DocumentSequence, least: RuleThresholds = SEEN, *, labels: Iterable[str] | None = None
) -> ContextRules:
    """Find the words outside spans that are associated with a type of identifier."""
    return _mine_rules(OutsideWords.of(corpus), corpus, least, labels)


def label_context(
    corpus: DocumentSequence, least: RuleThresholds = SEEN, *, labels: Iterable[str] | None = None
) -> DocumentSequence:
    """Return the corpus with words that are correlated with a type as spans of their own type.

    A committee can then learn to remove these words and similar ones. Every occurrence of such a
    word becomes a span, in all documents, with the type of its most certain rule.

    >>> from voile.documents import Corpus, Document
    >>> texts = ["Smith sails a yacht.", "A yacht of Jones.", "He sails.", "He walks a dog."]
    >>> spans = [(Span(0, 5, "NAME"),), (Span(11, 16, "NAME"),), (), ()]
    >>> corpus = Corpus(map(Document, texts, spans))
    >>> label_context(corpus, RuleThresholds(subjects=2, chance=1))[0].spans[1:]
    (Span(start=14, end=19, label='CONTEXT_NAME'),)
    """
    left = OutsideWords.of(corpus)
    rules = _mine_rules(left, corpus, least, labels)
    target_of = np.full(len(left.words), -1)
    words, best = np.unique(rules.pairs[:, 0], return_index=True)  # the first rule is the best
    target_of[words] = rules.pairs[best, 1]
    labelled = np.where(left.word >= 0, target_of[left.word], -1) if len(left.words) else left.word
    starts, ends = left.tokens.starts.tolist(), left.tokens.ends.tolist()
    documents = []
    for number, document in enumerate(corpus):
        begin, end = left.tokens.first[number : number + 2]
        added = (
            Span(starts[token], ends[token], PREFIX + rules.targets[labelled[token]][0])
            for token in begin + np.flatnonzero(labelled[begin:end] >= 0)
        )
        documents.append(replace(document, spans=(*document.spans, *added)))
    return DocumentSequence(documents)


def _mine_rules(
    left: OutsideWords,
    corpus: DocumentSequence,
    least: RuleThresholds,
    labels: Iterable[str] | None,
) -> ContextRules:
    targets = corpus.labels if labels is None else tuple(labels)
    for label in targets:
        if label not in corpus.labels:
            raise RequestError(
                f"the corpus has no type {label}", instead=nearest(label, corpus.labels)
            )
    places = {label: place for place, label in enumerate(targets)}
    pairs = [
        (whose, places[span.label])
        for whose, document in zip(left.whose.tolist(), corpus, strict=True)
        for span in document.spans
        if span.label in places
    ]
    rows, columns = np.array(pairs, dtype=np.intp).reshape(-1, 2).T
    has_type = incidence(rows, columns, (left.subjects, len(targets)))
    return mine_rules(
        left.incidence, has_type, list(left.words), [(one,) for one in targets], least
    )
