"""Decode probabilities into the spans of least expected cost.

A span consists of whole units, has one type, and stays within a line and a sentence.
"""

from __future__ import annotations

from collections.abc import Iterator
from itertools import pairwise

import numpy as np
from numba import njit
from numpy.typing import NDArray

from voile.documents.words.guarded import find_guarded
from voile.documents.words.looks import (
    APOSTROPHE,
    COLON,
    COMMA,
    DOT,
    FIRST_SIGN,
    HYPHEN,
    INITIAL,
    INNER,
    LOWER,
    NUMBER,
    POSSESSIVE,
    SLASH,
    WORD,
)
from voile.documents.words.tokens import GLUED, LINE, TextTokens

Floats = NDArray[np.float64]
Bools = NDArray[np.bool_]

OPENING = 0.3
"""The cost of opening a span, in harmless tokens.

It makes one long span better than two short ones.
"""
SIGN = 0.2
"""The additional cost of each sign within a span."""


def join_tokens(tokens: TextTokens) -> Bools:
    """Return whether each token belongs to the same unit as the token before it, as a mask (n,).

    A unit is a run of words that signs join without blanks. Examples are a date in figures, a
    double name, the initials J.R., or a network address. A possessive s is not part of the unit.
    """
    return _join(tokens.known.looks[tokens.form], tokens.gap)


def unit_places(tokens: TextTokens) -> Iterator[list[tuple[int, int]]]:
    """Yield for each text the (start, end) of its units of several tokens, ordered and disjoint."""
    joined = join_tokens(tokens)
    inside = np.flatnonzero(joined & ~np.append(joined[1:], False))  # the last token of each
    first = np.maximum.accumulate(np.where(joined, -1, np.arange(len(joined))))[inside]
    starts, ends = tokens.starts[first].tolist(), tokens.ends[inside].tolist()
    bounds = np.searchsorted(first, tokens.first).tolist()
    for begin, end in pairwise(bounds):
        yield [*zip(starts[begin:end], ends[begin:end], strict=True)]


def decode_types(
    tokens: TextTokens, probabilities: Floats, costs: Floats, left: Bools | None = None
) -> tuple[NDArray[np.int16], Floats]:
    """Return the type of each token, and the probability that its unit identifies a person.

    The removals minimise the expected cost:

    - `costs` for each identifier that stays;
    - 1 for each removed token that is not of its span's type;
    - `OPENING` for each span, and `SIGN` for each sign.

    A unit stays or is removed as a whole. Its probability is the highest one of its tokens. A span
    ends at a line break, at the end of a sentence, or before a guarded word. It begins and ends
    with a word.

    Parameters
    ----------
    probabilities : (n, T), the probability that each token is of each type; rows sum to at most 1.
    costs : (T,), the cost of missing an identifier of each type, in harmless tokens.
    left : (n,), a mask of the tokens that an earlier pass has not removed; None for all. The other
        tokens get type 0.

    Returns
    -------
    types : (n,), 0 where a token stays, else its type from 1 to T.
    chances : (n,), the probability that the token's unit identifies a person.

    Raises
    ------
    ValueError : the shape of `probabilities` does not fit the tokens and costs.

    Guarantee: the least expected cost over all sets of such spans (a test compares it with all
    sets). Cost: O(n T).
    """
    n, kinds = probabilities.shape
    if (len(tokens), kinds) != (n, len(costs)):
        raise ValueError(f"probabilities of {probabilities.shape} for {len(costs)} costs")
    if not n or not kinds:
        return np.zeros(n, np.int16), np.zeros(n)
    look, joined = tokens.known.looks[tokens.form], join_tokens(tokens)
    known = probabilities.copy()
    known[find_guarded(tokens, joined)] = 0.0
    if left is not None:
        known[~left] = 0.0
    starts = np.flatnonzero(~joined)
    units = np.maximum.reduceat(known, starts, axis=0)
    units /= np.maximum(units.sum(axis=1, keepdims=True), 1.0)
    size = np.diff(np.append(starts, n))
    after_initial = np.zeros(len(starts), np.bool_)
    after_initial[1:] = look[starts[1:] - 1] == INITIAL
    types = _decode(
        units,
        size.astype(np.float64),
        look[starts],
        tokens.gap[starts] >= LINE,
        after_initial,
        costs.astype(np.float64),
    )
    chances = np.repeat(units.sum(axis=1), size)
    found = np.repeat(types, size)
    return (found if left is None else np.where(left, found, 0).astype(np.int16)), chances


@njit(cache=True, nogil=True)
def _join(look: NDArray[np.uint8], gap: NDArray[np.uint8]) -> Bools:
    joined = np.zeros(len(look), np.bool_)
    for i in range(1, len(look) - 1):
        sign, a, b = look[i], look[i - 1], look[i + 1]
        if sign < FIRST_SIGN or a >= FIRST_SIGN or b >= FIRST_SIGN:
            continue
        if gap[i] != GLUED or gap[i + 1] != GLUED:
            continue
        if sign == HYPHEN:
            joins = True
        elif sign == APOSTROPHE:
            joins = b != POSSESSIVE
        elif sign == DOT:
            numbers, small = a == NUMBER and b == NUMBER, a == LOWER and b == LOWER
            joins = numbers or small or (a == INITIAL and b in (INITIAL, WORD))
        else:
            joins = sign in (SLASH, COLON, COMMA) and a == NUMBER == b
        if joins:
            joined[i] = joined[i + 1] = True
    return joined


@njit(cache=True, nogil=True)
def _trace_back(back: NDArray[np.int16], before: Floats, kinds: int) -> NDArray[np.int16]:
    n = len(back)
    state = 0
    for t in range(1, kinds + 1):
        if before[t] < before[state]:
            state = t
    found = np.empty(n, np.int16)
    for i in range(n - 1, -1, -1):
        found[i] = state if state <= kinds else state - kinds
        state = back[i, state]
    return found


@njit(cache=True, nogil=True)
def _decode(
    units: Floats,
    size: Floats,
    look: NDArray[np.uint8],
    breaks: Bools,
    after_initial: Bools,
    costs: Floats,
) -> NDArray[np.int16]:
    """Find the path of least cost, and return its types.

    State 0 means that a token stays. States 1 to T are inside a span, and T + 1 to 2 T are inside a
    span after a sign.
    """
    n, kinds = units.shape
    states = 2 * kinds + 1
    before, now = np.full(states, np.inf), np.empty(states)
    before[0] = 0.0
    back = np.zeros((n, states), np.int16)
    for i in range(n):
        if breaks[i]:  # no span continues
            best = 0
            for t in range(1, kinds + 1):
                if before[t] < before[best]:
                    best = t
            closed, closing = before[best], best
        else:
            closed, closing = before[0], 0
            for t in range(1, kinds + 1):
                if before[t] < closed:
                    closed, closing = before[t], t
        stay = 0.0
        for t in range(kinds):
            stay += costs[t] * units[i, t]
        now[0], back[i, 0] = closed + size[i] * stay, closing
        is_word = look[i] < FIRST_SIGN
        may_be_inside = look[i] in (COMMA, INNER, HYPHEN, APOSTROPHE, SLASH)
        abbreviates = look[i] == DOT and after_initial[i] and not breaks[i]
        for t in range(1, kinds + 1):
            wrong = size[i] * (1.0 - units[i, t - 1])
            now[t] = now[kinds + t] = np.inf
            if is_word:
                now[t], back[i, t] = closed + OPENING, closing
                if not breaks[i]:
                    if before[t] < now[t]:
                        now[t], back[i, t] = before[t], t
                    if before[kinds + t] < now[t]:
                        now[t], back[i, t] = before[kinds + t], kinds + t
                now[t] += wrong
            elif abbreviates:
                now[t], back[i, t] = before[t] + wrong, t
            elif may_be_inside and not breaks[i]:
                now[kinds + t], back[i, kinds + t] = before[t], t
                if before[kinds + t] < before[t]:
                    now[kinds + t], back[i, kinds + t] = before[kinds + t], kinds + t
                now[kinds + t] += wrong + SIGN
        before, now = now, before
    return _trace_back(back, before, kinds)
