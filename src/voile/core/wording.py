"""Wording that all messages share."""

from __future__ import annotations

import re
from unicodedata import category

_CONTROLS = ("Cc", "Cf", "Cs", "Zl", "Zp")
_JOINERS = "\u00ad\u200c\u200d"
"""Invisible characters that belong to the spelling of words in some languages."""
_FOREIGN = re.compile(r"(?!\r\n)[^ -~\t\n]")


def count(n: int, noun: str) -> str:
    """Write a count with its noun, in the singular or the plural.

    >>> count(1, "policy"), count(1200, "policy"), count(0, "row")
    ('1 policy', '1,200 policies', '0 rows')
    """
    plural = f"{noun[:-1]}ies" if noun.endswith("y") else f"{noun}s"
    return f"{n:,} {noun if n == 1 else plural}"


def visible(text: str) -> str:
    r"""Replace invisible control characters and marks of writing direction by their code points.

    >>> visible("a\u202eb\r\n")
    'a⟨U+202E⟩b\r\n'
    """
    return _FOREIGN.sub(lambda found: _show_character(found[0]), text)


def _show_character(one: str) -> str:
    obeyed = one not in _JOINERS and category(one) in _CONTROLS
    return f"⟨U+{ord(one):04X}⟩" if obeyed else one
