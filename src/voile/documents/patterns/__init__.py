"""Patterns for identifiers that have a recognisable form, and lists of phrases."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from types import MappingProxyType

from voile.core.errors import RequestError, nearest
from voile.documents.patterns.health_numbers import health_ids
from voile.documents.patterns.network import emails, ips, macs, urls
from voile.documents.patterns.numbers import cards, dnis, ibans, ssns
from voile.documents.patterns.pattern import TextPattern
from voile.documents.patterns.phones import phones
from voile.documents.patterns.records import record_pattern

PATTERNS: Mapping[str, TextPattern] = MappingProxyType(
    {
        pattern.name: pattern
        for pattern in (
            TextPattern("iban", "IBAN", ibans, checked=True),
            TextPattern("card", "CARD", cards, checked=True),
            TextPattern("ssn", "SSN", ssns),
            TextPattern("dni", "DNI", dnis, checked=True),
            TextPattern("health-id", "ID", health_ids, checked=True),
            TextPattern("email", "EMAIL", emails),
            TextPattern("url", "URL", urls),
            TextPattern("ip", "IP", ips),
            TextPattern("mac", "MAC", macs),
            TextPattern("phone", "PHONE", phones),
        )
    }
)
"""The built-in patterns, most certain first.

If two matches are equal, the first pattern gives the label.
"""


def patterns_of(
    names: Iterable[str] | None = None, records: Iterable[str] = ()
) -> tuple[TextPattern, ...]:
    """Return the patterns for some record formats, and the named built-in patterns (None: all)."""
    asked = set(PATTERNS if names is None else names)
    for name in sorted(asked - set(PATTERNS)):
        raise RequestError(f"there is no pattern {name}", instead=nearest(name, PATTERNS))
    built_in = (pattern for name, pattern in PATTERNS.items() if name in asked)
    return (*map(record_pattern, records), *built_in)
