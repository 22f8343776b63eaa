"""One plan over tables and notes of the same people: one secret, one offset, one evaluation."""

from __future__ import annotations

from typing import TYPE_CHECKING

from voile.core.lazy import lazily

if TYPE_CHECKING:
    from voile.study.study import Study

__all__ = ["Study"]

__getattr__ = lazily(__name__, {"Study": "study"})
