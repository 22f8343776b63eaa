"""What draws itself in a notebook, without knowing the report that draws it."""

from __future__ import annotations

TYPE_CHECKING = False  # typing's own takes longer to import than all of this
if TYPE_CHECKING:
    from collections.abc import Callable
    from typing import Any

html_of: Callable[[Any], str] = repr
"""How; `voile` itself, which sees both, sets it."""


class NotebookDrawing:
    """Draw itself in a notebook as the report would for the public."""

    __slots__ = ()

    def _repr_html_(self) -> str:
        return html_of(self)
