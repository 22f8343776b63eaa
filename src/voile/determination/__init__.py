"""What a person decides about one release: for a recipient, for a purpose, until a date."""

from __future__ import annotations

from typing import TYPE_CHECKING

from voile.core.lazy import lazily

if TYPE_CHECKING:
    from voile.determination.context import Context
    from voile.determination.determination import Determination
    from voile.determination.determine import determine
    from voile.determination.of_study import determine_study
    from voile.determination.sign import sign
    from voile.determination.verify import Verified, verify

__all__ = ["Context", "Determination", "Verified", "determine", "determine_study", "sign", "verify"]

__getattr__ = lazily(
    __name__,
    {
        "Context": "context",
        "Determination": "determination",
        "Verified": "verify",
        "determine": "determine",
        "determine_study": "of_study",
        "sign": "sign",
        "verify": "verify",
    },
)
