"""Find known people's names: whole, in any order, with initials, or a first or last name alone."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, field
from itertools import pairwise, starmap
from typing import NamedTuple

import numpy as np
from rapidfuzz.distance import OSA

from voile.documents.model.start.known.owned import EVERYONE, Bools, Longs
from voile.documents.model.start.known.page import NOTHING, SURE, TokenPlaces, ValueMatch
from voile.documents.replacements.names import PARTICLES, words_of
from voile.documents.words.attributes import SMALL
from voile.documents.words.tokens import BLANK

JOINED = 5
"""The fewest letters of two words that may be written as one: DeLeon, MariaJose."""
_SUFFIXES = frozenset(["jr", "sr", "ii", "iii", "iv", "md", "phd", "rn"])
_HONORIFICS = frozenset(
    ["dr", "dra", "mr", "mrs", "ms", "miss", "prof", "sr", "sra", "srta", "dona"]
)
_BETWEEN = 8  # the most other tokens within a name
_LOOKED_AT = 64  # the most people with the same name for comparing their other words
_SHORTEST = 3  # the fewest letters of a word that may have a typo next to another


@dataclass
class NameWord:
    """A word of a name, and its owner."""

    owner: int
    people: set[int] = field(default_factory=set)
    columns: dict[str, None] = field(default_factory=dict)
    leads: set[tuple[str, ...]] = field(default_factory=set)  # particles before it

    @property
    def own(self) -> bool:
        """Whether the word belongs to the note's subject."""
        return self.owner != EVERYONE


class NameHit(NamedTuple):
    """A token that is a word of known names, or one typo away from it."""

    token: int
    verdict: int  # the result of `TokenPlaces.judge`
    word: NameWord


class PeopleNames:
    """The names of all people that notes may contain."""

    def __init__(self) -> None:
        self.words: list[NameWord] = []
        self._numbers: dict[tuple[int, str], int] = {}
        self._joined: dict[tuple[int, ...], NameWord] = {}
        self._of_person: defaultdict[int, list[str]] = defaultdict(list)

    def add(self, owner: int, person: int, column: str, value: str) -> Iterator[tuple[str, int]]:
        """Add a name, and yield each of its words with the number of its `NameWord`."""
        before: list[str] = []
        last = ""
        for word in words_of(value):
            if word.isdecimal() or word in _HONORIFICS or word in _SUFFIXES:
                continue
            self._of_person[person].append(word)
            if len(word) > 1 and word not in PARTICLES:
                yield word, self._number(owner, word, person, column, tuple(before))
                if last and len(joined := last + word) >= JOINED:
                    yield joined, self._number(owner, joined, person, column, ())
                before = []
            elif word in PARTICLES:
                before.append(word)
            last = (last if word in PARTICLES and last in PARTICLES else "") + word

    def _number(
        self, owner: int, word: str, person: int, column: str, leads: tuple[str, ...]
    ) -> int:
        number = self._numbers.setdefault((owner, word), len(self.words))
        if number == len(self.words):
            self.words.append(NameWord(owner))
        entry = self.words[number]
        entry.people.add(person)
        entry.columns[column] = None
        if leads:
            entry.leads.add(leads)
        return number

    def word(self, numbers: tuple[int, ...]) -> NameWord:
        """Return the word for some numbers. A word of several people is combined to one."""
        if len(numbers) == 1:
            return self.words[numbers[0]]
        if numbers not in self._joined:
            words = [self.words[number] for number in numbers]
            self._joined[numbers] = NameWord(
                max(word.owner for word in words),
                set().union(*(word.people for word in words)),
                dict.fromkeys(column for word in words for column in word.columns),
                set().union(*(word.leads for word in words)),
            )
        return self._joined[numbers]

    def find(
        self, page: TokenPlaces, token: Longs, item: Longs, typo: Bools
    ) -> Iterator[ValueMatch]:
        """Find the names in all notes from the tokens that match an item (a word), in order."""
        for run in self._runs(page, self._hits(page, token, item, typo)):
            verdict = max(hit.verdict for hit in run)
            if verdict == NOTHING:
                continue
            people = _in_common(run)
            first, last = self._start(page, run, people), self._end(page, run, people)
            sure = verdict == SURE or self._is_together(page, run, first, last)
            columns = dict.fromkeys(column for hit in run for column in hit.word.columns)
            yield ValueMatch(first, last, "NAME", tuple(columns), sure)

    def _hits(self, page: TokenPlaces, token: Longs, item: Longs, typo: Bools) -> Iterator[NameHit]:
        """Yield each token once, without tokens that are not a name and not near a name."""
        first = np.flatnonzero(np.diff(token, prepend=-1))
        exact = np.logical_or.reduceat(~typo, first)
        kept = ~typo | ~np.repeat(exact, np.diff(first, append=len(token)))
        token, items = token[kept], item[kept].tolist()
        first = np.flatnonzero(np.diff(token, prepend=-1))
        at = token[first]
        bounds = pairwise([*first.tolist(), len(token)])
        words = [self.word(tuple(items[start:end])) for start, end in bounds]
        own = np.array([word.own for word in words], dtype=np.bool_)
        named = self._are_named(page, at, words, exact, ~exact & ~own)
        verdict = page.judge(at, ~exact, own, named)
        may = np.flatnonzero(exact | own | (verdict > NOTHING))
        apart = np.flatnonzero(np.diff(at[may], prepend=-_BETWEEN - 2) > _BETWEEN)
        best = np.maximum.reduceat(verdict[may], apart)
        may = may[np.repeat(best > NOTHING, np.diff(apart, append=len(may)))]
        for number, here, of in zip(*np.stack([may, at[may], verdict[may]]).tolist(), strict=True):
            yield NameHit(here, of, words[number])

    def _are_named(
        self, page: TokenPlaces, at: Longs, words: Sequence[NameWord], exact: Bools, asked: Bools
    ) -> Bools:
        """Return which words belong to people with two adjacent name words in the same text.

        Only frequent words in `asked` are checked. The others need no such support.
        """
        named = np.zeros(len(at), dtype=np.bool_)
        where, document = np.flatnonzero(exact), page.document
        texts = document[at[where]]
        for one in np.flatnonzero(asked).tolist():
            if page[at[one]].is_frequent:
                first, last = np.searchsorted(texts, document[at[one]] + np.arange(2))
                people = words[one].people
                met = [n for n in where[first:last].tolist() if people & words[n].people]
                hits = [NameHit(int(at[n]), NOTHING, words[n]) for n in met]
                named[one] = any(
                    people & _of_both(*pair) and self._go_on(page, *pair) for pair in pairwise(hits)
                )
        return named

    def _runs(self, page: TokenPlaces, hits: Iterable[NameHit]) -> Iterator[list[NameHit]]:
        run: list[NameHit] = []
        for hit in hits:
            if run and not self._go_on(page, run[-1], hit):
                yield run
                run = []
            run.append(hit)
        if run:
            yield run

    def _go_on(self, page: TokenPlaces, one: NameHit, other: NameHit) -> bool:
        """Return whether two hits belong to one name, by the text between them."""
        if not 1 < other.token - one.token <= _BETWEEN:
            return other.token - one.token == 1 and page.near(other.token)
        if not all(page.near(at) for at in range(one.token + 1, other.token + 1)):
            return False
        between = [page[at] for at in range(one.token + 1, other.token)]
        names = [form for form in between if form.written and not form.is_initial]
        unknown = [form for form in names if form.fold not in PARTICLES]
        signs = {form.text for form in between if not form.written}
        if unknown or "," in signs:
            few = len(unknown) <= 1 and all(form.is_capital for form in unknown)
            return few and signs <= {",", "-", "'"} and bool(one.word.people & other.word.people)
        return signs <= {"-", "+", "'"} or (signs <= {"-", "'", "."} and between[0].is_initial)

    def _is_together(
        self, page: TokenPlaces, run: Sequence[NameHit], first: int, last: int
    ) -> bool:
        """Return whether words that are not names by themselves form a name together."""
        initials = (first, last) != (run[0].token, run[-1].token)
        return initials or page.is_titled(first) or any(starmap(_of_both, pairwise(run)))

    def _start(self, page: TokenPlaces, run: Sequence[NameHit], people: set[int]) -> int:
        """Return the start of a name, including its initials and particles."""
        first = run[0].token
        for lead in sorted(run[0].word.leads, key=len, reverse=True):
            here = [*range(first - len(lead), first)]
            near = all(page.near(at + 1) for at in here)
            if near and lead == tuple(page[at].fold for at in here):
                first = here[0]
                break
        while (at := self._initial_before(page, first, people)) is not None:
            first = at
        if self._is_other_word(page, first - 1, first, people, page[first].written):
            first -= 1
        return first

    def _initial_before(self, page: TokenPlaces, at: int, people: set[int]) -> int | None:
        if not page.near(at):
            return None
        end, sign = at, page[at - 1].text
        joined = sign == "'"  # as in O'Brien, d'Angelo
        at -= 2 if (joined or sign == ".") and page.near(at - 1) else 1
        form = page[at]
        # in a lower-case note, initials are also in lower case
        small = joined or page[end].written == SMALL
        letter = len(form.text) == 1 if small else form.is_initial
        return at if letter and self._has_initial(form.fold, people) else None

    def _end(self, page: TokenPlaces, run: Sequence[NameHit], people: set[int]) -> int:
        last = run[-1].token
        if self._is_other_word(page, last + 1, last + 1, people, page[last].written):
            last += 1
        while (at := self._initial_after(page, last, people)) is not None:
            last = at
        return last

    def _initial_after(self, page: TokenPlaces, last: int, people: set[int]) -> int | None:
        comma = page.near(last + 1) and page[last + 1].text == ","
        at = last + 1 + comma
        if not (page.near(at) and page[at].is_initial and self._has_initial(page[at].fold, people)):
            return None
        dotted = page.near(at + 1, BLANK) and page[at + 1].text == "."
        return at + dotted if comma or dotted else None

    def _has_initial(self, letter: str, people: set[int]) -> bool:
        return any(word.startswith(letter) for one in people for word in self._of_person[one])

    def _is_other_word(
        self, page: TokenPlaces, at: int, edge: int, people: set[int], written: int
    ) -> bool:
        """Return whether a word next to a hit is another word of that name, with a typo.

        It has a capital, unless the hit has none (`written`), and it is not a word of the notes.
        """
        if not page.near(edge) or len(people) > _LOOKED_AT:
            return False
        form = page[at]
        word, small = form.fold, form.written == written == SMALL
        if len(word) < _SHORTEST or not (small or form.is_capital):
            return False
        if form.is_common if small else form.is_ordinary:
            return False
        others = {one for person in people for one in self._of_person[person]}
        return any(len(one) >= _SHORTEST and OSA.distance(one, word) <= 1 for one in others)


def _of_both(one: NameHit, other: NameHit) -> set[int]:
    """Return the people with both hits as different words of their name."""
    return set() if one.word is other.word else one.word.people & other.word.people


def _in_common(run: Sequence[NameHit]) -> set[int]:
    """Return the people that all hits of a run share, ignoring hits that share nobody."""
    people = run[0].word.people
    for hit in run[1:]:
        people = people & hit.word.people or people
    return people
