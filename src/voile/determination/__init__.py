"""What a person decides about one release: for a recipient, for a purpose, until a date."""

from __future__ import annotations

from typing import TYPE_CHECKING

from voile.core.lazy import lazily

if TYPE_CHECKING:
    from voile.determination.context import Context
    from voile.determination.determination import Determination
    from voile.determination.determine import determine
    from voile.determination.sign import sign
    from voile.determination.verify import Verified, verify

__all__ = ["Context", "Determination", "Verified", "determine", "sign", "verify"]

__getattr__ = lazily(
    __name__,
    {
        "Context": "context",
        "Determination": "determination",
        "Verified": "verify",
        "determine": "determine",
        "sign": "sign",
        "verify": "verify",
    },
)
