"""The look of a token, which the decoder uses: a word, a number, an initial, or a sign."""

from __future__ import annotations

WORD, LOWER, INITIAL, POSSESSIVE, NUMBER = range(5)
"""Looks of tokens with a letter or a digit.

LOWER has only lower-case letters, NUMBER has a digit, and POSSESSIVE is an s. INITIAL is one
capital, or an abbreviation that has a full stop within a name.
"""
HYPHEN, APOSTROPHE, DOT, SLASH, COLON, COMMA, INNER, BARRIER = range(5, 13)
"""Looks of signs. INNER may occur within an identifier, and BARRIER may not."""
FIRST_SIGN = HYPHEN
_SIGNS = {
    **dict.fromkeys("-_@–‐", HYPHEN),
    **dict.fromkeys("'’", APOSTROPHE),
    ".": DOT,
    "/": SLASH,
    ":": COLON,
    ",": COMMA,
    **dict.fromkeys("()&#ºª°", INNER),
}
_STOPPED = frozenset(
    (
        *(
            "jr",
            "sr",
            "st",
            "ste",
            "dr",
            "mr",
            "mrs",
            "ms",
            "prof",
            "ave",
            "rd",
            "blvd",
            "dra",
            "sra",
        ),
        *("avda", "av", "pza", "urb", "ctra", "hosp", "univ", "gral", "sta", "sto", "num", "apt"),
    )
)


def look_of(form: str) -> int:
    """Return the look of a token's normalised form."""
    if not form[0].isalnum():
        return _SIGNS.get(form, BARRIER)
    if any(map(str.isdigit, form)):
        return NUMBER
    if len(form) == 1:
        return POSSESSIVE if form == "s" else INITIAL if form.isupper() else LOWER
    return INITIAL if form.lower() in _STOPPED else LOWER if form.islower() else WORD
