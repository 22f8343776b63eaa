"""Find guarded tokens: words that the lists of `guards` protect from removal in their context."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from voile.documents.words.guards import (
    AFTER,
    BARE,
    EPONYM,
    GUARDED,
    HEAD,
    LABEL,
    MEASURE,
    TITLE,
    UNIT,
)
from voile.documents.words.looks import (
    APOSTROPHE,
    COLON,
    DOT,
    FIRST_SIGN,
    LOWER,
    NUMBER,
    POSSESSIVE,
    WORD,
)
from voile.documents.words.tokens import LINE, TextTokens

Bools = NDArray[np.bool_]


def find_guarded(tokens: TextTokens, joined: Bools) -> Bools:
    """Return which tokens are guarded in their context, as a mask (n,). Cost: O(n).

    joined : (n,), the tokens that belong to the same unit as the token before them.
    """
    look, of = tokens.known.looks[tokens.form], tokens.known.guards[tokens.form]
    look_before, look_after = _shift(look, tokens, -1, COLON), _shift(look, tokens, 1, COLON)
    before, after = _shift(of, tokens, -1), _shift(of, tokens, 1)
    possessive = (look_after == APOSTROPHE) & (_shift(look, tokens, 2, COLON) == POSSESSIVE)
    after = np.where(possessive, _shift(of, tokens, 3), after)
    second = _shift(of, tokens, -2)
    titled = ((before | np.where(look_before == DOT, second, 0)) & TITLE) > 0
    named = ((look_before == WORD) & (before == 0)) | ((look_after == WORD) & (after == 0))
    eponym = (of & (EPONYM | BARE)) > 0
    chained = joined | np.append(joined[1:], False)
    guarded = (of & GUARDED) > 0
    guarded |= ((of & LABEL) > 0) & (_shift(look, tokens, 1, WORD) == COLON)
    guarded |= eponym & ((after & AFTER) > 0)
    guarded |= ((of & BARE) > 0) & ~titled & ~named
    of_head = (look == WORD) & (look_before == LOWER) & ((second & HEAD) > 0)
    guarded |= of_head
    measured = (look == NUMBER) & (((before | second) & MEASURE > 0) | ((after & UNIT) > 0))
    starts = np.flatnonzero(~joined)
    if len(starts):
        size = np.diff(np.append(starts, len(of)))
        figures = np.logical_and.reduceat((look == NUMBER) | (look >= FIRST_SIGN), starts)
        guarded |= np.repeat(np.logical_or.reduceat(measured, starts) & figures, size)
        whole = np.logical_or.reduceat(eponym & guarded, starts)
        guarded |= np.repeat(whole, size) & chained & eponym
        guarded |= np.repeat(of_head[starts], size)
    return guarded


def _shift(
    values: NDArray[np.uint8] | NDArray[np.uint16], tokens: TextTokens, by: int, beyond: int = 0
) -> NDArray[np.uint16]:
    """Return the value of the token `by` places further, (n,).

    The value is `beyond` if a line or a text ends between the two tokens.
    """
    n = len(values)
    line = np.cumsum(tokens.gap >= LINE)
    at = np.arange(n) + by
    inside = (at >= 0) & (at < n)
    at = np.clip(at, 0, n - 1)
    return np.where(inside & (line[at] == line), values[at], beyond).astype(np.uint16)
