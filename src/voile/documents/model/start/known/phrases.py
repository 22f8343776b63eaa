"""Find known values of several ordered words: places, organisations, addresses, e-mails."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import cached_property, lru_cache
from itertools import chain, islice
from typing import NamedTuple

import numpy as np
from rapidfuzz.distance import OSA

from voile.documents.model.start.known.owned import Bools
from voile.documents.model.start.known.page import NOTHING, PERHAPS, SURE, TokenPlaces, ValueMatch
from voile.documents.model.start.known.vocabulary import TYPO_FROM
from voile.documents.replacements.names import PARTICLES, words_of
from voile.documents.words.tokens import BLANK, PARAGRAPH

_STREETS = (
    "street st str",
    "avenue ave av avda avenida avd",
    "road rd",
    "lane ln",
    "drive dr",
    "court ct",
    "boulevard blvd bulevar",
    "square sq",
    "place pl plaza plz pza pza",
    "terrace ter terr",
    "highway hwy",
    "parkway pkwy",
    "circle cir",
    "suite ste",
    "apartment apt",
    "mount mt",
    "saint san santa santo sta sto",
    "calle c cl cll",
    "carretera ctra crta",
    "paseo po pso pseo",
    "camino cno cmno",
    "ronda rda",
    "travesia trv trva tr",
    "urbanizacion urb",
    "glorieta gta",
    "poligono pol",
    "strasse straße str",
    "north n",
    "south s",
    "east e",
    "west w",
)
_CANONICAL = {word: group.split()[0] for group in _STREETS for word in group.split()}
_FLOOR = frozenset(
    [
        *("piso", "planta", "puerta", "pta", "esc", "escalera", "bajo", "izq", "izda", "dcha"),
        *("apt", "apartment", "unit", "floor", "flat"),
    ]
)
_FILLERS = frozenset(["no", "num", "numero", "n", "nr"])
_ADDRESS_TAIL = 10  # the most tokens after a house number
_STRONG = 2  # letters
_SIGNS = 4  # the most signs between two words


@dataclass(frozen=True)
class ValuePhrase:
    """A value to match word by word."""

    kind: str
    column: str
    words: tuple[str, ...]  # folded
    before: int  # the number of words before an @, if there is one

    @classmethod
    @lru_cache(maxsize=1 << 16)
    def of(cls, kind: str, column: str, value: str) -> ValuePhrase:
        """Return the phrase of a value.

        It is cached, since each batch requests the values known to all notes.
        """
        return cls(kind, column, tuple(words_of(value)), len(words_of(value.partition("@")[0])))

    @cached_property
    def strong(self) -> tuple[int, ...]:
        """The positions of the words that a note must contain; all, if no word is strong."""
        every = range(len(self.words))
        if self.kind in ("email", "id"):
            return tuple(every)
        strong = tuple(at for at in every if not _is_weak(self.words[at], self.kind))
        return strong or tuple(every)

    @cached_property
    def onwards(self) -> list[range]:
        """For each word, the positions of the following words up to the next required one."""
        ends = [
            next((at for at in self.strong if at > place), len(self.words) - 1)
            for place in range(len(self.words))
        ]
        return [range(place + 1, end + 1) for place, end in enumerate(ends)]

    @cached_property
    def backwards(self) -> list[range]:
        """For each word, the positions of the preceding words back to the last required one."""
        ends = [
            next((at for at in self.strong[::-1] if at < place), 0)
            for place in range(len(self.words))
        ]
        return [range(place - 1, end - 1, -1) for place, end in enumerate(ends)]

    @property
    def own(self) -> tuple[int, ...]:
        """The positions of the specific words: many people share an e-mail provider."""
        return self.strong[: self.before] if self.kind == "email" else self.strong


class MetPhrase(NamedTuple):
    """A phrase, and the tokens of its words by their positions in it; one token at first."""

    phrase: ValuePhrase
    places: dict[int, int]

    @property
    def judged_tokens(self) -> list[int]:
        """The tokens that decide by themselves whether the match is the phrase."""
        if self.phrase.kind in ("email", "id"):
            return [*self.places.values()] if len(self.places) == 1 else []
        if self.phrase.kind == "address":
            return []
        return [self.places[place] for place in self.phrase.strong]


def find_phrases(
    page: TokenPlaces, asked: Sequence[MetPhrase], typo: Bools, own: Bools
) -> Iterator[ValueMatch]:
    """Find phrases around their tokens; `typo` and `own` as in `TokenPlaces.judge`."""
    whole = [number for number, one in enumerate(asked) if _extend(page, one)]
    judged = [asked[number].judged_tokens for number in whole]
    by = np.repeat(whole, [*map(len, judged)]).astype(np.int64)
    at = np.fromiter(chain.from_iterable(judged), np.int64)
    verdicts = iter(page.judge(at, typo[by], own[by]).tolist())
    for number, tokens in zip(whole, judged, strict=True):
        phrase, places = asked[number]
        sure = _is_sure(phrase, places, [*islice(verdicts, len(tokens))])
        if sure is not None:
            first, last = min(places.values()), max(places.values())
            if phrase.kind == "address":
                last = _tail(page, last)
            yield ValueMatch(first, last, phrase.kind.upper(), (phrase.column,), sure)


def _extend(page: TokenPlaces, met: MetPhrase) -> bool:
    """Add the other words of a phrase, and return whether the required ones are present."""
    phrase, places = met
    ((place, token),) = places.items()
    for step, end in ((-1, 0), (1, -1)):
        at, here = token, place
        while (then := _next(page, phrase, at, here, step)) is not None:
            at, here = then
            places[here] = at
        if phrase.kind != "address" and step * here < step * phrase.strong[end]:
            return False
    return True


def _next(
    page: TokenPlaces, phrase: ValuePhrase, at: int, place: int, step: int
) -> tuple[int, int] | None:
    """Return the next token of the phrase and its position in it; weak words may be missing."""
    wanted = phrase.onwards[place] if step > 0 else phrase.backwards[place]
    if not wanted:
        return None
    gap = BLANK if phrase.kind == "email" else PARAGRAPH
    for token in range(at + step, at + step * (_SIGNS + 1), step):
        if not page.near(max(token, token - step), gap):
            return None
        form = page[token]
        if form.text[:1].isalnum():
            for then in wanted:
                if _same(form.fold, phrase.words[then]):
                    return token, then
            if form.text.isalnum() and form.fold not in _FILLERS:
                return None
    return None


def _same(word: str, wanted: str) -> bool:
    if word == wanted or _CANONICAL.get(word, word) == _CANONICAL.get(wanted, wanted):
        return True
    if wanted.isdecimal() and word.isdecimal():
        return word.lstrip("0") == wanted.lstrip("0")
    near = min(len(word), len(wanted)) >= TYPO_FROM and wanted.isalpha()
    return near and OSA.distance(word, wanted, score_cutoff=1) <= 1


def _is_sure(phrase: ValuePhrase, places: dict[int, int], verdicts: Sequence[int]) -> bool | None:
    """Return whether the match is surely the phrase; None if the match is insufficient."""
    if phrase.kind == "address":
        whole = len(places) > 1 and places.keys() >= set(phrase.strong)
        return True if whole else _is_part_of_address(phrase, places)
    best = max(verdicts, default=SURE)
    if best == NOTHING or (best == PERHAPS and phrase.kind in ("email", "id")):
        return None
    return best == SURE or len(verdicts) > 1


def _is_part_of_address(phrase: ValuePhrase, met: dict[int, int]) -> bool | None:
    """Return whether a street with its number or its kind was found; None for less."""
    words = [phrase.words[place] for place in met]
    number = any(word[0].isdigit() for word in words)
    if len(words) < 2 or not any(place in phrase.strong for place in met):
        return None
    return number or len(words) > 2


def _tail(page: TokenPlaces, last: int) -> int:
    """Return the end of an address, including floor and door after a number."""
    if not any(map(str.isdigit, page[last].text)):
        return last
    at = last
    while at + 1 < last + _ADDRESS_TAIL and page.near(at + 1):
        at += 1
        form = page[at]
        if form.fold in _FLOOR or any(map(str.isdigit, form.text)) or form.is_initial:
            last = at
        elif form.text.isalnum():
            break
    return last


def _is_weak(word: str, kind: str) -> bool:
    if word in PARTICLES or len(word) < _STRONG:
        return True
    return kind == "address" and (word[0].isdigit() or word in _CANONICAL)
