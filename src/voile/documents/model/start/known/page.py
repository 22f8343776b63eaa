"""The tokens of all notes in sequence, for matching words."""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from voile.documents.model.start.known.guard import WordGuard
from voile.documents.model.start.known.owned import Bools, Longs
from voile.documents.model.start.known.vocabulary import FormWords
from voile.documents.model.start.lists import frequent_words
from voile.documents.model.start.rules.vocabulary import vocabulary
from voile.documents.replacements.names import LANGUAGES, fold
from voile.documents.words.attributes import CAPITAL, CAPITALS, NO_WORD, classify_form
from voile.documents.words.tokens import BLANK, LINE, PARAGRAPH, TextTokens

TITLES = frozenset(fold(one) for language in LANGUAGES for one in vocabulary(language).titles)
"""Folded titles before a name."""
NOTHING, PERHAPS, SURE = range(3)
"""Verdicts on a single word: not a known value, perhaps a known value, or surely one."""
SHORTEST_SURE = 3
ACRONYM = 4
"""The most letters of a word in capitals that may be an acronym: ANA, MAR."""


class ValueMatch(NamedTuple):
    """A range of tokens that is a known value."""

    first: int
    last: int
    label: str
    columns: tuple[str, ...]
    sure: bool


class TokenForm(NamedTuple):
    """The properties of a token's form for matching words."""

    text: str
    fold: str
    written: int
    is_ordinary: bool
    is_common: bool
    is_frequent: bool  # whether the word is frequent in any text, by public lists

    @property
    def is_capital(self) -> bool:
        return self.written >= CAPITAL

    @property
    def is_initial(self) -> bool:
        return len(self.text) == 1 and self.written >= CAPITAL


class TokenPlaces:
    """The tokens by position.

    After the last token, and so also at -1, there is an empty token that is not near to any other.
    """

    def __init__(
        self, tokens: TextTokens, look: FormWords, guard: WordGuard, one_case: Bools
    ) -> None:
        self._tokens, self._one_case = tokens, one_case
        self._form = np.append(tokens.form, np.int32(len(tokens.forms)))
        self._gap = np.append(tokens.gap, np.uint8(PARAGRAPH))
        self._form_at, self._gap_at = self._form.data, self._gap.data  # for access to single items
        self._forms = _TokenForms(tokens.forms, look.folds, guard)
        self._forms[len(tokens.forms)] = TokenForm("", "", NO_WORD, False, False, False)

    def __getitem__(self, at: int) -> TokenForm:
        return self._forms[self._form_at[at]]

    def near(self, at: int, gap: int = LINE) -> bool:
        """Return whether the gap between a token and the one before it is smaller than `gap`."""
        return self._gap_at[at] < gap

    def is_titled(self, at: int) -> bool:
        """Return whether a title precedes a token."""
        before = at - 1
        if self.near(at) and self[before].text == "." and self.near(before):
            before -= 1
        return self.near(at) and before >= 0 and self[before].fold in TITLES

    def judge(
        self, at: Longs, typo: Bools, own: Bools, named: Bools | bool = False
    ) -> NDArray[np.int8]:
        """Judge single words, (n,): surely a known value, perhaps one, or `NOTHING`.

        `own` marks values of the note's subject. A single word of people known to all notes may
        also be another person's name, or an eponym. A word with a typo may be any frequent word,
        unless the text contains more of its person's name (`named`).
        """
        numbers, form = np.unique(self._form[at], return_inverse=True)
        looks = [
            (len(one.fold), one.written, one.is_ordinary, one.is_common, one.is_frequent)
            for one in map(self._forms.__getitem__, numbers.tolist())
        ]
        letters, written, ordinary, common, frequent = (
            np.array(looks, np.int64).reshape(-1, 5)[form].T
        )
        capital, capitals = written == CAPITAL, written == CAPITALS
        inside = capital & (own | ~self._begins(at)) & ~self._are(at + 1, ":")
        acronym = capitals & (letters <= ACRONYM)
        acronym[acronym] = [not self._is_shouted(one) for one in at[acronym].tolist()]
        any_case = own & self._one_case[self.document[at]]
        as_name = (ordinary == 0) & (capital | capitals & (letters > ACRONYM))
        other = (common > 0) | (frequent > 0) & (any_case | capitals | ~(own | named))
        verdict = np.select(
            [typo, ordinary > 0, ~own & self._in_address(at), letters < SHORTEST_SURE],
            [
                np.where((any_case | as_name) & ~other, np.where(own, SURE, PERHAPS), NOTHING),
                np.where(inside, PERHAPS, NOTHING),
                NOTHING,
                np.where(capital & (letters > 1), PERHAPS, NOTHING),
            ],
            np.where(own & ~acronym, SURE, PERHAPS),
        )
        return np.asarray(verdict, dtype=np.int8)

    @property
    def document(self) -> NDArray[np.intp]:
        """The text of each token, (n,)."""
        return self._tokens.document

    def _in_address(self, at: Longs) -> Bools:
        """Return which tokens an @ or a full stop joins to another, as in ann.lee@mail.org."""
        glued = self._gap < BLANK
        before = glued[at] & self._are(at - 1, "@.")
        after = glued[at + 1] & self._are(at + 1, "@.")
        after[after] = glued[at[after] + 2]
        return before | after

    def _begins(self, at: Longs) -> Bools:
        """Return which tokens begin a line or a sentence, so that their capital has no meaning."""
        return (self._gap[at] >= LINE) | self._are(at - 1, ".!?:")

    def _are(self, at: Longs, signs: str) -> Bools:
        return np.isin(self._form[at], [self._tokens.known.find(one) for one in signs])

    def _is_shouted(self, at: int) -> bool:
        """Return whether a neighbour of a token is also in capitals."""
        beside = [one for one, edge in ((at - 1, at), (at + 1, at + 1)) if self.near(edge)]
        return any(self[one].written == CAPITALS for one in beside)


class _TokenForms(dict[int, TokenForm]):
    """A cache of the requested forms by their numbers."""

    def __init__(self, texts: Sequence[str], folds: Sequence[str], guard: WordGuard) -> None:
        self._texts, self._folds, self._guard = texts, folds, guard

    def __missing__(self, number: int) -> TokenForm:
        text, word, guard = self._texts[number], self._folds[number], self._guard
        ordinary, common = guard.is_ordinary(word), word in guard.common
        self[number] = form = TokenForm(
            text, word, classify_form(text), ordinary, common, word in frequent_words()
        )
        return form
