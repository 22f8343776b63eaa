"""Texts for pydantic's errors in a file, an option or a keyword, without the value itself."""

from __future__ import annotations

from collections.abc import Mapping
from difflib import get_close_matches
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from pydantic import ValidationError

_WORDS = {
    "missing": "is absent",
    "extra_forbidden": "is not known here",
    "unexpected_keyword_argument": "is not known here",
    "model_type": "is neither a role nor a table with one",
    "dict_type": "is not a table",
    "list_type": "is not a list",
    "tuple_type": "is not a list",
    "dataclass_type": "is not an object",
    "string_type": "must be text",
    "int_type": "must be a whole number",
    "int_parsing": "must be a whole number",
    "int_from_float": "must be a whole number",
    "float_type": "must be a number",
    "float_parsing": "must be a number",
    "finite_number": "must be a finite number",
    "bool_type": "must be true or false",
    "bool_parsing": "must be true or false",
    "greater_than_equal": "must be {ge} or more",
    "greater_than": "must be more than {gt}",
    "less_than_equal": "must be {le} or less",
    "less_than": "must be less than {lt}",
    "too_short": "must have {min_length} or more entries",
    "literal_error": "must be {expected}",
    "union_tag_not_found": "has no {discriminator}",
    "union_tag_invalid": "must have a {discriminator} of {expected_tags}",
}
"""The text for each type of pydantic error. Other types keep pydantic's text."""


MOST = 12
"""The largest number of mistakes in one message."""


def mistakes(error: ValidationError, *within: str) -> str:
    """Return a message with each mistake once, its places and the expected values.

    Parameters
    ----------
    error : the error of pydantic.
    within : the parts of the place that contains all mistakes.
    """
    found = error.errors(include_url=False)
    places: dict[str, list[str]] = {}
    for one in found[:MOST]:
        places.setdefault(plainly(one), []).append(_place(*within, *one["loc"]))
    said = [": ".join(filter(None, (_list_places(at), what))) for what, at in places.items()]
    more = [f"{len(found) - MOST} more"] if len(found) > MOST else []
    return "; ".join([*said, *more])


def _list_places(places: list[str]) -> str:
    return " and ".join(filter(None, (", ".join(places[:-1]), places[-1])))


def _place(*parts: int | str) -> str:
    place = ".".join(map(str, parts))
    return place if len(place) <= 200 else f"{place[:200]}..."


def plainly(one: Mapping[str, Any]) -> str:
    """Write one of pydantic's errors in plain words. Suggest a legal choice that is similar."""
    template = _WORDS.get(one["type"])
    if template is None:
        said = str(one["msg"]).removeprefix("Value error, ").removesuffix(_CLASS)
        return f"{said[:1].lower()}{said[1:]}"
    context = {n: f"{x:g}" if isinstance(x, float) else x for n, x in one.get("ctx", {}).items()}
    said = template.format(**context)
    if one["type"] == "literal_error":
        words = [x.strip("'") for x in str(context["expected"]).replace(" or ", ", ").split(", ")]
        given = str(one.get("input"))
        begun = [word for word in words if given.casefold().startswith(word)]
        close = begun or get_close_matches(given, words, n=1)
        said += f"; did you mean {close[0]}?" if close else ""
    return said


_CLASS = " for <class 'pathlib.Path'>"
