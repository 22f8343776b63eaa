"""Determinations: people's decisions about one release for a recipient and a purpose.

A determination ends on a stated date.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from voile.core.lazy import lazily

if TYPE_CHECKING:
    from voile.determination.context import Context
    from voile.determination.determination import Determination
    from voile.determination.determine_release import determine
    from voile.determination.of_study import determine_study
    from voile.determination.sign_statement import sign
    from voile.determination.template import write_template
    from voile.determination.verify_folder import Verified, verify, write_signed_page

__all__ = [
    "Context",
    "Determination",
    "Verified",
    "determine",
    "determine_study",
    "sign",
    "verify",
    "write_signed_page",
    "write_template",
]

__getattr__ = lazily(
    __name__,
    {
        "Context": "context",
        "Determination": "determination",
        "Verified": "verify_folder",
        "determine": "determine_release",
        "determine_study": "of_study",
        "sign": "sign_statement",
        "verify": "verify_folder",
        "write_signed_page": "verify_folder",
        "write_template": "template",
    },
)
