"""Build reports: sections as data, their wording and charts, and one HTML page without links."""

from __future__ import annotations

from typing import TYPE_CHECKING

from voile.core.lazy import lazily

if TYPE_CHECKING:
    from voile.report.page import render

__all__ = ["render"]

__getattr__ = lazily(__name__, {"render": "page"})
