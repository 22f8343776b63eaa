"""Find network addresses: e-mail, URL, IP and MAC.

Each pattern first finds a character that the address must contain (an @, a dot, a colon). It then
extends the match to both sides. So a text without such a character costs almost nothing, and no
text costs more than one pass.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from contextlib import suppress
from ipaddress import ip_address

from voile.documents.patterns.pattern import Slice

_LONGEST = 320  # the most characters to look back; an e-mail address is not longer
_LOCAL = re.compile(r"[\w.+%'-]+")
_DOMAIN = re.compile(r"@ ?[\w-]++(?:\.[\w-]++)++|@[^\W\d_][\w-]++")
_SCHEME = re.compile(r"://")
_BEFORE_SCHEME = re.compile(r"[\w.+-]+")
_AFTER_SCHEME = re.compile(r"[^\s<>\"]+")
_HOST = re.compile(
    r"\.(?:(?<=[wW]{3}\.)(?<![^\W_]...\.)\w|(?:com|org|net|edu|gov|mil|info)(?![^\W_]))"
)
_BEFORE_HOST = re.compile(r"[\w.-]+")
_AFTER_HOST = re.compile(r"[\w.-]*+(?::\d++)?+(?:[/?#][^\s<>\"]*+)?+")
_NO_END = ".,;:!?)]}'*_"
# A word does not begin or end at an underscore: 192.0.2.17_
_V4 = re.compile(r"\d(?<![^\W_]\d)(?<!\.\d)\d{0,2}(?:\.\d{1,3}){3}(?!\.?\d)(?![^\W_])")
_TWO_COLONS = re.compile(r":[0-9A-Fa-f]{0,4}:")
_V6 = re.compile(
    r"(?<![^\W_])(?<![:.])[0-9A-Fa-f:]{2,39}+(?:(?<=:)\d{1,3}(?:\.\d{1,3}){3})?(?![^\W_]|:)"
)
_MAC = re.compile(
    r"[:-](?<=[0-9A-Fa-f]{2}[:-])(?<![^\W_]..[:-])(?:[0-9A-Fa-f]{2}[:-]){4}"
    r"[0-9A-Fa-f]{2}(?![^\W_])"
)
_MAC_IN_FOURS = re.compile(
    r"\.(?<=[0-9A-Fa-f]{4}\.)(?<![^\W_]....\.)(?<![.]....\.)"
    r"[0-9A-Fa-f]{4}\.[0-9A-Fa-f]{4}(?!\.?[^\W_])"
)
_QUOTED = re.compile(r'"[^"\n]{1,64}"')


def emails(plain: str) -> Iterator[Slice]:
    """Find e-mail addresses: a local part, an @, and a host that does not end in a number.

    The local part may be quoted ("john doe"@). One blank may follow the @ if the host has a dot.
    """
    for host in _DOMAIN.finditer(plain):
        named = _QUOTED if plain[host.start() - 1 : host.start()] == '"' else _LOCAL
        start = _back(plain, host.start(), named)
        if start < host.start() and not host.group().rpartition(".")[2].isdigit():
            yield start, host.end()


def urls(plain: str) -> Iterator[Slice]:
    """Find links with a scheme, with a leading www., or on a host of the oldest generic domains."""
    yield from _links(plain, _SCHEME, _BEFORE_SCHEME, _AFTER_SCHEME)
    for start, end in _links(plain, _HOST, _BEFORE_HOST, _AFTER_HOST):
        if plain[start - 1 : start] != "@":  # otherwise it is an e-mail address
            yield start, end


def _links(
    plain: str, sign: re.Pattern[str], before: re.Pattern[str], after: re.Pattern[str]
) -> Iterator[Slice]:
    end = 0
    for match in sign.finditer(plain):
        if match.start() < end:
            continue
        start = max(end, _back(plain, match.start(), before))
        if start < match.start() and (rest := after.match(plain, match.end())):
            end = match.end() + len(rest.group().rstrip(_NO_END))
            yield start, end


def ips(plain: str) -> Iterator[Slice]:
    """Find IPv4 and IPv6 addresses that the standard library accepts."""
    for match in _V4.finditer(plain):
        if all(int(part) < 256 for part in match.group().split(".")):
            yield match.span()
    if _TWO_COLONS.search(plain):
        for match in _V6.finditer(plain):
            # a::b is more likely a name in a program than an address
            if any(one.isdigit() for one in match.group()):
                with suppress(ValueError):
                    ip_address(match.group())
                    yield match.span()


def macs(plain: str) -> Iterator[Slice]:
    """Find MAC addresses: six pairs, or three groups of four that contain a digit."""
    for match in _MAC.finditer(plain):
        yield match.start() - 2, match.end()
    for match in _MAC_IN_FOURS.finditer(plain):
        start, end = match.start() - 4, match.end()
        if any(one.isdigit() for one in plain[start:end]):
            yield start, end


def _back(plain: str, end: int, run: re.Pattern[str]) -> int:
    """Return the start of the run that ends at `end`, at most `_LONGEST` before it."""
    match = run.match(plain[max(0, end - _LONGEST) : end][::-1])
    return end - match.end() if match else end
