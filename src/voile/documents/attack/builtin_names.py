"""The public lists from which voile draws surrogate names, as an adversary would use them."""

from __future__ import annotations

from functools import cache

from voile.documents.attack.mentions import compared_words
from voile.documents.replacements.names import LANGUAGES, PARTICLES, TITLES, builtin_names, fold

NAMED = ("female", "male", "surnames")


@cache
def builtin_words() -> frozenset[str]:
    """Return the words of names on voile's public surrogate lists, and of titles."""
    found = {word for names in _builtin_names().values() for name in names for word in name}
    return frozenset(found | TITLES | PARTICLES | {"and", "don", "doña"})


@cache
def builtin_lists() -> dict[str, frozenset[str]]:
    """Return the folded words of each of voile's lists of names."""
    return {
        what: frozenset(fold(word) for name in names for word in name)
        for what, names in _builtin_names().items()
    }


def _builtin_names() -> dict[str, list[tuple[str, ...]]]:
    """Return the words of each name of each list."""
    return {
        f"{language} {part}": [
            compared_words(name) for name in getattr(builtin_names(language), part)
        ]
        for language in LANGUAGES
        for part in NAMED
    }
