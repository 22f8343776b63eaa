"""Search the tokens of notes for known values."""

from __future__ import annotations

import re
from collections import defaultdict
from collections.abc import Iterable, Iterator, Mapping, Sequence
from functools import cached_property, lru_cache
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from voile.documents.model.start.known.codes import SURE, find_codes, with_calling_code
from voile.documents.model.start.known.days import find_days
from voile.documents.model.start.known.guard import WordGuard
from voile.documents.model.start.known.index import Entries, ValueIndex
from voile.documents.model.start.known.owned import EVERYONE, FoundValue, Longs, OwnedKeys, runs
from voile.documents.model.start.known.page import TokenPlaces, ValueMatch
from voile.documents.model.start.known.parts import TokenParts
from voile.documents.model.start.known.phrases import MetPhrase, find_phrases
from voile.documents.replacements.removal import RemovalReason, TextRemoval
from voile.documents.words.tokens import TextTokens

Removals = Mapping[int, list[TextRemoval]]
"""Removals by the number of a document."""
_ANCHORS = 2
"""The number of words of an address that start a search for it."""
_LETTERS = [chr(code) for code in range(0x530)]  # Latin, Greek and Cyrillic
_CAPITAL_THEN_SMALL = re.compile(
    f"[{''.join(filter(str.isupper, _LETTERS))}][{''.join(filter(str.islower, _LETTERS))}]"
)


_RANKS = {
    label: rank
    for rank, label in enumerate(("EMAIL", "ADDRESS", "ID", "NAME", "ORGANISATION", "PLACE"))
}
"""Labels of words, by priority. Values of earlier labels may contain those of later ones."""


class PhraseAnchors(NamedTuple):
    """The words that start the search for phrases. The items of the entries index the two lists."""

    entries: Entries
    phrases: list[int]  # the phrase of each anchor
    places: list[int]  # the position of the anchor in its phrase


class ValueSearch:
    """A search for the values of an index in the tokens of d texts.

    `whose`, of shape (d,), are the owners of the texts.
    """

    def __init__(
        self,
        index: ValueIndex,
        texts: Sequence[str],
        tokens: TextTokens,
        whose: Longs,
        guard: WordGuard | None = None,
    ) -> None:
        self._index, self._texts, self._tokens, self._whose = index, texts, tokens, whose
        self._guard = guard or WordGuard()
        mixed = map(_CAPITAL_THEN_SMALL.search, texts)
        self._one_case = np.array([one is None for one in mixed], dtype=np.bool_)
        small = np.unique(tokens.form[self._one_case[tokens.document]]).tolist()
        self._look = index.vocabulary.look(tokens.forms, self._guard.frequent, small)

    def learn(self) -> WordGuard:
        """Learn from these documents which words are ordinary."""
        own = np.zeros(len(self._tokens), dtype=np.bool_)
        anchors = self._anchors()
        for entries, owners in (
            (self._index.name_words, self._name_owners),
            (anchors.entries, self._phrase_owners[anchors.phrases]),
        ):
            token, item, typo = self._hits(entries, owners)
            own[token[~typo & (owners[item] != EVERYONE)]] = True
        return WordGuard.learn(self._tokens, self._look, own)

    def find(self) -> Iterator[Removals]:
        """Find all values, the sure ones first."""
        page = TokenPlaces(self._tokens, self._look, self._guard, self._one_case)
        yield self._numbers()
        ranked: dict[tuple[bool, int], list[ValueMatch]] = {}
        for match in (*self._phrases(page), *self._names(page)):
            ranked.setdefault((not match.sure, _RANKS[match.label]), []).append(match)
        for _, matches in sorted(ranked.items()):
            yield self._removals(matches)

    @cached_property
    def _name_owners(self) -> Longs:
        return np.array([word.owner for word in self._index.names.words], dtype=np.int64)

    @cached_property
    def _phrase_owners(self) -> Longs:
        return np.array(self._index.phrase_owners, dtype=np.int64)

    def _hits(self, entries: Entries, owners: Longs) -> tuple[Longs, Longs, NDArray[np.bool_]]:
        """Return the tokens that match an entry, its item, and whether with a typo; in order."""
        tokens, look = self._tokens, self._look
        wanted = np.zeros(len(self._index.vocabulary) + 1, dtype=np.bool_)
        wanted[entries[1::3]] = True
        many = np.diff(look.first)
        may = np.zeros(len(many), dtype=np.bool_)
        may[np.repeat(np.arange(len(many)), many)[wanted[look.word]]] = True
        at = np.flatnonzero(may[tokens.form])
        form = tokens.form[at]
        token = np.repeat(at, many[form])
        entry = runs(look.first[form], many[form])
        query, item = OwnedKeys(entries).meet(self._whose[tokens.document[token]], look.word[entry])
        token, typo = token[query], look.typo[entry][query]
        order = np.lexsort((item, token))
        return token[order], item[order], typo[order]

    def _anchors(self) -> PhraseAnchors:
        """Return the words that start the search for each phrase: long and rare words."""
        entries: Entries = []
        anchors = PhraseAnchors(entries, [], [])
        for number, phrase in enumerate(self._index.phrases):
            rare = sorted(
                phrase.own,
                key=lambda at: (
                    self._guard.common.get(phrase.words[at], 0),
                    -len(phrase.words[at]),
                    at,
                ),
            )
            for at in rare[: _ANCHORS if phrase.kind == "address" else 1]:
                word = self._index.vocabulary.number(phrase.words[at])
                entries += self._index.phrase_owners[number], word, len(anchors.places)
                anchors.phrases.append(number)
                anchors.places.append(at)
        return anchors

    def _names(self, page: TokenPlaces) -> Iterator[ValueMatch]:
        return self._index.names.find(page, *self._hits(self._index.name_words, self._name_owners))

    def _phrases(self, page: TokenPlaces) -> Iterator[ValueMatch]:
        anchors = self._anchors()
        owners = self._phrase_owners[anchors.phrases]
        token, item, typo = self._hits(anchors.entries, owners)
        own = owners[item] != EVERYONE
        asked = [
            MetPhrase(self._index.phrases[anchors.phrases[one]], {anchors.places[one]: at})
            for at, one in zip(token.tolist(), item.tolist(), strict=True)
        ]
        return find_phrases(page, asked, typo, own)

    def _removals(self, matches: Iterable[ValueMatch]) -> Removals:
        tokens = self._tokens
        found: defaultdict[int, list[TextRemoval]] = defaultdict(list)
        for one in matches:
            start, end = int(tokens.starts[one.first]), int(tokens.ends[one.last])
            by = _reasons(one.columns, one.sure)
            document = int(tokens.document[one.first])
            found[document].append(TextRemoval(start, end, one.label, by))
        return found

    def _numbers(self) -> Removals:
        index, parts = self._index, TokenParts(self._tokens)
        whose = self._whose[parts.document]
        texts = {number: code.text for number, code in enumerate(index.codes)}
        found: defaultdict[int, list[TextRemoval]] = defaultdict(list)
        for one in find_codes(parts, OwnedKeys(index.code_keys), whose, texts):
            found[one.document].append(self._number(one))
        for one in find_days(parts, OwnedKeys(index.day_keys), whose):
            found[one.document].append(self._number(one))
        return found

    def _number(self, one: FoundValue) -> TextRemoval:
        code = self._index.codes[one.item]
        sure = code.kind in ("date", "phone") or len(code.text) >= SURE
        start = one.start
        if code.kind == "phone":
            start = with_calling_code(self._texts[one.document], start, one.end)
        return TextRemoval(start, one.end, code.kind.upper(), _reasons((code.column,), sure))


@lru_cache(maxsize=1 << 10)
def _reasons(columns: tuple[str, ...], sure: bool) -> tuple[RemovalReason, ...]:
    return tuple(RemovalReason("known" if sure else "possible", column) for column in columns)
