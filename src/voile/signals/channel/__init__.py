"""Live sending of readings over MQTT 5, without loss or wrong decoding if a process stops.

The device runs a `Sender`, the clinic a `Recipient`. Both store their state on disk and do not use
the network. A `Link` carries their posts. `forward` connects a sender to a link, and `collect`
connects a recipient.
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
