"""Readings sent live, over MQTT 5: nothing lost, nothing decoded wrong, whatever stops when.

The device's end is a `Sender`, the clinic's a `Recipient`; both keep all that matters on disk and
know no network. A `Link` carries what they post, `forward` and `collect` join the two.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from voile.core.lazy import lazily

if TYPE_CHECKING:
    from voile.signals.channel.broker import Broker, Login
    from voile.signals.channel.keys import Enrolment
    from voile.signals.channel.link import Link
    from voile.signals.channel.live import collect, forward
    from voile.signals.channel.recipient import Recipient
    from voile.signals.channel.sender import Outgoing, Sender

__all__ = [
    "Broker",
    "Enrolment",
    "Link",
    "Login",
    "Outgoing",
    "Recipient",
    "Sender",
    "collect",
    "forward",
]

__getattr__ = lazily(
    __name__,
    {
        "Broker": "broker",
        "Enrolment": "keys",
        "Link": "link",
        "Login": "broker",
        "Recipient": "recipient",
        "Sender": "sender",
        "Outgoing": "sender",
        "collect": "live",
        "forward": "live",
    },
)
