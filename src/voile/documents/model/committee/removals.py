"""A committee's removals of tokens."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from voile.documents.words import tokens as words

Types = NDArray[np.int16]


@dataclass(frozen=True, eq=False)
class TokenRemovals:
    tokens: words.TextTokens  # the tokens of the original texts
    type: Types  # (n,) the type of each removed token, from 1; 0 where it stays
    member: NDArray[np.int16]  # (n,) the member that removed the token, from 0; -1 where it stays
    sure: NDArray[np.bool_]  # (n,) which removed tokens are surely identifiers
