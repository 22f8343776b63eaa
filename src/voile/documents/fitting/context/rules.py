"""Association rules from words to types or values of identifiers, counted in subjects."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from typing import TypeAlias

import numpy as np
from numpy.typing import NDArray
from scipy import sparse

from voile.core.errors import RequestError

Target: TypeAlias = tuple[str, ...]
"""The target of a word's association: a type, or a type and a value."""

ONES = 20_000_000
"""The most pairs of a word and a target in memory for one product, about 250 MB."""


@dataclass(frozen=True, slots=True)
class RuleThresholds:
    """The thresholds that a rule must reach."""

    # subjects with both the word and the target, >= 1. A word of only one subject indicates all
    # values of this subject, so at 1 every rare word is a rule
    subjects: int = 3
    # share of subjects with the target among those with the word, in (0, 1]
    confidence: float = 0.8
    lift: float = 2.0  # confidence divided by the share of all subjects with the target, >= 0
    # expected share of rules that are due to chance, in (0, 1]; 1 disables the test. Among
    # thousands of words, some occur with a value by chance
    chance: float = 0.05

    def __post_init__(self) -> None:
        if self.subjects < 1:
            raise RequestError(f"a rule must be seen in 1 or more subjects, not {self.subjects}")
        if not 0 < self.confidence <= 1:
            raise RequestError(f"a rule's confidence is {self.confidence}, not above 0 and up to 1")
        if not self.lift >= 0:
            raise RequestError(f"a rule's lift is {self.lift}, and must be 0 or more")
        if not 0 < self.chance <= 1:
            raise RequestError(f"the share of chance is {self.chance}, not above 0 and up to 1")


@dataclass(frozen=True, slots=True)
class ContextRule:
    """A rule that subjects with the word have the target. Private: `repr` shows neither of them."""

    word: str = field(repr=False)  # without case
    target: Target = field(repr=False)  # the associated type, or type and value
    subjects: int  # the number of subjects with both
    # confidence, lift: see `RuleThresholds`
    confidence: float
    lift: float


@dataclass(frozen=True, eq=False, repr=False)
class ContextRules:
    """The r rules that reach the thresholds, sorted by confidence and then by lift."""

    # words, targets: the meaning of the numbers
    words: Sequence[str]
    targets: Sequence[Target]
    pairs: NDArray[np.intp]  # (r, 2) the numbers of each rule's word and target
    # subjects, confidence, lift: (r,) see `ContextRule`
    subjects: NDArray[np.int64]
    confidence: NDArray[np.float64]
    lift: NDArray[np.float64]

    def __len__(self) -> int:
        return len(self.pairs)

    def __iter__(self) -> Iterator[ContextRule]:
        columns = (self.pairs, self.subjects, self.confidence, self.lift)
        for (word, target), *numbers in zip(*(one.tolist() for one in columns), strict=True):
            yield ContextRule(self.words[word], self.targets[target], *numbers)

    def __repr__(self) -> str:
        return f"ContextRules({len(self):,})"

    @property
    def matrix(self) -> sparse.csr_array:
        """The associations of words with targets, (words, targets), 1 or absent."""
        ones = np.ones(len(self), dtype=np.int32)
        shape = (len(self.words), len(self.targets))
        return sparse.csr_array((ones, (self.pairs[:, 0], self.pairs[:, 1])), shape=shape)


def mine_rules(
    has_word: sparse.csr_array,
    has_target: sparse.csr_array,
    words: Sequence[str],
    targets: Sequence[Target],
    least: RuleThresholds,
) -> ContextRules:
    """Find all rules from one word to one target.

    If the targets are shuffled, the number of a word's subjects with the target has a
    hypergeometric distribution. Rules are kept at a false discovery rate (Benjamini, Hochberg,
    1995). Cost: O(words x targets) for each subject; memory for `ONES` pairs.
    """
    from scipy.stats import hypergeom  # a second to import

    n = has_word.shape[0]
    with_word, with_target = has_word.sum(axis=0), has_target.sum(axis=0)
    kept = np.flatnonzero(with_target >= least.subjects)
    # a more common word reveals no value
    most = with_target[kept].max(initial=0) / least.confidence
    usable = np.flatnonzero((with_word >= least.subjects) & (with_word <= most))
    left, right = has_word[:, usable].T.tocsr(), has_target[:, kept]
    found = [np.zeros((3, 0), dtype=np.int64)]
    for begin, end in _blocks(left @ right.sum(axis=1)):
        both = sparse.coo_array(left[begin:end] @ right)
        word, target = usable[begin + both.row], kept[both.col]
        good = both.data >= np.maximum(least.subjects, least.confidence * with_word[word])
        good &= both.data * n >= least.lift * with_word[word] * with_target[target]
        found.append(np.stack([word, target, both.data])[:, good])
    word, target, together = np.concatenate(found, axis=1)
    tail = hypergeom.sf(together - 1, n, with_target[target], with_word[word])
    kept_rules = _select_rules(tail, len(usable) * len(kept), least.chance)
    word, target, together = word[kept_rules], target[kept_rules], together[kept_rules]
    confidence = together / with_word[word]
    lift = confidence * n / with_target[target]
    order = np.lexsort((target, word, -lift, -confidence))
    pairs = np.column_stack([word, target]).astype(np.intp)
    return ContextRules(
        words, targets, pairs[order], together[order], confidence[order], lift[order]
    )


def _select_rules(tail: NDArray[np.float64], tests: int, chance: float) -> NDArray[np.bool_]:
    """Return the least likely rules, with at most this expected share due to chance."""
    if chance == 1:
        return np.ones(len(tail), dtype=np.bool_)
    ordered = np.sort(tail)
    within = np.flatnonzero(ordered <= chance * np.arange(1, len(tail) + 1) / max(tests, 1))
    return np.asarray(tail <= (ordered[within[-1]] if len(within) else -1.0), dtype=np.bool_)


def _blocks(ones: NDArray[np.int64]) -> Iterator[tuple[int, int]]:
    """Split rows into blocks of at most `ONES` pairs, or of one row."""
    begin, sums = 0, np.cumsum(ones)
    while begin < len(ones):
        before = sums[begin - 1] if begin else 0
        end = max(begin + 1, int(np.searchsorted(sums, before + ONES, side="right")))
        yield begin, end
        begin = end
