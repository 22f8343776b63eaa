"""Describe content types without any names of people that they may contain."""

from __future__ import annotations

from mimetypes import MimeTypes

SUFFIXES = MimeTypes().types_map[True]
_CONTENTS = frozenset(SUFFIXES.values())


def name_content_kind(content: str) -> str:
    """Return a known content type, the first half of an unknown one, or "an unknown kind".

    >>> name_content_kind("application/PDF"), name_content_kind("image/x-ann-may")
    ('application/pdf', 'image')
    >>> name_content_kind("ann")
    'an unknown kind'
    """
    kind = content.strip().lower()
    first = kind.partition("/")[0]
    if kind in _CONTENTS:
        return kind
    return first if first in {one.partition("/")[0] for one in _CONTENTS} else "an unknown kind"
