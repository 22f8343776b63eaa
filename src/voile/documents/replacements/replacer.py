"""Create a replacer of removals by its name."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Literal

from voile.core.errors import RequestError, nearest
from voile.documents.replacements.marks import CategoryMarks, LabelMarks
from voile.documents.replacements.published import RemovalReplacer
from voile.documents.replacements.surrogates import Surrogates
from voile.keys.secret import Secret

How = Literal["mark", "category", "surrogate"]


HOW: tuple[How, ...] = ("mark", "category", "surrogate")


def make_replacer(
    how: str,
    secret: Secret | None = None,
    *,
    categories: Mapping[str, str] | None = None,
    **options: Any,
) -> RemovalReplacer:
    if how == "mark":
        return LabelMarks()
    if how == "category":
        return CategoryMarks(categories or {})
    if how == "surrogate":
        if secret is None:
            raise RequestError(
                "surrogates need a secret",
                instead="give one from a file or the environment, or replace by mark",
            )
        return Surrogates(secret, **options)
    raise RequestError(f"there is no replacement {how}", instead=nearest(how, HOW))
