"""Find listed towns, unless the words around them give them another meaning."""

from __future__ import annotations

import re
from collections.abc import Iterator
from functools import cached_property

from voile.documents.model.start.lists import towns
from voile.documents.replacements.names import fold
from voile.documents.replacements.removal import RemovalReason
from voile.documents.words.guards import BARE_EPONYMS, EPONYMS

_CAPITAL = r"(?:[dl]['’])?[^\W\d_a-zß-öø-ÿ][\w'’-]*+\.?"
_JOINING = "de|del|la|las|los|el|of|on|upon|am|an|der|sur|les|do|da|di|le|en|bei|im"
_RUN = re.compile(rf"(?<![\w@./'’-]){_CAPITAL}(?: (?:{_CAPITAL}|(?:{_JOINING})(?= ))){{0,5}}")
_WORD = re.compile(r"[\w'’.-]+")
_CUE = re.compile(
    r"(?<!\w)(?:in|from|near|outside of|outside|around|visiting|via|en|desde|vecin[oa] de|aus|nach"
    r"|bei|vers|à|presso|em)(?: (?:downtown|rural|north|south|east|west|northern|southern))? $",
    re.IGNORECASE,
)
_HOME = re.compile(
    r"(?:live[sd]? in|living in|reside[sd]? in|residing in|resident of|born in|move[sd] to"
    r"|moved from|relocated to|native of|grew up in|originally from|hails from|works? in|working in"
    r"|travel(?:l?ed|s|ing) (?:to|from)|natural de|vive en|residente en|nacid[oa] en"
    r"|procedente de|wohnhaft in|wohnt in|geboren in|habite à|demeurant à|né à|née à|residente a"
    r"|nato a|nata a|mora em|residente em|nascid[oa] em) $",
    re.IGNORECASE,
)
_TITLES = "dr|drs|mr|mrs|ms|miss|prof|sr|sra|dra|don|doña|herr|frau"
_NO_PLACE = re.compile(rf"(?:\b(?:{_TITLES}|plaster of)\.? |[A-Z]\. )$", re.IGNORECASE)
_PERSON_BEFORE = re.compile(r"[A-Z][\w'’-]+ $")
_AFTER = re.compile(
    r"(?: ?'s| |-)(?:\w+ )?(?:disease|syndrome|scale|score|criteria|classification|virus|brace|coma"
    r"|stool|postnatal|chromosome|rules?|guidelines?|protocol|fever|agitation|index|grade|test"
    r"|screening|study|consensus|type|staging|system|questionnaire|depression|cognitive|assessment"
    r"|sign|tube|catheter|procedure|approach|lymphoma|calculator|equation|agar|trial)\b",
    re.IGNORECASE,
)
_NAME_AFTER = re.compile(r" [A-Z][a-z]+")
_TIME_AFTER = re.compile(
    r" (?:Mon|Tues|Wednes|Thurs|Fri|Satur|Sun)day"
    r"| (?:Jan|Feb|Mar|Apr|May|Jun|Jul|Aug|Sep|Oct|Nov|Dec)"
    r"| (?:On|He|She|They|The|No|Has|Was|Is)\b"
)
_EPONYMS = EPONYMS | BARE_EPONYMS | {"glasgow", "durack", "winslow", "blumberg", "rosenthal"}
_LONGEST = 6
_BEFORE = 40


class TownForm:
    """A form that finds listed towns.

    A town that is neither a word nor a common name is found without a cue. If it is a single word,
    it must not be next to another name. An eponym needs a cue. A town that is also a word or a name
    is found after a word such as `in`, or after `lives in` and similar phrases.
    """

    name = "town"
    label = "PLACE"
    checked = False

    @property
    def by(self) -> RemovalReason:
        return RemovalReason("rule", self.name)

    @cached_property
    def _lists(self) -> tuple[frozenset[str], frozenset[str]]:
        return towns()

    def slices(self, plain: str) -> Iterator[tuple[int, int]]:
        """Yield the offsets of each town in a normalised text. Cost: O(characters)."""
        for run in _RUN.finditer(plain):
            words = [word.span() for word in _WORD.finditer(plain, *run.span())]
            at = 0
            while at < len(words):
                length = self._length_at(plain, words, at)
                if length:
                    yield words[at][0], self._end(plain, words, at + length - 1)
                at += max(length, 1)

    @cached_property
    def _firsts(self) -> frozenset[str]:
        """The first words of all towns."""
        return frozenset(town.split()[0] for towns in self._lists for town in towns)

    def _length_at(self, plain: str, words: list[tuple[int, int]], at: int) -> int:
        """Return the number of words of a town that begins at a position, or 0."""
        clear, shared = self._lists
        start = words[at][0]
        if plain[start : start + 2].islower():
            return 0
        if fold(plain[start : self._end(plain, words, at)]).replace("’", "'") not in self._firsts:
            return 0
        for last in range(min(len(words), at + _LONGEST) - 1, at - 1, -1):
            end = self._end(plain, words, last)
            town = fold(plain[start:end]).replace("’", "'")
            if town in clear or town in shared:
                alone = last > at
                if self._is_place(plain, start, end, is_clear=town in clear, has_words=alone):
                    return last - at + 1
        return 0

    def _end(self, plain: str, words: list[tuple[int, int]], last: int) -> int:
        end = words[last][1]
        if plain[end - 1] == ".":
            end -= 1
        return end - 2 if plain[end - 2 : end] in ("'s", "’s") else end

    @staticmethod
    def _is_place(plain: str, start: int, end: int, *, is_clear: bool, has_words: bool) -> bool:
        before = plain[max(0, start - _BEFORE) : start]
        if (
            _NO_PLACE.search(before)
            or _AFTER.match(plain, end)
            or plain[end : end + 1] in ("@", "_")
        ):
            return False
        if _HOME.search(before):
            return True
        is_eponym = fold(plain[start:end]) in _EPONYMS
        follows_name = bool(_PERSON_BEFORE.search(before)) and not _CUE.search(before)
        leads_name = bool(_NAME_AFTER.match(plain, end)) and not _TIME_AFTER.match(plain, end)
        if has_words:
            return (is_clear and not is_eponym) or bool(_CUE.search(before))
        if follows_name or leads_name:
            return False
        return (is_clear and not is_eponym) or bool(_CUE.search(before))


TOWN = TownForm()
