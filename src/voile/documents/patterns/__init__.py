"""Identifiers that their form gives away, and lists of phrases."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from types import MappingProxyType

from voile.core.errors import RequestError, nearest
from voile.documents.patterns.health_numbers import health_ids
from voile.documents.patterns.network import emails, ips, macs, urls
from voile.documents.patterns.numbers import cards, dnis, ibans, ssns
from voile.documents.patterns.pattern import Finder, Pattern, find
from voile.documents.patterns.phones import phones
from voile.documents.patterns.phrase_list import PhraseList
from voile.documents.patterns.records import record_pattern

__all__ = ["PATTERNS", "Finder", "Pattern", "PhraseList", "find", "patterns_of", "record_pattern"]

PATTERNS: Mapping[str, Pattern] = MappingProxyType(
    {
        pattern.name: pattern
        for pattern in (
            Pattern("iban", "IBAN", ibans, checked=True),
            Pattern("card", "CARD", cards, checked=True),
            Pattern("ssn", "SSN", ssns),
            Pattern("dni", "DNI", dnis, checked=True),
            Pattern("health-id", "ID", health_ids, checked=True),
            Pattern("email", "EMAIL", emails),
            Pattern("url", "URL", urls),
            Pattern("ip", "IP", ips),
            Pattern("mac", "MAC", macs),
            Pattern("phone", "PHONE", phones),
        )
    }
)
"""The built-in patterns, the surest first: of two that find as much, the first gives the label."""


def patterns_of(
    names: Iterable[str] | None = None, records: Iterable[str] = ()
) -> tuple[Pattern, ...]:
    """Return the patterns of these names (None: all), after those of these record formats."""
    asked = set(PATTERNS if names is None else names)
    for name in sorted(asked - set(PATTERNS)):
        raise RequestError(f"there is no pattern {name}", instead=nearest(name, PATTERNS))
    built_in = (pattern for name, pattern in PATTERNS.items() if name in asked)
    return (*map(record_pattern, records), *built_in)
