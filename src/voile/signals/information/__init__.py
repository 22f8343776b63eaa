"""What messages tell of the class, in bits, to whoever has beliefs of each subject: I(Z; C | S).

Source: Aranki, Bajcsy, *Private Disclosure of Information in Health Tele-monitoring*, 2015, eq. 1
and Section 3.3.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from voile.core.lazy import lazily

if TYPE_CHECKING:
    from voile.signals.information.beliefs import Beliefs
    from voile.signals.information.mutual import Information, mutual_information
    from voile.signals.information.subjects import Known, Subjects

__all__ = [
    "Beliefs",
    "Information",
    "Known",
    "Subjects",
    "mutual_information",
]

__getattr__ = lazily(
    __name__,
    {
        "Beliefs": "beliefs",
        "Information": "mutual",
        "Known": "subjects",
        "Subjects": "subjects",
        "mutual_information": "mutual",
    },
)
