"""Gazetteers: lists of names, places or drugs, whose words are features of the learners."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from itertools import pairwise
from typing import Any

import numpy as np

from voile.data.places import named_phrases, read_phrases
from voile.documents.words.tokens import LINE, Tokeniser, tokenise


def read_gazetteers(given: Iterable[Any]) -> dict[str, list[str]]:
    """Read each NAME=FILE, or take the phrases as given: the phrases by the list's name."""
    return {name: read_phrases(phrases) for one in given for name, phrases in named_phrases(one)}


def gazetteer_words(
    lists: Mapping[str, Iterable[str]], tokeniser: Tokeniser | None = None
) -> dict[str, frozenset[str]]:
    """Split the phrases of lists into words as a text has them, in small letters.

    If a phrase has capitals, its words in small letters are left out, since they stand everywhere.
    """
    return {name: frozenset(_words(phrases, tokeniser)) for name, phrases in lists.items()}


def _words(phrases: Iterable[str], tokeniser: Tokeniser | None) -> Iterable[str]:
    texts = ["\n".join(phrases)] if tokeniser is None else phrases  # one text is far quicker
    tokens = tokenise(texts, None, tokeniser)
    forms = tokens.forms
    begins = [*np.flatnonzero(tokens.gap >= LINE).tolist(), len(tokens)]
    for start, end in pairwise(begins):
        words = [forms[number] for number in tokens.form[start:end].tolist()]
        words = [word for word in words if any(map(str.isalnum, word))]
        telling = [word for word in words if not word[0].islower()]
        yield from (word.lower() for word in telling or words)
