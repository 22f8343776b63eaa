"""Find further mentions of a removed name in the same document."""

from __future__ import annotations

import re
from collections import defaultdict
from collections.abc import Iterable, Mapping, Sequence
from functools import lru_cache
from itertools import chain
from unicodedata import east_asian_width

import numpy as np
from numpy.typing import NDArray
from rapidfuzz.distance import DamerauLevenshtein

from voile.documents.model.committee.removals import TokenRemovals
from voile.documents.replacements.names import fold
from voile.documents.replacements.removal import RemovalReason, TextRemoval
from voile.documents.words.attributes import is_mark
from voile.documents.words.tokens import NOWHERE, SIGNS, TextTokens, TokenNumbers

REPEAT = (RemovalReason("repeat"),)
SHORT, LONG, LONGEST = 2, 6, 64
"""The letters of a short name, of a name that may have a typo, and of the longest name."""
_APART = re.compile(rf"(?:[\d_]|[^\w{SIGNS}])+")


class NameWords:
    """The words of forms that may repeat a name. Each form is processed once."""

    def __init__(self) -> None:
        self._begin(TokenNumbers())

    def _begin(self, known: TokenNumbers) -> None:
        self._known, self._seen, self._words = known, 0, TokenNumbers()
        self._form = np.zeros(0, dtype=np.intp)
        self._word = np.zeros(0, dtype=np.intp)
        # (forms,) whether the form may be a long name with a typo, and whether it is an initial
        self.long = np.zeros(0, dtype=np.bool_)
        self.single = np.zeros(0, dtype=np.bool_)

    def look(self, known: TokenNumbers) -> None:
        """Process the new forms, and forget the forms of another numbering."""
        if known is not self._known:
            self._begin(known)
        new = known.since(self._seen)
        long = [any(map(_may_be_misspelt, _names_in(form)[0])) for form in new]
        single = [len(form) == 1 and form.isupper() for form in new]
        self.long = np.concatenate([self.long, np.array(long, dtype=np.bool_)])
        self.single = np.concatenate([self.single, np.array(single, dtype=np.bool_)])
        words = [_names_in(form)[1] for form in new]
        form = np.repeat(np.arange(len(new)) + self._seen, [len(one) for one in words])
        word = self._words.number(chain.from_iterable(words))
        self._form = np.concatenate([self._form, form])
        self._word = np.concatenate([self._word, np.array(word, dtype=np.intp)])
        self._seen += len(new)

    def among(self, wanted: Iterable[str]) -> NDArray[np.bool_]:
        """Return which forms contain one of these words, as a mask (forms,)."""
        asked = np.zeros(len(self._words) + 1, dtype=np.bool_)
        asked[[self._words.find(word) for word in wanted]] = True
        asked[NOWHERE] = False
        found = np.zeros(self._seen, dtype=np.bool_)
        found[self._form[asked[self._word]]] = True
        return found


def find_mentions(
    removed: TokenRemovals, names: NDArray[np.bool_], seen: NameWords | None = None
) -> NDArray[np.int16]:
    """Return the type of name of each further mention, (n,), 0 for all other tokens.

    A mention is a token with a word that was surely removed as a name elsewhere in its document.
    Both must be written as names (see `_names_in`), and are compared without case and accents. A
    name of `LONG` letters or more may have one typo: an added, missing or other letter, or two
    letters swapped. An initial of such a name next to a mention is also a mention. `names` is a
    mask of the types that are names.
    """
    seen = NameWords() if seen is None else seen
    seen.look(removed.tokens.known)
    gone = _words_of_names(removed, names)
    found = np.zeros(len(removed.tokens), dtype=np.int16)
    if gone:
        _add_repeated(removed, gone, found, seen)
        _add_misspelt(removed, gone, found, seen)
        _add_initials(removed, gone, found, seen)
    return found


Gone = Mapping[int, Mapping[str, int]]
"""Document -> word of a surely removed name -> the type of its removal."""


def _words_of_names(removed: TokenRemovals, names: NDArray[np.bool_]) -> Gone:
    tokens, forms = removed.tokens, removed.tokens.forms
    gone: defaultdict[int, dict[str, int]] = defaultdict(dict)
    for x in np.flatnonzero(names[removed.type] & removed.sure).tolist():
        for word in _names_in(forms[tokens.form[x]])[0]:
            gone[int(tokens.document[x])].setdefault(word, int(removed.type[x]))
    return dict(gone)


def _add_repeated(
    removed: TokenRemovals, gone: Gone, found: NDArray[np.int16], seen: NameWords
) -> None:
    tokens, forms = removed.tokens, removed.tokens.forms
    may = seen.among({word for words in gone.values() for word in words})
    for x in np.flatnonzero(may[tokens.form] & (removed.type == 0)).tolist():
        known = gone.get(int(tokens.document[x]), {})
        found[x] = next(
            (
                known[word]
                for word in _names_in(forms[tokens.form[x]])[1]
                if word in known and not (len(word) == SHORT and _is_word(tokens, forms, x, word))
            ),
            0,
        )


def _add_misspelt(
    removed: TokenRemovals, gone: Gone, found: NDArray[np.int16], seen: NameWords
) -> None:
    tokens, forms = removed.tokens, removed.tokens.forms
    long = {text: [*filter(_may_be_misspelt, known)] for text, known in gone.items()}
    near = {
        text: frozenset[str]().union(*map(_drop_letters, words)) for text, words in long.items()
    }
    left = (removed.type == 0) & (found == 0)
    for x in np.flatnonzero(seen.long[tokens.form] & left).tolist():
        text, names = int(tokens.document[x]), _names_in(forms[tokens.form[x]])[0]
        written = [*filter(_may_be_misspelt, names)]
        if any(not _drop_letters(word).isdisjoint(near.get(text, ())) for word in written):
            found[x] = _misspelt(written, long[text], gone[text])


def _may_be_misspelt(name: str) -> bool:
    return LONG <= len(name) <= LONGEST


@lru_cache(maxsize=1 << 16)
def _drop_letters(word: str) -> frozenset[str]:
    """Return a word, and the word without each of its letters.

    Words with one edit between them share some of these.
    """
    return frozenset([word, *(word[:x] + word[x + 1 :] for x in range(len(word)))])


def _misspelt(names: Sequence[str], long: Sequence[str], known: Mapping[str, int]) -> int:
    """Return the type of the first long known name that differs from a name by one edit, else 0."""
    for other in long:
        for word in names:
            if DamerauLevenshtein.distance(word, other, score_cutoff=1) <= 1:
                return known[other]
    return 0


def _add_initials(
    removed: TokenRemovals, gone: Gone, found: NDArray[np.int16], seen: NameWords
) -> None:
    tokens, forms, of = removed.tokens, removed.tokens.forms, removed.tokens.document
    left = (removed.type == 0) & (found == 0)
    for x in np.flatnonzero(seen.single[tokens.form] & left).tolist():
        known = gone.get(int(of[x]), {})
        letter = fold(forms[tokens.form[x]])
        after = x + 1
        if after < len(tokens) and forms[tokens.form[after]] == ".":
            after += 1
        beside = [y for y in (x - 1, after) if 0 <= y < len(tokens) and of[y] == of[x]]
        for y in beside:
            kind = int(removed.type[y] if removed.sure[y] else found[y])
            if kind in known.values() and any(word[0].casefold() == letter for word in known):
                found[x] = kind


@lru_cache(maxsize=1 << 16)
def _names_in(form: str) -> tuple[tuple[str, ...], tuple[str, ...]]:
    """Return the words of a token that count as names if it was removed, and if it was left.

    A word is a run of letters: Ruiz in Ruiz_2020. A name is one of these:

    - a word of three letters or more with a capital, compared without case and accents;
    - a capital and a lower-case letter, such as Wu, compared unchanged;
    - three letters of a script without capitals, or two ideographs.

    Words that are joined to others need no capital if the token was left.
    """
    words = [] if is_mark(form) else [word for word in _APART.split(form) if word]
    named = [name for word in words if (name := _name_of(word))]
    if words in ([], [form]):
        return tuple(named), tuple(named)
    small = [_name_of(word) or (fold(word) if len(word) > SHORT else "") for word in words]
    return tuple(named), tuple(word for word in small if word)


def _name_of(word: str) -> str:
    """Return the comparison form of a word that is written as a name, else ""."""
    small = word.lower()
    if small == word.upper():
        wide = east_asian_width(word[0]) == "W"
        return fold(word) if len(word) > SHORT or (wide and len(word) == SHORT) else ""
    if len(word) == SHORT:
        return word if word == word.capitalize() else ""
    return fold(word) if len(word) > SHORT and small != word else ""


def _is_word(tokens: TextTokens, forms: Sequence[str], at: int, short: str) -> bool:
    """Return whether a token's document contains a short name in lower case: Do, An."""
    small, number = short.lower(), int(tokens.document[at])
    here = tokens.form[slice(*tokens.first[number : number + 2])]
    return small != short and any(forms[n] == small for n in here.tolist())


def mentions_as_removals(
    removed: TokenRemovals, again: NDArray[np.int16], document: int, labels: Sequence[str]
) -> list[TextRemoval]:
    start, end = removed.tokens.first[document : document + 2]
    return [
        TextRemoval(
            int(removed.tokens.starts[x]), int(removed.tokens.ends[x]), labels[again[x] - 1], REPEAT
        )
        for x in (np.flatnonzero(again[start:end]) + start).tolist()
    ]
