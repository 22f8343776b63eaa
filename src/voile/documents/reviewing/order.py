"""Choose the next lines to read: those with the highest expected cost of a decision without answer.

Let p be the probability that a token identifies a person. In expectation, leaving the token costs p
L, and removing it costs 1 - p. The better decision has the lower cost, which is highest near the
threshold. The value of a line is the cost of its tokens, divided by the number of tokens to read. A
word that already occurs in the batch is worth less with each occurrence.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from heapq import heapify, heappop, heapreplace

import numpy as np
from numba import njit
from numpy.typing import NDArray

from voile.documents.replacements.removal import TextRemoval
from voile.documents.reviewing.beside import text_after, text_before
from voile.documents.reviewing.line import ReviewLine, ShownSpan
from voile.documents.text.document import Document
from voile.documents.words.tokens import LINE, TextTokens

Floats = NDArray[np.float64]
Ints = NDArray[np.intp]
LONGEST = 60
"""The most tokens of a line; a longer line is split at the ends of sentences."""
GLANCE = 5
"""The fixed cost of reading a line, in tokens."""
NEAR = 200
"""The number of characters of neighbouring text on each side of a line."""
CLOSE = 0.5
"""The share of the highest expected cost above which a word is close to the threshold."""
SURE = frozenset({"known", "pattern"})
"""The reasons that leave no doubt."""


@dataclass(frozen=True, eq=False)
class RankedTokens:
    """The known facts about the n tokens of some documents.

    Parameters
    ----------
    documents, tokens : the texts, and their tokens.
    probability : (n, T), the probability that each token identifies a person, by type.
    miss_cost : (T,), the cost of a missed token of each type, in harmless tokens removed.
    proposals : the current removals of each document.
    """

    documents: Sequence[Document]
    tokens: TextTokens
    probability: Floats
    miss_cost: Floats
    proposals: Sequence[Sequence[TextRemoval]]

    @property
    def cost(self) -> Floats:
        """The expected cost of the better decision for each token, (n,)."""
        removed = 1 - self.probability.sum(axis=1)
        cost: Floats = np.clip(np.minimum(self.probability @ self.miss_cost, removed), 0, None)
        return cost


def next_lines(ranked: RankedTokens, *, taken: Sequence[ReviewLine], size: int) -> list[ReviewLine]:
    """Return the lines of the next batch, the most valuable first.

    There are none if no line is worth reading.

    Parameters
    ----------
    taken : lines that were handed out; none of their tokens is handed out again.
    size : the size of the batch in tokens; the last line may exceed it.

    Cost: O(n log n).
    """
    cost = ranked.cost
    first, end = cut_lines(ranked.tokens)
    free = ~_any_in(_mark_taken(ranked.tokens, taken), first, end)
    order = _greedily(ranked.tokens, cost, first[free], end[free], size)
    return [_line(ranked, cost, a, b) for a, b in order]


def cut_lines(tokens: TextTokens) -> tuple[Ints, Ints]:
    """Return the first token of each line, and the token after its last one."""
    begins = tokens.gap >= LINE
    begins[tokens.first[:-1][np.diff(tokens.first) > 0]] = True
    first = np.flatnonzero(begins)
    end = np.append(first[1:], len(tokens))
    long = end - first > LONGEST
    sentences = np.flatnonzero(np.diff(tokens.sentence, prepend=-1))
    whole = zip(first[long].tolist(), end[long].tolist(), strict=True)
    more = [start for a, b in whole for start, _ in _pieces(a, b, sentences)]
    first = np.union1d(first, np.array(more, dtype=np.intp))
    return first, np.append(first[1:], len(tokens))


def _pieces(first: int, end: int, sentences: Ints) -> Iterator[tuple[int, int]]:
    while end - first > LONGEST:
        last = int(sentences[np.searchsorted(sentences, first + LONGEST, "right") - 1])
        cut = last if last > first else first + LONGEST
        yield first, cut
        first = cut
    yield first, end


def _mark_taken(tokens: TextTokens, lines: Sequence[ReviewLine]) -> NDArray[np.bool_]:
    """Return which tokens were already shown in lines, as a mask (n,)."""
    shown = np.zeros(len(tokens), dtype=bool)
    for line in lines:
        if line.document >= 0:
            own = slice(*tokens.first[line.document : line.document + 2])
            shown[own] |= (tokens.ends[own] > line.start) & (tokens.starts[own] < line.end)
    return shown


def _any_in(flags: NDArray[np.bool_], first: Ints, end: Ints) -> NDArray[np.bool_]:
    before = np.concatenate([[0], np.cumsum(flags)])
    return np.asarray(before[end] > before[first])


def _greedily(
    tokens: TextTokens, cost: Floats, first: Ints, end: Ints, size: int
) -> Iterator[tuple[int, int]]:
    """Yield the most valuable line given the earlier lines, until the batch has enough tokens.

    The value of a line only falls when others are taken. So a line that is still the best after it
    is valued again is the best of all lines.
    """
    total = np.concatenate([[0], np.cumsum(cost)])
    most = (total[end] - total[first]) / (end - first + GLANCE)  # as if no word occurred twice
    heap = [*zip((-most).tolist(), first.tolist(), end.tolist(), strict=True)]
    heapify(heap)
    seen = np.zeros(len(tokens.known), dtype=np.int64)
    while heap and size > 0 and heap[0][0] < 0:
        _, a, b = heap[0]
        now = -_worth(tokens.form[a:b], cost[a:b], seen)
        if now > heap[0][0]:
            heapreplace(heap, (now, a, b))
            continue
        heappop(heap)
        size -= b - a
        np.add.at(seen, tokens.form[a:b], cost[a:b] > 0)
        yield a, b


@njit(cache=True, nogil=True)
def _worth(forms: NDArray[np.int32], cost: Floats, seen: NDArray[np.int64]) -> float:
    """Return the savings of a line for each token read, given how often its words were seen."""
    total = 0.0
    for place in range(len(forms)):
        total += cost[place] / (1 + seen[forms[place]])
        seen[forms[place]] += cost[place] > 0
    for place in range(len(forms)):
        seen[forms[place]] -= cost[place] > 0
    return total / (len(cost) + GLANCE)


def _line(ranked: RankedTokens, cost: Floats, a: int, b: int) -> ReviewLine:
    tokens = ranked.tokens
    number = int(tokens.document[a])
    text = ranked.documents[number].text
    start, end = int(tokens.starts[a]), int(tokens.ends[b - 1])
    return ReviewLine(
        0, 0, "review", number, start, end,
        before=text_before(text, start, NEAR),
        text=text[start:end],
        after=text_after(text, end, NEAR),
        proposals=tuple(_show_proposals(ranked, number, start, end)),
        why=_why(cost[a:b], float(ranked.miss_cost.max())),
    )  # fmt: skip


def _show_proposals(ranked: RankedTokens, number: int, start: int, end: int) -> Iterator[ShownSpan]:
    """Yield the proposals in a line with their doubt, which is 0 for known values and patterns."""
    tokens = ranked.tokens
    own = slice(*tokens.first[number : number + 2])
    for one in ranked.proposals[number]:
        low, high = max(one.start, start), min(one.end, end)
        if low < high:
            inside = (tokens.ends[own] > low) & (tokens.starts[own] < high)
            likely = ranked.probability[own].sum(axis=1)[inside].max(initial=0.0)
            sure = [reason for reason in one.by if reason.kind in SURE]
            doubt = 0.0 if sure else round(1 - min(1.0, float(likely)), 3)
            by = str([*sure, *one.by][0]) if one.by else ""
            yield ShownSpan(low - start, high - start, one.label, by, doubt)


def _why(cost: Floats, miss_cost: float) -> str:
    close = int((cost > CLOSE * miss_cost / (1 + miss_cost)).sum())
    call = f"A close call on {close} of {len(cost)} words" if close else "No close call"
    return f"{call}: without you it is expected to cost {cost.sum():.1f} harmless words."
