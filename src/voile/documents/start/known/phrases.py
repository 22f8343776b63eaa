"""Known values of several words in their order: places, organisations, addresses, e-mails."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property, lru_cache

from rapidfuzz.distance import OSA

from voile.documents.replacements.names import PARTICLES
from voile.documents.start.known.page import Match, TokenPlaces
from voile.documents.start.known.vocabulary import TYPO_FROM, words_of
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
_ADDRESS_TAIL = 10  # tokens behind a house number
_STRONG = 2  # letters


@dataclass(frozen=True)
class Phrase:
    """A value to be met word by word."""

    kind: str
    column: str
    words: tuple[str, ...]  # folded
    before: int  # how many of them stand before an @, if there is one

    @classmethod
    @lru_cache(maxsize=1 << 16)
    def of(cls, kind: str, column: str, value: str) -> Phrase:
        """Return a value's phrase; values known to all notes are asked for with each batch."""
        return cls(kind, column, tuple(words_of(value)), len(words_of(value.partition("@")[0])))

    @cached_property
    def strong(self) -> tuple[int, ...]:
        """The places of the words that a note has to have; all, where all are small or numbers."""
        every = range(len(self.words))
        if self.kind in ("email", "id"):
            return tuple(every)
        strong = tuple(at for at in every if not _is_weak(self.words[at], self.kind))
        return strong or tuple(every)

    @cached_property
    def onwards(self) -> list[range]:
        """For the place of each word the next ones, up to one that a note has to have."""
        ends = [
            next((at for at in self.strong if at > place), len(self.words) - 1)
            for place in range(len(self.words))
        ]
        return [range(place + 1, end + 1) for place, end in enumerate(ends)]

    @cached_property
    def backwards(self) -> list[range]:
        """For the place of each word those before, back to one that a note has to have."""
        ends = [
            next((at for at in self.strong[::-1] if at < place), 0)
            for place in range(len(self.words))
        ]
        return [range(place - 1, end - 1, -1) for place, end in enumerate(ends)]

    @property
    def own(self) -> tuple[int, ...]:
        """The places of the words that few others share: a mail provider is shared by many."""
        return self.strong[: self.before] if self.kind == "email" else self.strong


def find_phrase(
    page: TokenPlaces, phrase: Phrase, token: int, anchor: int, typo: bool, own: bool
) -> Match | None:
    """Find a phrase around a token, its word number `anchor`; `own` as in `TokenPlaces.judge`."""
    met = {anchor: token}
    for step in (-1, 1):
        at, place = token, anchor
        while (then := _next(page, phrase, at, place, step)) is not None:
            at, place = then
            met[place] = at
    sure = _is_sure(page, phrase, met, typo, own)
    if sure is None:
        return None
    first, last = min(met.values()), max(met.values())
    if phrase.kind == "address":
        last = _tail(page, last)
    return Match(first, last, phrase.kind.upper(), (phrase.column,), sure)


def _next(
    page: TokenPlaces, phrase: Phrase, at: int, place: int, step: int
) -> tuple[int, int] | None:
    """Return the next token that is a word of the phrase, and which; weak words may be missing."""
    wanted = phrase.onwards[place] if step > 0 else phrase.backwards[place]
    if not wanted:
        return None
    gap = BLANK if phrase.kind == "email" else PARAGRAPH
    for token in page.beyond(at + step, step, gap, _FILLERS):
        word = page.fold(token) if page.word(token)[:1].isalnum() else ""
        for then in wanted if word else ():
            if _same(word, phrase.words[then]):
                return token, then
    return None


def _same(word: str, wanted: str) -> bool:
    if word == wanted or _CANONICAL.get(word, word) == _CANONICAL.get(wanted, wanted):
        return True
    if wanted.isdecimal() and word.isdecimal():
        return word.lstrip("0") == wanted.lstrip("0")
    near = min(len(word), len(wanted)) >= TYPO_FROM and wanted.isalpha()
    return near and OSA.distance(word, wanted, score_cutoff=1) <= 1


def _is_sure(
    page: TokenPlaces, phrase: Phrase, met: dict[int, int], typo: bool, own: bool
) -> bool | None:
    """Return whether what was met is the phrase for sure; None where it is not enough."""
    whole = met.keys() >= set(phrase.strong)
    if phrase.kind == "address":
        return True if whole and len(met) > 1 else _is_part_of_address(phrase, met)
    if not whole:
        return None
    if phrase.kind in ("email", "id"):
        return True if len(met) > 1 else page.judge(met[0], typo, own) or None
    verdicts = [page.judge(met[place], typo, own) for place in phrase.strong]
    if True in verdicts or False not in verdicts:
        return True in verdicts or None
    return len(verdicts) > 1


def _is_part_of_address(phrase: Phrase, met: dict[int, int]) -> bool | None:
    """Return whether a street with its number or its kind was met; None where it is less."""
    words = [phrase.words[place] for place in met]
    number = any(word[0].isdigit() for word in words)
    if len(words) < 2 or not any(place in phrase.strong for place in met):
        return None
    return number or len(words) > 2


def _tail(page: TokenPlaces, last: int) -> int:
    """Return where an address ends, with its floor and door behind a number."""
    if not any(map(str.isdigit, page.word(last))):
        return last
    at = last
    while at + 1 < last + _ADDRESS_TAIL and page.near(at + 1):
        at += 1
        word = page.word(at)
        if page.fold(at) in _FLOOR or any(map(str.isdigit, word)) or page.is_initial(at):
            last = at
        elif word.isalnum():
            break
    return last


def _is_weak(word: str, kind: str) -> bool:
    if word in PARTICLES or len(word) < _STRONG:
        return True
    return kind == "address" and (word[0].isdigit() or word in _CANONICAL)
