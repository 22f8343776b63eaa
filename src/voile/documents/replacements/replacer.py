"""What puts something in the place of each removal, by the name that a user gives it."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, Literal, Protocol

from voile.core.errors import RequestError, nearest
from voile.documents.replacements.marks import CategoryMarks, LabelMarks
from voile.documents.replacements.published import PublishedText
from voile.documents.replacements.removal import TextRemoval
from voile.documents.replacements.surrogates import Surrogates
from voile.documents.text.document import Document
from voile.keys.secret import Secret

How = Literal["mark", "category", "surrogate"]
HOW: tuple[How, ...] = ("mark", "category", "surrogate")


class RemovalReplacer(Protocol):
    """Puts something in the place of each of a document's removals."""

    def __call__(self, document: Document, removals: Sequence[TextRemoval]) -> PublishedText: ...


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
