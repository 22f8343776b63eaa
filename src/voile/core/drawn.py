"""Let objects display themselves in a notebook without importing the report package."""

from __future__ import annotations

TYPE_CHECKING = False  # importing typing takes longer than importing this module
if TYPE_CHECKING:
    from collections.abc import Callable
    from typing import Any

html_of: Callable[[Any], str] = repr
"""The function that renders an object as HTML. The package `voile` sets it at import."""


class NotebookDrawing:
    """A base class that displays an object in a notebook as the public report would."""

    __slots__ = ()

    def _repr_html_(self) -> str:
        return html_of(self)
