"""Find numbers that states and insurers assign to people, each with its issuer's check."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Sequence

from voile.documents.patterns.pattern import Slice

_MBI = "[AC-HJKMNP-RT-Y]"
"""The letters of a Medicare Beneficiary Identifier: no S, L, O, I, B, Z (CMS)."""
_MBI_ANY = "[0-9AC-HJKMNP-RT-Y]"


def _weigh_digits(digits: Sequence[int], weights: Sequence[int]) -> int:
    return sum(digit * weight for digit, weight in zip(digits, weights, strict=False))


def _is_nhs(number: str) -> bool:
    """Check a number of the NHS: weights 10 to 2, modulo 11."""
    digits = [*map(int, number)]
    return (11 - _weigh_digits(digits, range(10, 1, -1)) % 11) % 11 == digits[9] and len(
        {*digits}
    ) > 1


def _is_kvnr(number: str) -> bool:
    """Check a German Krankenversichertennummer: weights 1 and 2.

    The letter counts as its place in the alphabet.
    """
    digits = [int(one) for one in f"{ord(number[0]) - 64:02}{number[1:]}"]
    products = (digit * (1 + at % 2) for at, digit in enumerate(digits[:-1]))
    return sum(one // 10 + one % 10 for one in products) % 10 == digits[-1]


def _is_nir(number: str) -> bool:
    """Check a French NIR: 97 minus the number modulo 97.

    Corsica's 2A counts as 19, and 2B as 18.
    """
    plain = number.replace("2A", "19").replace("2B", "18")
    return plain.isdigit() and 97 - int(plain[:13]) % 97 == int(plain[13:])


def _is_cpf(number: str) -> bool:
    """Check a Brazilian CPF: two digits modulo 11."""
    digits = [*map(int, number)]
    checks = (_weigh_digits(digits, range(n + 1, 1, -1)) * 10 % 11 % 10 for n in (9, 10))
    return [*checks] == digits[9:] and len({*digits}) > 1


def _is_luhn(number: str) -> bool:
    digits = [*map(int, number)]
    doubled = (sum(divmod(2 * digit, 10)) for digit in digits[-2::-2])
    return (sum(digits[-1::-2]) + sum(doubled)) % 10 == 0 and len({*digits}) > 2


def _is_medicare_au(number: str) -> bool:
    """Check an Australian Medicare number: weights 1, 3, 7, 9 twice, modulo 10."""
    digits = [*map(int, number)]
    return _weigh_digits(digits, (1, 3, 7, 9, 1, 3, 7, 9)) % 10 == digits[8]


_ODD = dict(
    zip(
        "0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZ",
        [
            1,
            0,
            5,
            7,
            9,
            13,
            15,
            17,
            19,
            21,
            1,
            0,
            5,
            7,
            9,
            13,
            15,
            17,
            19,
            21,
            2,
            4,
            18,
            20,
            11,
            3,
            6,
            8,
            12,
            14,
            16,
            10,
            22,
            25,
            24,
            23,
        ],
        strict=True,
    )
)


def _is_codice_fiscale(number: str) -> bool:
    """Check an Italian codice fiscale: a special table for odd places, modulo 26."""
    odd = sum(_ODD[one] for one in number[:15:2])
    even = sum(int(one, 36) - 10 * one.isalpha() for one in number[1:15:2])
    return chr(65 + (odd + even) % 26) == number[15]


def _multiply(i: int, j: int) -> int:
    """Multiply two elements of the dihedral group of the pentagon."""
    turned = (i + j if i < 5 else i - j) % 5
    return turned + 5 * ((i < 5) != (j < 5))


_P = [[*range(10)], [1, 5, 7, 6, 2, 8, 3, 0, 9, 4]]
for _ in range(6):
    _P.append([_P[-1][one] for one in _P[1]])


def _is_verhoeff(number: str) -> bool:
    """Check an Indian Aadhaar number by Verhoeff's scheme."""
    check = 0
    for at, one in enumerate(reversed(number)):
        check = _multiply(check, _P[at % 8][int(one)])
    return check == 0


def _is_pps(number: str) -> bool:
    """Check an Irish PPS number: weights 8 to 2, modulo 23; a second letter has weight 9."""
    second = (ord(number[8]) - 64) * 9 if len(number) > 8 and number[8] != "W" else 0
    rest = (_weigh_digits([*map(int, number[:7])], range(8, 1, -1)) + second) % 23
    return "WABCDEFGHIJKLMNOPQRSTUV"[rest] == number[7]


def _always(_: str) -> bool:
    return True


_FORMS: tuple[tuple[str, Callable[[str], bool]], ...] = (
    (r"[0-9]{3} [0-9]{3} [0-9]{4}", _is_nhs),
    (rf"[1-9]{_MBI}{_MBI_ANY}[0-9]-?{_MBI}{_MBI_ANY}[0-9]-?{_MBI}{{2}}[0-9]{{2}}", _always),
    (r"[A-Z][0-9]{9}", _is_kvnr),
    (
        r"[12] ?[0-9]{2} ?(?:0[1-9]|1[0-2]|[2-9][0-9]) ?(?:[0-9]{2}|2[AB])"
        r"(?: ?[0-9]{3}){2} ?[0-9]{2}",
        _is_nir,
    ),
    (r"[0-9]{3}\.[0-9]{3}\.[0-9]{3}-[0-9]{2}", _is_cpf),
    (r"[1-9][0-9]{2}([ -])[0-9]{3}\1[0-9]{3}", _is_luhn),  # Canada's SIN
    (r"[2-6][0-9]{3} [0-9]{5} [0-9](?: ?[0-9])?", _is_medicare_au),
    (r"[A-Z]{6}[0-9]{2}[ABCDEHLMPRST][0-9]{2}[A-Z][0-9]{3}[A-Z]", _is_codice_fiscale),
    (r"[2-9][0-9]{3}([ -])[0-9]{4}\1[0-9]{4}", _is_verhoeff),
    (r"[0-9]{7}[A-W][A-IW]?", _is_pps),
    (r"(?:[0-9]{2})?[0-9]{2}[01][0-9][0-3][0-9][-+][0-9]{4}", lambda one: _is_luhn(one[-10:])),
    (
        r"(?!BG|GB|NK|KN|TN|NT|ZZ)[A-CEGHJ-PR-TW-Z][A-CEGHJ-NPR-TW-Z](?: ?[0-9]{2}){3} ?[A-D]",
        _always,
    ),
)
_START = re.compile(r"(?<![^\W_]|[.,/-])(?=[0-9]{1,4}[0-9A-Z -]|[A-Z]{1,6} ?[0-9])[0-9A-Z]")
_PATTERNS = tuple(
    (re.compile(rf"(?:{form})(?![^\W_]|[.,/-][0-9])"), check) for form, check in _FORMS
)


def health_ids(plain: str) -> Iterator[Slice]:
    """Find numbers of health insurers and population registers, with their check digits.

    The numbers in Europe are NHS and National Insurance (UK), KVNR (Germany), NIR (France), codice
    fiscale (Italy), PPS (Ireland) and personnummer (Sweden). Elsewhere they are Medicare (US,
    Australia), CPF (Brazil), SIN (Canada) and Aadhaar (India). The US Medicare number and the
    National Insurance number have no check digit.
    """
    end = 0
    for begin in _START.finditer(plain):
        start = begin.start()
        if start < end:
            continue
        for form, check in _PATTERNS:
            match = form.match(plain, start)
            if match and check(re.sub(r"[^0-9A-Z]", "", match.group())):
                end = match.end()
                yield start, end
                break
