"""Find remaining words of a release that indicate removed values."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace

import numpy as np
from scipy import sparse

from voile.core.errors import RequestError
from voile.documents.fitting.context.outside import OutsideWords, Places, incidence
from voile.documents.fitting.context.rules import ContextRules, RuleThresholds, Target, mine_rules
from voile.documents.replacements.removal import RemovalReason, TextRemoval
from voile.documents.replacements.spans import join_adjacent
from voile.documents.text.document import Span
from voile.documents.text.sequence import DocumentSequence
from voile.documents.words.normalisation import normalise

LEAST = RuleThresholds()
LABEL, BY = "CONTEXT", (RemovalReason("list", "context"),)


@dataclass(frozen=True, eq=False)
class PointingWords:
    """The remaining words that indicate removed values."""

    rules: ContextRules  # word -> (type, value), only for the data holder
    words: int  # the number of words that indicate a value
    values: int  # the number of distinct removed values; `pointed_values` of them are indicated
    pointed_values: int
    # by type, the removed values of subjects, each counted once for a subject
    mentions: Mapping[str, int]
    pointed: Mapping[str, int]  # by type, those that a remaining word of the same subject indicates
    # for each document, every occurrence of an indicating word. If these are also removed, no rule
    # remains, since the counts of other words do not change
    removals: tuple[list[TextRemoval], ...] = field(repr=False)

    @property
    def share(self) -> float:
        """The share of indicated mentions; 0 if nothing was removed."""
        return sum(self.pointed.values()) / max(sum(self.mentions.values()), 1)


def find_pointing_words(
    corpus: DocumentSequence,
    removals: Sequence[Sequence[TextRemoval]],
    least: RuleThresholds = LEAST,
) -> PointingWords:
    """Find the remaining words that indicate a removed value.

    An adversary may know some of the subjects, or another release of these values. Such an
    adversary learns which words occur with which value, and guesses the values of other subjects.
    Cost: O(words x values) for each subject.
    """
    left = outside_removals(corpus, removals)
    values: dict[Target, int] = {}
    has_value = value_incidence(left, corpus, removals, values, grow=True)
    rules = mine_rules(left.incidence, has_value, list(left.words), list(values), least)
    right = ((left.incidence @ rules.matrix) * has_value).tocoo()
    words = np.unique(rules.pairs[:, 0])
    return PointingWords(
        rules,
        words=len(words),
        values=len(values),
        pointed_values=len(np.unique(rules.pairs[:, 1])),
        mentions=_by_type(has_value, rules.targets),
        pointed=_by_type(right, rules.targets),
        removals=_occurrences(left, words),
    )


def outside_removals(
    corpus: DocumentSequence, removals: Sequence[Sequence[TextRemoval]]
) -> OutsideWords:
    """Return the words that no removal touches."""
    if len(removals) != len(corpus):
        raise RequestError(
            f"there are {len(corpus)} documents and removals of {len(removals)}",
            instead="give a list for each document, empty where nothing was removed",
        )
    gone = (tuple(Span(one.start, one.end, one.label) for one in ones) for ones in removals)
    pairs = zip(corpus, gone, strict=True)
    return OutsideWords.of(
        DocumentSequence(replace(document, spans=spans) for document, spans in pairs)
    )


def value_incidence(
    left: OutsideWords,
    corpus: DocumentSequence,
    removals: Sequence[Sequence[TextRemoval]],
    known: dict[Target, int],
    *,
    grow: bool,
) -> sparse.csr_array:
    """Return the removed values of each subject, (subjects, values), 1 or absent."""
    pairs = []
    for whose, document, ones in zip(left.whose.tolist(), corpus, removals, strict=True):
        for target in _targets(document.text, ones):
            if grow:
                known.setdefault(target, len(known))
            if target in known:
                pairs.append((whose, known[target]))
    rows, columns = np.array(pairs, dtype=np.intp).reshape(-1, 2).T
    return incidence(rows, columns, (left.subjects, len(known)))


def _targets(text: str, removals: Sequence[TextRemoval]) -> list[Target]:
    """Return the type and the value of each removal, except this module's own."""
    others = [one for one in join_adjacent(text, removals) if one.by != BY]
    values = (normalise(text[one.start : one.end]).text.casefold() for one in others)
    return [(one.label, " ".join(value.split())) for one, value in zip(others, values, strict=True)]


def _by_type(
    matrix: sparse.csr_array | sparse.coo_array, targets: Sequence[Target]
) -> Counter[str]:
    counts = np.bincount(matrix.tocoo().col, minlength=len(targets))
    found: Counter[str] = Counter()
    for (label, *_), count in zip(targets, counts.tolist(), strict=True):
        if count:
            found[label] += count
    return found


def _occurrences(left: OutsideWords, words: Places) -> tuple[list[TextRemoval], ...]:
    out: tuple[list[TextRemoval], ...] = tuple([] for _ in left.whose)
    tokens, document = left.tokens, left.tokens.document
    for token in np.flatnonzero(np.isin(left.word, words) & (left.word >= 0)):
        one = TextRemoval(int(tokens.starts[token]), int(tokens.ends[token]), LABEL, BY)
        out[document[token]].append(one)
    return out
