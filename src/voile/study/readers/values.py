"""Places, occupations and other words: a column's own values, a list of words, and ZIP codes."""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path
from types import MappingProxyType
from typing import ClassVar

from voile.core.errors import RequestError
from voile.data import open_source
from voile.documents.patterns.pattern import Slice
from voile.documents.patterns.phrase_list import PhraseList
from voile.documents.replacements.draws import fold_value
from voile.study.readers.reader import FoundMention, MentionReader

_ZIP = re.compile(r"(\d{5})(?:-?\d{4})?")
_FOUND = re.compile(
    r"(?<![\w.-])(\d{5}-\d{4})(?![\w-])|\bzip(?:\s*code)?\s*:?\s*(\d{5}(?:-?\d{4})?)(?![\w-])",
    re.IGNORECASE,
)
WORDS = "words"
"""The name of the column of words in a list. Another column contains their meanings."""


class ValueReader(MentionReader):
    """A reader of mentions by their value, ignoring case, or by their meaning in a list.

    values : the column's cells, if it lists them. Any other text is its own value.
    meanings : words -> cells, such as a city's ZIP codes or a nurse's occupation. The reader also
        searches the texts for these words.

    >>> places = ValueReader(["Knox"], {"Oakfield": ("00214", "00219")})
    >>> [places.read_mention(one).cells for one in ("KNOX", "oakfield", "Elm")]
    [('Knox',), ('00214', '00219'), ('Elm',)]
    >>> list(places.slices("Back to Oakfield , in Knox ."))
    [(8, 16)]
    """

    def __init__(
        self, values: Sequence[str] = (), meanings: Mapping[str, Sequence[str]] | None = None
    ) -> None:
        self._cells: dict[str, tuple[str, ...]] = {fold_value(one): (one,) for one in values}
        self._cells |= {fold_value(one): tuple(cells) for one, cells in (meanings or {}).items()}
        self._phrases = PhraseList(meanings) if meanings else None

    def slices(self, plain: str) -> Iterable[Slice]:
        return self._phrases.slices(plain) if self._phrases else ()

    def read_mention(self, mention: str) -> FoundMention | None:
        text = mention.strip()
        if not text:
            return None
        start, value = mention.index(text), self._value_of(text)
        return FoundMention(
            start, start + len(text), self._cells.get(fold_value(value)) or (value,)
        )

    def _value_of(self, text: str) -> str:
        """Return the part of a mention that the column contains."""
        return text


class ZipCodes(ValueReader):
    """A reader of ZIP codes by their five digits. ZIP+4 codes are found anywhere in a text.

    Words of a list, such as cities, are found and read as well.

    >>> codes = ZipCodes()
    >>> codes.read_mention("00214-1234").cells, list(codes.slices("At 00214-1234 , zip 00214 ."))
    (('00214',), [(3, 13), (20, 25)])
    """

    planted: ClassVar[Mapping[str, str]] = MappingProxyType(
        {"a ZIP code": "Moved from |00214| .", "a ZIP code + 4": "Moved from |00214-1234| ."}
    )

    def slices(self, plain: str) -> Iterable[Slice]:
        codes = [found.span(found.lastindex or 0) for found in _FOUND.finditer(plain)]
        others = (one for one in super().slices(plain)
                  if not any(a <= one[0] and one[1] <= b for a, b in codes))  # fmt: skip
        return [*codes, *others]

    def _value_of(self, text: str) -> str:
        code = _ZIP.fullmatch(text)
        return code[1] if code else text


def read_words(path: Path, column: str) -> dict[str, tuple[str, ...]]:
    """Read a list of words: a table with the columns `words` and `column`.

    Raises
    ------
    RequestError : the table has no such columns, or no word.
    """
    source = open_source(str(path))
    if absent := [name for name in (WORDS, column) if name not in source.columns]:
        raise RequestError(
            f"the list of words has no column {absent[0]}",
            where=path.name,
            instead=f"give it the columns {WORDS} and {column}",
        )
    found: dict[str, set[str]] = {}
    for word, cell in zip(
        *(x.to_pylist() for x in source.read([WORDS, column]).columns), strict=True
    ):
        if word is not None and str(word).strip() and cell is not None:
            found.setdefault(str(word), set()).add(str(cell))
    if not found:
        raise RequestError("the list of words is empty", where=path.name)
    return {word: tuple(sorted(cells)) for word, cells in found.items()}
