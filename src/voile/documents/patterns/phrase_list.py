"""Lists of phrases that are always or never removed."""

from __future__ import annotations

import re
from bisect import bisect_right
from collections import defaultdict
from collections.abc import Iterable, Iterator, Sequence
from os import PathLike

from voile.core.errors import RequestError
from voile.data.places import read_phrases
from voile.documents.patterns.pattern import Slice, find
from voile.documents.replacements.removal import RemovalReason, TextRemoval
from voile.documents.words.normalisation import as_latin, normalise

_TOKEN = re.compile(r"[^\W_]+|\S")


class PhraseList:
    r"""A finder of the phrases of a list: whole tokens, with any blanks between them.

    A token is a run of letters and digits, or any other single character. So Ann is not found in
    Anne, but it is found in Ann-Marie and Ann_2020. One pass finds all phrases. If several phrases
    begin at a position, the longest is found.

    >>> denied = PhraseList(["Ann Lee", "tardis"], label="NAME")
    >>> [(one.start, one.end) for one in denied.find("The TARDIS of ann\nlee")]
    [(4, 10), (14, 21)]
    >>> allowed = PhraseList(["Tardis"], name="allow-list")
    >>> allowed.subtract("The TARDIS", denied.find("The TARDIS"))
    []
    """

    checked = False

    def __init__(
        self,
        phrases: Iterable[str],
        *,
        label: str = "LISTED",
        name: str = "deny-list",
        ignore_case: bool = True,
    ) -> None:
        self.label = label
        self.by = RemovalReason("list", name)
        self.ignore_case = ignore_case
        # The phrases as tuples of their other tokens, by first token and then by length.
        self._phrases: dict[str, dict[int, set[tuple[str, ...]]]] = {}
        by_first: defaultdict[str, defaultdict[int, set[tuple[str, ...]]]]
        by_first = defaultdict(lambda: defaultdict(set))
        for phrase in phrases:
            plain = normalise(phrase).text
            for looks in {plain, as_latin(plain)}:  # the text may be read as Latin
                if words := self._words(looks):
                    by_first[words[0]][len(words)].add(tuple(words[1:]))
        if not by_first:
            raise RequestError("the list has no phrase", where=name)
        for first, by_length in by_first.items():
            self._phrases[first] = dict(sorted(by_length.items(), reverse=True))

    @classmethod
    def read(
        cls,
        path: str | PathLike[str] | Sequence[str],
        *,
        label: str = "LISTED",
        name: str = "deny-list",
        ignore_case: bool = True,
    ) -> PhraseList:
        return cls(read_phrases(path), label=label, name=name, ignore_case=ignore_case)

    def find(self, text: str) -> list[TextRemoval]:
        return find(text, (self,))

    def subtract(self, text: str, removals: Iterable[TextRemoval]) -> list[TextRemoval]:
        """Return the removals except those that lie entirely inside a phrase of this list."""
        kept = self.find(text)
        starts = [one.start for one in kept]

        def allowed(one: TextRemoval) -> bool:
            at = bisect_right(starts, one.start) - 1
            return at >= 0 and one.end <= kept[at].end

        return [one for one in removals if not allowed(one)]

    def slices(self, plain: str) -> list[Slice]:
        """Find the (start, end) of each phrase in a normalised text."""
        found = list(self._runs(self._words(plain)))
        if not found:
            return []
        spans = [token.span() for token in _TOKEN.finditer(plain)]
        return [(spans[first][0], spans[last][1]) for first, last in found]

    def _runs(self, words: Sequence[str]) -> Iterator[tuple[int, int]]:
        for at in [at for at, word in enumerate(words) if word in self._phrases]:
            for length, rests in self._phrases[words[at]].items():
                if tuple(words[at + 1 : at + length]) in rests:
                    yield at, at + length - 1
                    break

    def _words(self, plain: str) -> list[str]:
        # İ is the only letter that becomes two in lower case
        return _TOKEN.findall(plain.replace("İ", "I").lower() if self.ignore_case else plain)
