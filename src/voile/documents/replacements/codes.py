"""Replace numbers, e-mail addresses, URLs and IP addresses by surrogates with a similar form.

All surrogates are pseudonymous: a keyed function of the subject and the value. The holder of the
secret can compute it for every value. Two short numbers of one subject may get the same surrogate.
"""

from __future__ import annotations

import re
import string
from ipaddress import IPv4Address, IPv6Address, ip_address

from voile.documents.replacements.draws import SurrogateDraws
from voile.documents.replacements.names import clean, fold

_EMAIL = re.compile(r"[^\s@,;]+@[^\s@,;]+")
_EMAILS = re.compile(rf"{_EMAIL.pattern}(?:[ ,;]+{_EMAIL.pattern})*")
_URL = re.compile(r"(https?://|ftp://)?(www\.)?\S+\.\S+", re.IGNORECASE)
_PIECES = re.compile(r"[^\W\d_]+|\d|.", re.DOTALL)
_MEANT_FOR_READERS = frozenset(["ext", "tel", "fax"])
_LONGEST = 200
_TRIES = 8

# RFC 5737 and RFC 3849: addresses that are never in use.
_DOCUMENTATION_4 = [int(IPv4Address(net)) for net in ("192.0.2.0", "198.51.100.0", "203.0.113.0")]
_DOCUMENTATION_6 = int(IPv6Address("2001:db8::"))


def scramble(draws: SurrogateDraws, value: str) -> str | None:
    """Replace the digits and letters of a number or code, or return None if none can change.

    The length, punctuation, capitals and leading zeros stay, but checksums do not. The result may
    be a number that belongs to a person. Values that differ only in punctuation or case get the
    same digits and letters.
    """
    value = clean(value)
    pieces = _PIECES.findall(value)
    if len(value) > _LONGEST or not any(one.isdecimal() for one in pieces):
        return None
    key = "".join(one for one in value if one.isalnum()).casefold()
    for attempt in range(_TRIES):
        new = _scramble_pieces(pieces, draws.number(f"digits {attempt}", key, len(key) + 16))
        if new != value:
            return new
    return None


def _scramble_pieces(pieces: list[str], stream: int) -> str:
    new: list[str] = []
    leading = True
    for piece in pieces:
        if piece.isdecimal():
            if leading and int(piece) == 0:
                new.append(piece)
                continue
            stream, digit = divmod(stream, 9 if leading else 10)
            new.append(str(digit + leading))
            leading = False
        elif piece.isalpha() and piece.casefold() not in _MEANT_FOR_READERS:
            for letter in piece:
                stream, place = divmod(stream, 26)
                drawn = string.ascii_lowercase[place]
                new.append(drawn.upper() if letter.isupper() else drawn)
        else:
            new.append(piece)
    return "".join(new)


def disguise(draws: SurrogateDraws, value: str) -> str:
    """Replace every letter and digit of a value that has no better surrogate.

    Any length is accepted.

    A value without letters and digits becomes three digits.
    """
    value = clean(value)
    parts = [value[start : start + _LONGEST] for start in range(0, len(value), _LONGEST)]
    new = "".join(_disguise_digits(draws, part, number) for number, part in enumerate(parts))
    return new if new != value else str(100 + draws.number("digits of nothing", value, 16) % 900)


def _disguise_digits(draws: SurrogateDraws, part: str, number: int) -> str:
    stream = draws.number(f"disguise {number}", part.casefold(), len(part) + 16)
    new = []
    for one in part:
        if one.isdecimal():
            stream, more = divmod(stream, 9)
            one = str((int(one) + 1 + more) % 10)
        elif one.isalpha():
            stream, more = divmod(stream, 25)
            place = (ord(fold(one)[:1] or one) - ord("a") + 1 + more) % 26
            one = chr(ord("A" if one.isupper() else "a") + place)
        new.append(one)
    return "".join(new)


def email(draws: SurrogateDraws, value: str) -> str | None:
    """Return one or more addresses at example.org, one for each address, independent of case."""
    value = clean(value)
    if not (_EMAILS.fullmatch(value) and value.isprintable()):
        return None
    return _EMAIL.sub(
        lambda match: f"{draws.code('e-mail', match.group().casefold())}@example.org", value
    )


def url(draws: SurrogateDraws, value: str) -> str | None:
    """Return a page of example.org, with the scheme and the www of the value."""
    value = clean(value)
    match = _URL.fullmatch(value)
    if match is None or not value.isprintable():
        return None
    scheme, www = (part or "" for part in match.groups())
    return f"{scheme}{www}example.org/{draws.code('url', value.casefold())}"


def ip(draws: SurrogateDraws, value: str) -> str | None:
    """Return an address from the ranges reserved for documentation."""
    try:
        address = ip_address(value.strip())
    except ValueError:
        return None
    for attempt in range(_TRIES):
        number = draws.number(f"ip {attempt}", str(address), 24)
        new: IPv4Address | IPv6Address
        if address.version == 4:
            host, net = number % 254 + 1, number // 254 % len(_DOCUMENTATION_4)
            new = IPv4Address(_DOCUMENTATION_4[net] + host)
        else:
            new = IPv6Address(_DOCUMENTATION_6 + number % 2**64)
        if new != address:
            return str(new)
    return None
