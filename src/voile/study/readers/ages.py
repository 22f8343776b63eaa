"""Ages: in digits and in words, by birthdays, by decades, and words that only imply an age."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from types import MappingProxyType
from typing import ClassVar

from voile.documents.patterns.pattern import Slice
from voile.documents.replacements.ages import find_age
from voile.study.readers.reader import FoundMention, MentionReader

_ONES = "one|two|three|four|five|six|seven|eight|nine"
_TEENS = "ten|eleven|twelve|thirteen|fourteen|fifteen|sixteen|seventeen|eighteen|nineteen"
_TENS = "twenty|thirty|forty|fifty|sixty|seventy|eighty|ninety"
_WORDS = rf"(?:{_TENS})(?:[ -](?:{_ONES}))?|{_TEENS}|{_ONES}|zero"
_WORDS = rf"(?:(?:one |a )?hundred(?: and)?(?: (?:{_WORDS}))?|{_WORDS})"
_NUMBER = rf"(?:\d{{1,3}}|{_WORDS})"
_DECADES = {
    word: start
    for start, words in enumerate(
        ("", "teens", "twenties 20s", "thirties 30s", "forties 40s", "fifties 50s", "sixties 60s",
         "seventies 70s", "eighties 80s", "nineties 90s")
    )
    for word in words.split()
}  # fmt: skip
_PARTS = {"early": (0, 3), "mid": (4, 6), "middle": (4, 6), "late": (7, 9)}
_SPANS = {
    "teenager": (13, 19),
    "quinquagenarian": (50, 59),
    "sexagenarian": (60, 69),
    "septuagenarian": (70, 79),
    "octogenarian": (80, 89),
    "nonagenarian": (90, 99),
    "centenarian": (100, 119),
}
_IMPLYING = """
    retired retiree pensioner elderly middle-aged newborn neonate infant toddler adolescent
    schoolboy schoolgirl postmenopausal geriatric"""
_DECADE = rf"(?:(?:{'|'.join(_PARTS)})[ -])?(?:{'|'.join(_DECADES)})"
_WHOLE_DECADE = re.compile(
    rf"(?:in )?(?:(?:the|their) )?(?:({'|'.join(_PARTS)})[ -])?({'|'.join(_DECADES)})",
    re.IGNORECASE,
)
_ORDINAL = re.compile(r"(\d{1,3})(?:st|nd|rd|th)", re.IGNORECASE)
_AFTER_A_NAME = "is|was|has|had|who|came|comes|presents?|presented|seen|admitted|m|f|male|female"
_NO_RANGE = r"(?<![\w.,/–-])(?<!to )(?<!under )"
_MENTIONS = tuple(
    re.compile(form, re.IGNORECASE)
    for form in (
        rf"{_NO_RANGE}(?P<age>{_NUMBER}(?:\s*-\s*|\s+)(?:years?|yrs?)(?:\s*-\s*|\s+)olds?)\b",
        rf"{_NO_RANGE}(?P<age>{_NUMBER}\s?(?:y/o|yo|y\.o\.))(?!\w)",
        rf"\b(?:aged?|age\s+of|age\s*:|turn(?:ed|s|ing)?)\s+(?P<age>{_NUMBER})"
        r"(?![\w%/])(?!\s*(?:-|–|to\b)\s*\d)",
        rf"\(\s*(?P<age>{_NUMBER})\s*(?:years?|yrs?)\s*[,;)]",
        rf"(?-i:[A-Z])[\w'’-]*\s?,\s?(?P<age>\d{{1,3}}|{_WORDS})\s?,\s?(?:{_AFTER_A_NAME})\b",
        r"\b(?P<age>\d{1,3}(?:st|nd|rd|th))\s+birthday\b",
        rf"\bin\s+(?:the|her|his|their|my)\s+(?P<age>{_DECADE})\b",
        rf"\b(?P<age>(?:{'|'.join(_PARTS)})[ -](?:{'|'.join(_DECADES)}))\b",
        rf"\b(?P<age>{'|'.join([*_SPANS, *_IMPLYING.split()])})s?\b",
    )
)
_OF_A_COUNT = re.compile(r"in\s+the\s+\d0s", re.IGNORECASE)


class AgeReader(MentionReader):
    """A reader of ages: an age means one year, and a decade or its third means its years.

    A word that only implies an age has no value.

    >>> read = AgeReader().read_mention
    >>> read("47-year-old"), read("47th").cells, read("retired")
    (FoundMention(start=0, end=2, cells=('47',)), ('47',), None)
    >>> AgeReader().read_mention("in the mid-fifties").cells
    ('54', '55', '56')
    >>> text = "Turned eighteen , now in her forties , retired . On aspirin for 10 years ."
    >>> [text[a:b] for a, b in AgeReader().slices(text)]
    ['eighteen', 'forties', 'retired']
    """

    planted: ClassVar[Mapping[str, str]] = MappingProxyType(
        {
            "digits": "Known to be a |47|-year-old .",
            "spelled out": "Known , aged |forty-seven| .",
            "turned 18": "The patient turned |18| in May .",
            "a decade": "A patient in the |forties| .",
            "implied: retired": "The patient is |retired| .",
            "shorthand: 47F": "|47|F , well .",
            "paraphrase: forty-something": "A |forty-something| from here .",
        }
    )

    def slices(self, plain: str) -> Iterator[Slice]:
        found = {
            one.span("age")
            for form in _MENTIONS
            for one in form.finditer(plain)
            if not _OF_A_COUNT.match(one[0])  # such as a pulse in the 60s
        }
        yield from sorted(found)

    def read_mention(self, mention: str) -> FoundMention | None:
        text = mention.strip()
        start = len(mention) - len(mention.lstrip())
        if year := _ORDINAL.fullmatch(text):
            return FoundMention(start, start + len(text), (str(int(year[1])),))
        if years := _years_of(text):
            return FoundMention(start, start + len(text), tuple(map(str, years)))
        age = find_age(mention)
        return None if age is None else FoundMention(age[0], age[1], (str(age[2]),))


def _years_of(text: str) -> range | None:
    """Return the years of a decade, of a part of one, or of a word such as octogenarian."""
    if span := _SPANS.get(text.lower().removesuffix("s")):
        return range(span[0], span[1] + 1)
    found = _WHOLE_DECADE.fullmatch(" ".join(text.split()))
    if found is None:
        return None
    part, word = found[1], found[2].lower()
    decade = 10 * _DECADES[word]
    first, last = _PARTS[part.lower()] if part else (3 if word == "teens" else 0, 9)
    return range(decade + first, decade + last + 1)
