"""Find record numbers in a format that the user gives.

A format is read character by character:

| in the format | matches |
| --- | --- |
| `#` or `9` | a digit |
| `@` | a letter |
| `*` | a letter or a digit |
| a blank | one to three blanks |
| `\\` and a character | that character |
| any other character | itself, in either case |

So `MRN-######` finds MRN-004711, and `@@999` finds ab123. Only whole words match: with a seventh
digit, or a letter directly before it, the number does not match. A word ends at an underscore.

For other forms, give a regular expression between slashes, such as `/MRN:? ?[0-9]{5,8}/`. It must
be fast on any text. So `*`, `+`, `{5,}` and back-references are refused. An expression that can
match in more than `MOST_WAYS` ways from one position is also refused.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from math import inf, prod
from re import _parser as parser  # type: ignore[attr-defined]  # the one reader of its grammar
from typing import Any

from voile.core.errors import RequestError
from voile.documents.patterns.pattern import Slice, TextPattern
from voile.documents.words.normalisation import normalise

MOST_WAYS = 500
_WIDEST = 200
_CLASSES = {"#": r"\d", "9": r"\d", "@": r"[^\W\d_]", "*": r"[^\W_]", " ": r"[ \t]{1,3}"}


def record_pattern(format: str) -> TextPattern:
    plain = normalise(format).text.strip()
    is_expression = len(plain) > 2 and plain[0] == plain[-1] == "/"
    expression = (
        _check_expression(plain[1:-1], format) if is_expression else _compile_format(plain, format)
    )
    whole = re.compile(rf"(?<![^\W_])(?:{expression})(?![^\W_])", re.IGNORECASE)

    def slices(plain: str) -> Iterator[Slice]:
        return (match.span() for match in whole.finditer(plain))

    return TextPattern(f"record {format}", "RECORD", slices)


def _compile_format(plain: str, format: str) -> str:
    parts = re.findall(r"\\?.", plain, re.DOTALL)
    if not any(part == "#" or part[-1].isdigit() for part in parts):
        raise RequestError(
            "would find words without a digit",
            where=f"record format {format}",
            instead="write # for a digit",
        )
    return "".join(_CLASSES.get(part) or re.escape(part[-1]) for part in parts)


def _check_expression(expression: str, format: str) -> str:
    where = f"record format {format}"
    try:
        tree = parser.parse(expression)
        re.compile(f"(?:{expression})")  # flags are not allowed in a part of a pattern
    except (re.error, OverflowError, RecursionError) as error:
        raise RequestError("is not a regular expression", where=where) from error
    least, most = tree.getwidth()
    if least == 0:
        raise RequestError("matches where there is nothing", where=where)
    if most > _WIDEST or _ways(tree) > MOST_WAYS:
        raise RequestError(
            "could take long on some text",
            where=where,
            instead="use {1,12} and the like in place of * and +, one within another only if "
            "it repeats a few times, and no back-references",
        )
    return expression


def _ways(tree: Sequence[tuple[Any, Any]]) -> float:
    """Return an upper bound on the ways in which an expression can match from one position."""
    return prod(_ways_of(str(kind), what) for kind, what in tree)


def _ways_of(kind: str, what: Any) -> float:
    match kind:
        case "LITERAL" | "NOT_LITERAL" | "ANY" | "IN" | "AT":
            return 1
        case "MAX_REPEAT" | "MIN_REPEAT" | "POSSESSIVE_REPEAT":
            least, most, tree = what
            once = _ways(tree)
            return inf if most > _WIDEST else sum(once**times for times in range(least, most + 1))
        case "BRANCH":
            return sum(map(_ways, what[1]))
        case "SUBPATTERN":
            return _ways(what[-1])
        case "ASSERT" | "ASSERT_NOT":
            return _ways(what[1])
        case "ATOMIC_GROUP":
            return _ways(what)
    return inf  # back-references, and the constructs of future versions
