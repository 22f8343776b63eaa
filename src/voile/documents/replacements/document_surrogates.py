"""Draw the surrogates for the values of one document."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from functools import cache, partial
from importlib.resources import files

from voile.documents.replacements import codes, common_words
from voile.documents.replacements.ages import group_ages
from voile.documents.replacements.date_ranges import move_dates
from voile.documents.replacements.dates import DateOrder
from voile.documents.replacements.draws import SurrogateDraws, fold_value
from voile.documents.replacements.loose_dates import move_loosely
from voile.documents.replacements.names import Language, NamePool, fold, name_words
from voile.documents.replacements.people import RenamedPeople, like, read_mention
from voile.documents.replacements.phrases import KEPT, kept_words, rename_phrase
from voile.keys.pseudonyms import Secret, date_shift

# The lists of voile by kind, and the lists that kinds without their own list use.
_LISTS = {"place": "places", "country": "countries", "profession": "professions"}
_LIKE = {"street": "surnames", "organisation": "places", "other": "places"}
WORDS = frozenset(["name", *_LISTS, *_LIKE])
"""The kinds with values that are words."""
_ACRONYM = 3
_YEAR = re.compile(r"(?<![0-9])(?:19|20)[0-9]{2}(?![0-9])")
_WORD = re.compile(r"[^\W\d_]{3,}")
_SAINT = re.compile(r"(?:st|ste|saint|san|santa|santo)\.? ", re.IGNORECASE)
_NO_NAMES = ("unnamed", "infant", "baby")
"""Entries of given-name registers that are not names."""
_AGES: Mapping[Language, tuple[str, ...]] = {
    "english": ("adult", "young", "middle-aged", "elderly"),
    "spanish": ("adulto", "joven", "mayor", "de mediana edad"),
}


@dataclass(frozen=True)
class RemovedValue:
    """A removed value, with the text before it."""

    kind: str
    text: str
    before: str

    @property
    def folded_text(self) -> str:
        return fold_value(self.text)


@dataclass(frozen=True)
class SurrogateSettings:
    """Settings for drawing surrogates: see `Surrogates`."""

    secret: Secret
    language: Language
    pool: NamePool
    lists: Mapping[str, Sequence[str]]
    order: DateOrder | None
    days: int
    keep_ages: bool
    own_names: Callable[[str], Mapping[str, str]] = lambda _: {}
    """A function that returns the surrogates of the folded words of a subject's own name."""

    def candidates(self, kind: str) -> Sequence[str]:
        return self.lists.get(kind) or self.list_shipped(kind)

    def list_shipped(self, kind: str) -> Sequence[str]:
        what = _LISTS.get(kind) or _LIKE[kind]
        return self.pool.surnames if what == "surnames" else read_list(self.language, what)


@cache
def read_list(language: Language, what: str) -> tuple[str, ...]:
    """Read one of voile's lists: "places", "countries", "professions"."""
    path = files("voile.documents.replacements") / "lists" / language / f"{what}.txt"
    return tuple(path.read_text(encoding="utf-8").splitlines())


def draw_all(
    settings: SurrogateSettings, subject: str, values: Iterable[RemovedValue]
) -> dict[RemovedValue, str | None]:
    """Return the surrogate of each value of a document; None for an age that needs a mark.

    The order of drawing is independent of the text. So no two values share a surrogate, wherever
    they occur.
    """
    ordered = sorted(set(values), key=lambda one: (one.kind, one.folded_text, one.text, one.before))
    document = _SurrogateDocument(settings, subject, ordered)
    return {value: document.surrogate(value) for value in ordered}


class _SurrogateDocument:
    def __init__(
        self, settings: SurrogateSettings, subject: str, values: Sequence[RemovedValue]
    ) -> None:
        self._settings = settings
        self._language = settings.language
        taken = set(_NO_NAMES)
        taken |= {word for one in values for word in (*name_words(one.text), one.folded_text)}
        own = settings.own_names(subject)
        drawn = {word for name in own.values() for word in name_words(name)}
        self._draws = SurrogateDraws(settings.secret, subject, frozenset(taken), drawn)
        self._nouns = self._written_as_nouns(values)
        mentions = [
            read_mention(one.text, one.before)
            for one in values
            if one.kind == "name" and not self._is_common(one)
        ]
        self._people = RenamedPeople(self._draws, settings.pool, mentions, settings.language, own)
        self._drawn: dict[tuple[str, str], str] = {}
        years = [y for one in values if one.kind == "date" for y in _YEAR.findall(one.text)]
        self._year = int(max(years, default="2000"))

    def surrogate(self, value: RemovedValue) -> str | None:
        if value.kind == "age":
            return self._age(value)
        new = self._by_kind(value)
        return new if new and fold_value(new) != value.folded_text else self._disguise_value(value)

    def _by_kind(self, value: RemovedValue) -> str | None:
        text, draws = value.text, self._draws
        match value.kind:
            case _ if self._is_common(value):
                return self._common(value)
            case "name":
                return self._name(text, value.before)
            case "date":
                return self._date(text)
            case "number":
                return codes.scramble(draws, text)
            case "email":
                return codes.email(draws, text)
            case "url":
                return codes.url(draws, text)
            case "ip":
                return codes.ip(draws, text)
        return self._draw_name(value)

    def _name(self, text: str, before: str) -> str | None:
        """Rename a person, or the words in other text: "@anna" may become "@tracy"."""
        return self._people.rename(read_mention(text, before)) or rename_phrase(
            text, frozenset(), self._draws, lambda run: self._people.rename(read_mention(run))
        )

    def _disguise_value(self, value: RemovedValue) -> str:
        return codes.disguise(self._draws, value.text)

    def _age(self, value: RemovedValue) -> str | None:
        keep = self._settings.keep_ages
        if (grouped := group_ages(value.text, self._language, keep=keep)) or not keep:
            return grouped
        if any(map(str.isdigit, value.text)):
            return codes.scramble(self._draws, value.text) or self._disguise_value(value)
        return self._draws.any(_AGES[self._language], value.folded_text)

    def _date(self, text: str) -> str:
        settings, language = self._settings, self._language
        offset = date_shift(settings.secret, self._draws.subject, days=settings.days)
        return move_dates(text, offset, order=settings.order, language=language) or move_loosely(
            text,
            offset,
            self._draws,
            order=settings.order,
            language=language,
            year=self._year,
        )

    def _is_common(self, value: RemovedValue) -> bool:
        if value.kind not in WORDS:
            return False
        is_small_letters = value.text == value.text.lower()
        return (is_small_letters and value.folded_text in self._nouns) or common_words.is_small(
            value.text, value.before, self._language
        )

    def _common(self, value: RemovedValue) -> str | None:
        if common_words.is_small(value.text, value.before, self._language):
            return common_words.other_small(self._draws, value.text, self._language)
        draw = partial(common_words.noun, self._draws, value.text, self._language)
        return self._once("noun", value.folded_text, draw)

    def _written_as_nouns(self, values: Sequence[RemovedValue]) -> frozenset[str]:
        """Return the folded values that are common nouns in the document, and never a name."""
        words = [one for one in values if one.kind in WORDS - {"profession"}]
        capital = {
            word for one in words if one.text != one.text.lower() for word in name_words(one.text)
        }
        return frozenset(
            one.folded_text
            for one in words
            if capital.isdisjoint(name_words(one.text))
            and (one.kind == "other" or common_words.is_noun(one.text, one.before, self._language))
            and one.text == one.text.lower()
            and one.text.replace(" ", "").isalpha()
        )

    def _draw_name(self, value: RemovedValue) -> str | None:
        """Return an entry of the kind's list. A street or organisation keeps its common words."""
        text, kind = value.text, value.kind
        if not any(map(str.isalpha, text)):
            return codes.scramble(self._draws, text)
        if text.isupper() and len(text) <= _ACRONYM:
            return self._disguise_value(value)
        if kind in KEPT or any(map(str.isdigit, text)):
            kept = kept_words(kind, self._language) if kind in KEPT else frozenset()
            if kind == "street" and kept.isdisjoint(map(fold, _WORD.findall(text.lower()))):
                kind = "place"
            elif _SAINT.match(text):  # named after a person
                kind = "street"
            if phrase := rename_phrase(text, kept, self._draws, partial(self._entry, kind)):
                return phrase
        return self._entry(kind, text)

    def _entry(self, kind: str, text: str) -> str | None:
        draw = partial(self._drawn_from_lists, kind, text)
        found = self._once(kind, fold_value(text), draw)
        return like(text, found) if found and len(text) > 1 else found

    def _drawn_from_lists(self, kind: str, text: str) -> str | None:
        """Draw from the user's list, or else from voile's.

        An entry that fits the article is preferred.
        """
        value = fold_value(text)
        for entries in (self._settings.candidates(kind), self._settings.list_shipped(kind)):
            if drawn := self._draws.entry(
                entries, value, common_words.agreeing(text, self._language)
            ):
                return drawn
        return None

    def _once(self, kind: str, folded: str, draw: Callable[[], str | None]) -> str | None:
        """Draw once for each folded value."""
        if (kind, folded) not in self._drawn and (drawn := draw()):
            self._drawn[kind, folded] = drawn
        return self._drawn.get((kind, folded))
