"""Find numbers that a state or a bank issues, and verify their checksums."""

from __future__ import annotations

import re
from collections.abc import Iterator
from itertools import chain

from voile.documents.patterns.pattern import Slice

# An underscore does not begin or end a word: _078-05-1120_. A group may be at the end of a line.
_LINE = r"[ \t]{0,4}\r?\n[ \t]{0,4}"
_SIGN = rf"(?:[ .-]?{_LINE}|[ .-])"
_SSN = re.compile(
    rf"\d(?<!\d\d)(?<!\d[-. ]\d)\d\d{_SIGN}?(?!00)\d\d{_SIGN}?(?!0000)\d{{4}}"
    r"(?![^\W_])(?![-. ]\d)"
)
_CUE = re.compile(
    r"(?<![^\W\d_])(?:SSN|SS ?(?:no|num|number|#)|soc(?:ial|\.)? sec(?:urity|\.)?)"
    r"(?![^\W\d_])[^\d\n]{0,16}\Z",
    re.IGNORECASE,
)
_CLOSE = 48
_CARD = re.compile(
    rf"\d(?<![^\W_]\d)(?:\d{{11,18}}|\d{{3}}{_SIGN}"
    rf"(?:\d{{4}}{_SIGN}\d{{4}}{_SIGN}\d{{4}}(?:{_SIGN}\d{{1,3}})?|\d{{6}}{_SIGN}\d{{4,5}}))(?![^\W_])"
)
_IBAN = re.compile(
    r"\d\d(?<=[A-Za-z]{2}\d\d)(?<![^\W_][A-Za-z]{2}\d\d)"
    rf"(?=((?:{_SIGN}?[A-Za-z0-9]{{4}}){{2,7}}+(?:{_SIGN}?[A-Za-z0-9]{{1,3}})?))"
)
_DNI_SIGN = rf"(?:-{_LINE}|[- ]?)"
_DNI = re.compile(rf"\d(?<![^\W_]\d)(?:\d{{7}}|\d\.\d{{3}}\.\d{{3}}){_DNI_SIGN}[A-Za-z](?![^\W_])")
_NIE = re.compile(rf"[XYZxyz](?<![^\W_].){_DNI_SIGN}\d{{7}}{_DNI_SIGN}[A-Za-z](?![^\W_])")
_DNI_LETTERS = "TRWAGMYFPDXBNJZSQVHLCKE"
# ISO 13616: the length of each country's IBAN.
_IBAN_LENGTHS = dict(
    re.findall(
        r"(..)(\d\d)",
        "AD24 AE23 AL28 AT20 AZ28 BA20 BE16 BG22 BH22 BI27 BR29 BY28 CH21 CR22 CY28 CZ24 DE22 "
        "DJ27 DK18 DO28 EE20 EG29 ES24 FI18 FK18 FO18 FR27 GB22 GE22 GI23 GL18 GR27 GT28 HR21 "
        "HU28 IE22 IL23 IQ23 IS26 IT27 JO30 KW30 KZ20 LB28 LC32 LI21 LT20 LU20 LV21 LY25 MC27 "
        "MD24 ME22 MK19 MN20 MR27 MT31 MU30 NI28 NL18 NO15 OM23 PK24 PL28 PS29 PT25 QA29 RO24 "
        "RS22 RU33 SA24 SC31 SD18 SE24 SI19 SK24 SM27 SO23 ST25 SV28 TL23 TN24 TR26 UA29 VA22 "
        "VG24 XK20 YE30",
    )
)


def ssns(plain: str) -> Iterator[Slice]:
    """Find US social security numbers, in groups of 3, 2 and 4, or without groups after a cue.

    The cue is a term such as SSN shortly before the number. Areas 000, 666 and 900 to 999, group 00
    and serial 0000 were never issued (Social Security Administration, randomisation of 2011).
    """
    for match in _SSN.finditer(plain):
        number, start = match.group(), match.start()
        if number[:3] in ("000", "666") or number[0] == "9":
            continue
        if len(re.findall(r"\D+", number)) == 1 or not _of_one_sign(number):
            continue
        sure = not number.isdigit() and not plain[start - 1 : start].isalpha()
        if sure or _CUE.search(plain, max(0, start - _CLOSE), start):
            yield match.span()


def cards(plain: str) -> Iterator[Slice]:
    """Find payment cards: 12 to 19 digits, with or without groups, with Luhn's check (ISO 7812)."""
    for match in _CARD.finditer(plain):
        digits = [int(one) for one in match.group() if one.isdigit()]
        if _luhn(digits) and _of_one_sign(match.group()):
            yield match.span()


def ibans(plain: str) -> Iterator[Slice]:
    """Find bank accounts: the country's length, and 1 modulo 97 (ISO 13616)."""
    for match in _IBAN.finditer(plain):
        start = match.start() - 2
        places = [at for at in range(start, match.end(1)) if plain[at].isalnum()]
        length = int(_IBAN_LENGTHS.get(plain[start : start + 2].upper(), 99))
        if len(places) < length:
            continue
        end = places[length - 1] + 1
        account = "".join(plain[at] for at in places[:length])
        whole_word = not plain[end : end + 1].isalnum()
        if (
            whole_word
            and int("".join(str(int(c, 36)) for c in account[4:] + account[:4])) % 97 == 1
        ):
            yield start, end


def dnis(plain: str) -> Iterator[Slice]:
    """Find Spanish DNI and NIE numbers: the letter encodes the number modulo 23."""
    for match in chain(_DNI.finditer(plain), _NIE.finditer(plain)):
        found = re.sub(r"[-.\s]", "", match.group()).upper()
        number = int(found[:-1].translate(str.maketrans("XYZ", "012")))
        if _DNI_LETTERS[number % 23] == found[-1]:
            yield match.span()


def _of_one_sign(number: str) -> bool:
    """Return whether one sign separates all groups, with at most one line break."""
    lines = re.sub(r"[ \t]*\r?\n[ \t]*", "\n", number)
    signs = re.findall(r"\D+", lines)
    plain = {sign.strip("\n") for sign in signs if sign != "\n"}
    return lines.count("\n") < 2 and len(plain) < 2


def _luhn(digits: list[int]) -> bool:
    doubled = (sum(divmod(2 * digit, 10)) for digit in digits[-2::-2])
    return (sum(digits[-1::-2]) + sum(doubled)) % 10 == 0
