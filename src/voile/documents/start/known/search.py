"""Known values looked up in the tokens of notes."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Iterator, Mapping, Sequence
from functools import cached_property

import numpy as np
from numpy.typing import NDArray

from voile.documents.replacements.removal import Reason, Removal
from voile.documents.start.known.codes import SURE, find_codes, with_calling_code
from voile.documents.start.known.days import find_days
from voile.documents.start.known.guard import Guard, texts_with
from voile.documents.start.known.index import Entries, Index
from voile.documents.start.known.names import Hit
from voile.documents.start.known.owned import EVERYONE, Found, Owned
from voile.documents.start.known.page import Match, Page
from voile.documents.start.known.parts import Parts
from voile.documents.start.known.phrases import find_phrase
from voile.documents.words.tokens import Tokens

Longs = NDArray[np.int64]
Removals = Mapping[int, list[Removal]]
"""By the number of a document."""
_ANCHORS = 2
"""Words of an address by which it is looked for."""


class Search:
    """The values of an index in the tokens of d texts; `whose` has their owners, (d,)."""

    def __init__(self, index: Index, texts: Sequence[str], tokens: Tokens, whose: Longs) -> None:
        self._index, self._texts, self._tokens, self._whose = index, texts, tokens, whose
        self._look = index.vocabulary.look(tokens.forms)

    def learn(self) -> Guard:
        """Learn which words are ordinary from these documents."""
        own = np.zeros(len(self._tokens), dtype=np.bool_)
        names = np.array([owner for owner, _, _ in self._name_owners], dtype=np.int64)
        phrases = np.array(self._index.phrase_owners, dtype=np.int64)
        for (token, item, typo), owners in ((self._name_hits, names), (self._phrase_hits, phrases)):
            own[token[~typo & (owners[item] != EVERYONE)]] = True
        return Guard.learn(self._tokens, self._look, own)

    def find(self, guard: Guard) -> Iterator[Removals]:
        """Find all values, the surest kinds first."""
        page = Page(self._tokens, self._look, guard, self._texts_with_typos)
        yield self._numbers()
        phrases = list(self._phrases(page))
        yield self._removals(one for one in phrases if one.label in ("EMAIL", "ADDRESS"))
        yield self._removals(self._names(page))
        yield self._removals(one for one in phrases if one.label not in ("EMAIL", "ADDRESS"))

    @cached_property
    def _name_owners(self) -> Entries:
        """The owner of each `NameWord`, by its number."""
        first = {item: (owner, word, item) for owner, word, item in self._index.name_words}
        return [first[item] for item in range(len(first))]

    @cached_property
    def _name_hits(self) -> tuple[Longs, Longs, NDArray[np.bool_]]:
        return self._hits(self._index.name_words)

    @cached_property
    def _phrase_hits(self) -> tuple[Longs, Longs, NDArray[np.bool_]]:
        return self._hits(self._anchors())

    def _hits(self, entries: Entries) -> tuple[Longs, Longs, NDArray[np.bool_]]:
        """Return the tokens that meet an entry, its item, and whether with a typo; in order."""
        tokens, look = self._tokens, self._look
        wanted = np.zeros(len(self._index.vocabulary) + 1, dtype=np.bool_)
        wanted[[word for _, word, _ in entries]] = True
        many = np.diff(look.first)
        may = np.zeros(len(many), dtype=np.bool_)
        may[np.repeat(np.arange(len(many)), many)[wanted[look.word]]] = True
        at = np.flatnonzero(may[tokens.form])
        form = tokens.form[at]
        token = np.repeat(at, many[form])
        steps = np.arange(len(token)) - np.repeat(np.cumsum(many[form]) - many[form], many[form])
        entry = np.repeat(look.first[form], many[form]) + steps
        query, item = Owned(entries).meet(self._whose[tokens.document[token]], look.word[entry])
        order = np.lexsort((item, token[query]))
        return token[query][order], item[order], look.typo[entry][query][order]

    def _anchors(self) -> Entries:
        """Return by which of its words each phrase is looked for: the rarest in these notes."""
        look, size = self._look, len(self._index.vocabulary)
        many = np.bincount(self._tokens.form, minlength=len(look.folds))
        found = np.bincount(
            look.word, np.repeat(many, np.diff(look.first)), minlength=size
        ).tolist()
        entries: Entries = []
        for number, phrase in enumerate(self._index.phrases):
            words = sorted(
                (found[key], -len(phrase.words[at]), key)
                for at in phrase.strong
                if found[key := self._index.vocabulary.number(phrase.words[at])]
            )
            for _, _, key in words[: _ANCHORS if phrase.kind == "address" else 1]:
                entries.append((self._index.phrase_owners[number], key, number))
        return entries

    @cached_property
    def _texts_with_typos(self) -> dict[int, int]:
        typos = [hits[0][hits[2]] for hits in (self._name_hits, self._phrase_hits)]
        forms = np.unique(self._tokens.form[np.concatenate(typos)])
        return texts_with(self._tokens, forms.tolist())

    def _names(self, page: Page) -> Iterator[Match]:
        hits: dict[int, Hit] = {}
        for token, item, typo in zip(*(one.tolist() for one in self._name_hits), strict=True):
            hit = hits.get(token)
            if hit is None or (hit.typo and not typo):
                hits[token] = hit = Hit(token, typo, [])
            if hit.typo == typo:
                hit.words.append(self._index.names.words[item])
        return self._index.names.find(page, list(hits.values()))

    def _phrases(self, page: Page) -> Iterator[Match]:
        for token, item, typo in zip(*(one.tolist() for one in self._phrase_hits), strict=True):
            phrase = self._index.phrases[item]
            words = {word for word, _ in self._look.of_form(page.form[token])}
            for at in phrase.strong:
                if self._index.vocabulary.number(phrase.words[at]) in words:
                    match = find_phrase(page, phrase, token, at, typo)
                    if match is not None:
                        yield match

    def _removals(self, matches: Iterable[Match]) -> Removals:
        tokens = self._tokens
        found: defaultdict[int, list[Removal]] = defaultdict(list)
        for one in matches:
            start, end = int(tokens.starts[one.first]), int(tokens.ends[one.last])
            by = tuple(Reason("known" if one.sure else "possible", name) for name in one.columns)
            document = int(tokens.document[one.first])
            found[document].append(Removal(start, end, one.label, by))
        return found

    def _numbers(self) -> Removals:
        index, parts = self._index, Parts(self._tokens)
        whose = self._whose[parts.document]
        texts = {number: code.text for number, code in enumerate(index.codes)}
        found: defaultdict[int, list[Removal]] = defaultdict(list)
        for one in find_codes(parts, Owned(index.code_keys), whose, texts):
            found[one.document].append(self._number(one))
        for one in find_days(parts, Owned(index.day_keys), whose):
            found[one.document].append(self._number(one))
        return found

    def _number(self, one: Found) -> Removal:
        code = self._index.codes[one.item]
        sure = code.kind in ("date", "phone") or len(code.text) >= SURE
        reason = Reason("known" if sure else "possible", code.column)
        start = one.start
        if code.kind == "phone":
            start = with_calling_code(self._texts[one.document], start, one.end)
        return Removal(start, one.end, code.kind.upper(), (reason,))
