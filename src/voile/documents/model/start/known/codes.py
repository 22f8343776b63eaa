"""Find known numbers and codes with any separators, with or without leading zeros."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Mapping

import numpy as np

from voile.documents.model.start.known.owned import FoundValue, Longs, OwnedKeys
from voile.documents.model.start.known.parts import TokenParts, code_of
from voile.documents.patterns.phones import CALLING_CODE

SHORTEST = 3
"""The fewest characters of a code, without leading zeros. A shorter code occurs in every note."""
SURE = 5
"""The characters of a code that cannot be another number by chance."""
PARTS = 8  # the most parts of a code
_EXTENSION = re.compile(r"\s*(?:x|ext\.?|extension)\s*\d+$", re.IGNORECASE)
_ABROAD = re.compile(r"\+|00")
_PREFIX = re.compile(r"[A-Z]+(?=\d{5,}$)")
_CALLING = re.compile(r"(?:\(?(?:\+|\b00)\d{1,3}\)?[ .-]?|\+)?\(?\Z")
_CALLING_LONGEST = 10
_NATIONAL, _LOCAL = 10, 7  # digits of a telephone number in North America
_LEAST_PHONE = 6


def codes_of(kind: str, value: str) -> Iterator[str]:
    """Yield the forms of a value in a note: the code, and the code without its prefix.

    >>> sorted(codes_of("phone", "+34 91 234 56 78 ext. 9"))
    ['34912345678', '912345678']
    >>> sorted(codes_of("phone", "34912345678"))
    ['34912345678', '912345678']
    >>> sorted(codes_of("id", "MRN-0012345"))
    ['12345', 'MRN0012345']
    """
    if kind == "phone":
        yield from _phone(_EXTENSION.sub("", value))
    elif len(code := code_of(value)) >= SHORTEST and sum(map(str.isdigit, code)) >= SHORTEST:
        yield code
        if prefix := _PREFIX.match(code):
            yield code[prefix.end() :].lstrip("0")


def _phone(value: str) -> Iterator[str]:
    digits = "".join(filter(str.isdecimal, value))
    numbers = {digits.lstrip("0")}
    if _ABROAD.match(value.lstrip("( ")) and (code := CALLING_CODE.match(digits.lstrip("0"))):
        numbers.add(digits.lstrip("0")[code.end() :].lstrip("0"))
    elif len(digits) > _NATIONAL and (code := CALLING_CODE.match(digits)):
        numbers.add(digits[code.end() :].lstrip("0"))  # numbers in tables often lack the +
    numbers |= {one[-_LOCAL:].lstrip("0") for one in numbers if len(one) == _NATIONAL}
    yield from (one for one in numbers if len(one) >= _LEAST_PHONE)


def find_codes(
    parts: TokenParts, values: OwnedKeys, whose: Longs, codes: Mapping[int, str]
) -> Iterable[FoundValue]:
    """Find the codes of each document's people; `codes` maps items of `values` to codes."""
    at = np.arange(len(parts.token))
    total = parts.code
    for more in range(PARTS):
        query, item = values.meet(whose[at], total)
        first = at[query]
        texts = zip(parts.texts(first, first + more), item.tolist(), strict=True)
        same = [text == codes[number] for text, number in texts]
        yield from parts.list_found(first[same], first[same] + more, item[same])
        on = parts.code_links[at + more]
        at = at[on]
        with np.errstate(over="ignore"):
            total = total[on] * parts.power[at + more + 1] + parts.code[at + more + 1]


def with_calling_code(text: str, start: int, end: int) -> int:
    """Return the start of a telephone number, including a calling code and a bracket before it."""
    opening = _CALLING.search(text, max(0, start - _CALLING_LONGEST), start)
    if opening is None or (opening.group() == "(" and ")" not in text[start:end]):
        return start
    return opening.start()
