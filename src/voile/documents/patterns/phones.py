"""Find telephone and fax numbers.

The form of a number is weak evidence: every country groups digits differently, and invented or
mistyped numbers follow no plan. A run of digits counts as a telephone number in three cases:

- It has a country's calling code after + or 00 (ITU-T E.164) and 7 to 15 digits in total.
- It has six digits or more, does not have the form of a date, and has a cue. The cue may be a word
  such as phone, Tel., móvil or call shortly before it. It may also be office, mobile or fax
  directly after it, or another telephone number directly before it.
- It has a form that is typical of telephone numbers in some country and rare elsewhere. The form is
  an area code in brackets, a leading 0 and groups, or 3-3-4 (North America). It may also be nine
  digits that start with 6 or more, without groups or in Spain's groups. It does not count in a row
  of other figures, such as a table row, or as an amount of money.

An extension (x12, ext. 12) belongs to its number.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence

from voile.documents.patterns.pattern import Slice

_EXTENSION = r"(?:[ ]?(?:x|ext\.?|extension)[ ]?\d{1,6}(?![^\W_]))?"
# A number continues on the next line only after a hyphen or a bracket, because the next line may
# begin with another number.
_LINE = r"[ \t]{0,4}\r?\n[ \t]{0,4}"
# A match starts only at the beginning of a group of digits, without backtracking. A slash separates
# an area code, 030/901820, but not a date, 12/03/1999, or a pressure, 120/80.
_RUN = re.compile(
    r"\d(?<![^\W_]\d)\d*+"
    rf"(?:(?:[ .-]|[ .-]?[()]{{1,2}}[ .-]?|- | - |[-)]{_LINE}"
    r"|(?<=\d\d)/(?=\d{3}(?!\d(?!\d))))\d++)*+" + _EXTENSION,
    re.IGNORECASE,
)
_OPENING = re.compile(r"\+[( ]{0,2}\Z|\(\+?[ ]?\Z")
_CLOSE = 48
_WORD_BEFORE = re.compile(
    r"(?<![^\W\d_])(?:t[eé]l[^\W\d_]{0,9}|tlf|tfno?|(?:cell)?phones?|(?:tele)?fax|m[oó]vil|mobile?|"
    r"cellular|pager|beeper|handy|whatsapp|call(?:ed|ing)?|dial|llam[ae]r?|"
    r"(?:cell|desk|office|home|work|direct)(?=:))(?![^\W\d_])"
    r"[^\d\n]{0,16}(?:\n{1,2}[^\d\n]{0,4})?\Z",
    re.IGNORECASE,
)
_WORD_AFTER = re.compile(r"[ -]{0,3}(?:office|mobile?|cell|fax|pager)\b", re.IGNORECASE)
_NEXT = re.compile(r" ?(?:[/,;&-]|or|and|y|o)? ?")
_DATE = re.compile(r"\d{1,2}([.-])\d{1,2}\1(?:\d\d){1,2}|\d{4}([.-])\d\d?\2\d\d?")
_BEFORE_AMOUNT = re.compile(r"(?:[$€£¥]|(?<![^\W\d_])(?:USD|EUR|GBP)) ?\Z")
_AFTER_AMOUNT = re.compile(
    r" ?(?:[$€£¥%]|(?:USD|EUR|GBP|euros?|dollars?|pesos?|pesetas?|pounds?|shares|points|votes)"
    r"(?![^\W\d_]))",
    re.IGNORECASE,
)
CALLING_CODE = re.compile(
    "1|7|2(?:[07]|[1-689][0-9])|3(?:[0-469]|[578][0-9])|4(?:[013-9]|2[0-9])|5(?:[1-8]|[09][0-9])|"
    "6(?:[0-6]|[789][0-9])|8(?:[1246]|[0578][0-9])|9(?:[0-58]|[679][0-9])"
)
_NATIONAL = re.compile(
    r"""(?<![\d.-])(?:
        \(\d{2,5}\)[ .-]?\d{2,4}(?:[ .-]?\d{2,4}){1,2}
        |(?:1[ .-])?\(?[2-9]\d\d(?:\)?[ .-]?|/|[-)]LINE)[2-9]\d\d(?:[ .-]|-LINE)\d{4}
        |0[1-9]\d{0,3}(?:[ .-]\d{2,4}){2,4}
        |0[1-9]\d{1,3}[ /-]\d{5,8}
        |(?:34[ .-]?)?[6-9]\d\d(?:\d{6}|[ -]?\d{3}[ -]?\d{3}|(?:[ .-]\d\d){3})
        |(?:34[ .-]?)?[89]\d[ .-]\d{3}(?:[ .-]\d\d){2}
    )""".replace("LINE", _LINE)
    + _EXTENSION
    + r"(?![.-]?\d)(?![^\W\d_])",
    re.VERBOSE | re.IGNORECASE,
)


def phones(plain: str) -> Iterator[Slice]:
    last = 0
    for run in _RUN.finditer(plain):
        digits = "".join(filter(str.isdigit, run.group()))
        if len(digits) < 6:
            continue
        start, end = run.span()
        if opening := _OPENING.search(plain, max(0, start - 3), start):
            start = opening.start()
            if plain[start] == "(" and ")" not in run.group():
                start += 1
        if _international(plain[start : run.start()], digits) or _is_called(
            plain, start, end, last
        ):
            yield start, end
            last = end
            continue
        for found in _national(plain, start, end):
            yield found
            last = found[1]


def _national(plain: str, start: int, end: int) -> Sequence[Slice]:
    """Find the numbers of a run that have the form of a telephone number.

    They must contain all figures of the run, and must not be an amount. A table row of scores or
    prices contains more figures than telephone numbers.
    """
    # include the following characters
    found = [match.span() for match in _NATIONAL.finditer(plain, start, end + 2)]
    bounds = [start, *(place for one in found for place in one), end]
    rest = "".join(plain[a:b] for a, b in zip(bounds[::2], bounds[1::2], strict=True))
    if _BEFORE_AMOUNT.search(plain, max(0, start - 5), start) or _AFTER_AMOUNT.match(plain, end):
        return []
    return [] if any(map(str.isdecimal, rest)) else found


def _international(opening: str, digits: str) -> bool:
    if "+" in opening:
        return len(digits) >= 7 and CALLING_CODE.match(digits) is not None
    return digits[:2] == "00" and len(digits) >= 11 and CALLING_CODE.match(digits, 2) is not None


def _is_called(plain: str, start: int, end: int, last: int) -> bool:
    """Return whether nearby words mark a telephone number.

    `last` is the end of the previous number.
    """
    if _DATE.fullmatch(plain, start, end):
        return False
    if last and start - last < 6 and _NEXT.fullmatch(plain, last, start):
        return True
    before = _WORD_BEFORE.search(plain, max(0, start - _CLOSE), start)
    return before is not None or _WORD_AFTER.match(plain, end) is not None
