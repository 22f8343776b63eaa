"""Gazetteers: lists of names, places or drugs, which provide features for the learners."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from itertools import pairwise
from typing import Any

import numpy as np

from voile.data.places import named_phrases, read_phrases
from voile.documents.words.tokens import LINE, Tokeniser, tokenise


def read_gazetteers(given: Iterable[Any]) -> dict[str, list[str]]:
    """Read the phrases of each NAME=FILE, or use given phrases, with the list's name as key."""
    return {name: read_phrases(phrases) for one in given for name, phrases in named_phrases(one)}


def gazetteer_words(
    lists: Mapping[str, Iterable[str]], tokeniser: Tokeniser | None = None
) -> dict[str, frozenset[str]]:
    """Split the phrases of lists into the words of a text, in lower case.

    If a phrase has words with capitals, its lower-case words are left out, since these occur
    everywhere.
    """
    return {name: frozenset(_words(phrases, tokeniser)) for name, phrases in lists.items()}


def _words(phrases: Iterable[str], tokeniser: Tokeniser | None) -> Iterable[str]:
    texts = ["\n".join(phrases)] if tokeniser is None else phrases  # one text is much faster
    tokens = tokenise(texts, None, tokeniser)
    forms = tokens.forms
    begins = [*np.flatnonzero(tokens.gap >= LINE).tolist(), len(tokens)]
    for start, end in pairwise(begins):
        words = [forms[number] for number in tokens.form[start:end].tolist()]
        words = [word for word in words if any(map(str.isalnum, word))]
        telling = [word for word in words if not word[0].islower()]
        yield from (word.lower() for word in telling or words)
