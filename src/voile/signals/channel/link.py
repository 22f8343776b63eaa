"""The connection to the broker: MQTT 5, quality of service 1, with a persistent session."""

from __future__ import annotations

import socket
import ssl
import sys
from collections.abc import Iterable
from dataclasses import dataclass
from queue import Empty, SimpleQueue
from typing import TYPE_CHECKING, Any, Protocol, TypeAlias

from voile.core.errors import RequestError, install
from voile.signals.channel.broker import Broker, Login
from voile.signals.channel.envelope import LONGEST, EnvelopeSealer
from voile.signals.channel.posts import EnvelopePost, is_name
from voile.signals.channel.store import EndStore

if TYPE_CHECKING:
    from paho.mqtt.client import Client, MQTTMessageInfo

KEPT = 7 * 24 * 3600  # seconds for which the broker stores messages while a client is disconnected
ALIVE = 30  # seconds of silence before each side checks the connection
UNDER_WAY = 200  # maximum number of posts that the broker has not confirmed
AT_ONCE = 2000  # events processed together
ROOM = 1 << 10  # bytes of a packet in addition to its payload, mainly the topic
HELD = 16 << 20  # bytes of unprocessed packets; later packets are dropped and sent again
LEAVE = 5.0  # maximum seconds to send the remaining posts when the link closes
LASTING = frozenset((0x80, 0x84, 0x85, 0x86, 0x87, 0x8A, 0x8C, 0x90, 0x9D))
"""Reason codes of permanent refusals by the broker: login, version, name, permission."""


@dataclass(frozen=True)
class BrokerUp:
    """The broker is connected."""


@dataclass(frozen=True)
class BrokerDown:
    """The broker is not connected. The link reconnects by itself."""

    why: str


@dataclass(frozen=True)
class BrokerDenied:
    """The broker responds but refuses the connection."""

    why: str


class ChannelEnd(Protocol):
    """The attributes of a sender or recipient that a link needs."""

    store: EndStore
    sealer: EnvelopeSealer


Event: TypeAlias = BrokerUp | BrokerDown | BrokerDenied | EnvelopePost | object


class Link:
    """A connection that carries the posts of one sender or recipient over a broker.

    The link reconnects by itself. The delay between attempts grows to at most `longest` seconds.
    Posts sent while the broker is disconnected may be lost. The sender or recipient therefore
    repeats its pending posts when it receives `BrokerUp`.
    """

    def __init__(
        self,
        broker: Broker,
        login: Login | None,
        end: ChannelEnd,  # provides the client name and the topics
        *,
        longest: int = 60,  # maximum seconds between two attempts to connect, >= 1
    ) -> None:
        self._sealer = end.sealer
        self._listening: set[str] = set()
        self._last: MQTTMessageInfo | None = None
        self.events: SimpleQueue[Event] = SimpleQueue()
        self._came = self._taken = 0  # bytes of posts; paho's thread writes one, `take` the other
        self._client = self._new_client(broker, login, end.store.client, longest)

    def _new_client(self, broker: Broker, login: Login | None, name: str, longest: int) -> Client:
        try:
            from paho.mqtt import client as mqtt
            from paho.mqtt.enums import CallbackAPIVersion, MQTTProtocolVersion
            from paho.mqtt.packettypes import PacketTypes
            from paho.mqtt.properties import Properties
        except ImportError:
            raise RequestError("paho-mqtt is not installed", instead=install("send")) from None
        version, protocol = CallbackAPIVersion.VERSION2, MQTTProtocolVersion.MQTTv5
        client = mqtt.Client(version, f"voile-{name}", protocol=protocol)
        if login:
            client.username_pw_set(login.user, login.password)
        if context := broker.context():
            client.tls_set_context(context)
        client.max_inflight_messages_set(UNDER_WAY)
        client.reconnect_delay_set(1, longest)
        client.on_socket_open = _at_once
        client.on_connect = self._on_connect
        client.on_connect_fail = self._unreachable
        client.on_disconnect = self._gone
        client.on_message = self._on_message
        lasting: Any = Properties(PacketTypes.CONNECT)  # type: ignore[no-untyped-call]
        lasting.SessionExpiryInterval = KEPT
        lasting.MaximumPacketSize = LONGEST + ROOM  # the broker does not deliver larger packets
        client.connect_async(broker.host, broker.port, ALIVE, clean_start=False, properties=lasting)
        return client

    def __enter__(self) -> Link:
        self._client.loop_start()
        return self

    def __exit__(self, kind: object, error: BaseException | None, traceback: object) -> None:
        if self._last is not None and self._client.is_connected() and error is None:
            self._last.wait_for_publish(LEAVE)
        self._client.disconnect()
        self._client.loop_stop()

    def take(self, timeout: float) -> list[Event]:
        """Return the events so far. Wait at most `timeout` seconds for the first event."""
        events: list[Event] = []
        try:
            events.append(self.events.get(timeout=timeout))
            while len(events) < AT_ONCE:
                events.append(self.events.get_nowait())
        except Empty:
            pass
        self._taken += sum(_size(event) for event in events if isinstance(event, EnvelopePost))
        return events

    def listen(self, pseudonyms: Iterable[str]) -> None:
        """Receive posts for these pseudonyms; "+" means all. Each connection subscribes again."""
        new = set(pseudonyms) - self._listening
        self._listening |= new
        self._subscribe(new)

    def hand_on(self, posts: Iterable[EnvelopePost]) -> None:
        """Send posts to the broker if it is connected."""
        for pseudonym, payload in posts:
            if self._client.is_connected():
                place = self._sealer.place(pseudonym, self._sealer.posts)
                self._last = self._client.publish(place, payload, qos=1)

    def _subscribe(self, pseudonyms: Iterable[str]) -> None:
        hears = self._sealer.hears
        places = [(self._sealer.place(one, hears), 1) for one in sorted(pseudonyms)]
        if places and self._client.is_connected():
            self._client.subscribe(places)

    # paho's own thread calls the methods below

    def _on_connect(self, client: Any, _: Any, __: Any, reason: Any, ___: Any) -> None:
        if not reason.is_failure:
            self._subscribe(self._listening)
            self.events.put(BrokerUp())
        elif reason.value in LASTING:
            self.events.put(BrokerDenied(str(reason).lower()))
        else:
            self.events.put(BrokerDown(str(reason).lower()))

    def _unreachable(self, client: Any, _: Any) -> None:
        error = sys.exc_info()[1]
        if isinstance(error, ssl.SSLCertVerificationError):
            self.events.put(BrokerDenied("its certificate is not trusted"))
        else:
            self.events.put(BrokerDown("it cannot be reached"))

    def _gone(self, client: Any, _: Any, __: Any, reason: Any, ___: Any) -> None:
        self.events.put(BrokerDown("the line broke"))

    def _on_message(self, client: Any, _: Any, message: Any) -> None:
        hears = self._sealer.hears
        try:
            topic: str = message.topic
        except UnicodeDecodeError:  # a hostile broker's; raised here, it would end the connection
            return
        _, _, pseudonym = topic.removesuffix(f"/{hears}").rpartition("/")
        ours = is_name(pseudonym) and topic == self._sealer.place(pseudonym, hears)
        post = EnvelopePost(pseudonym, bytes(message.payload))
        if ours and self._came + _size(post) - self._taken <= HELD:
            self._came += _size(post)
            self.events.put(post)


def _size(post: EnvelopePost) -> int:
    """Return an upper bound of a post's size in memory, in bytes."""
    return ROOM + len(post.payload)


def _at_once(_: Any, __: Any, line: Any) -> None:
    """Disable Nagle's algorithm, so that a receipt does not wait for later packets."""
    line.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
