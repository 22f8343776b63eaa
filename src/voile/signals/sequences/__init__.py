"""Many readings of one subject, which tell no more than one: a map of how they go on.

Each of the two ends, a `Session`, loads it with NumPy alone and needs plain Python from there on.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from voile.core.lazy import lazily

if TYPE_CHECKING:
    from voile.signals.sequences.messages import Message, Receipt
    from voile.signals.sequences.sequence_codec import SequenceCodec
    from voile.signals.sequences.sequence_map import SequenceMap
    from voile.signals.sequences.session import Session

__all__ = [
    "Message",
    "Receipt",
    "SequenceCodec",
    "SequenceMap",
    "Session",
]

__getattr__ = lazily(
    __name__,
    {
        "Message": "messages",
        "Receipt": "messages",
        "SequenceCodec": "sequence_codec",
        "SequenceMap": "sequence_map",
        "Session": "session",
    },
)
