"""The loop of a sender or recipient: process all events, then send its posts."""

from __future__ import annotations

import time
from collections.abc import Callable, Iterable
from dataclasses import dataclass, field

from voile.core.errors import RequestError
from voile.signals.channel.link import BrokerDenied, BrokerDown, BrokerUp, Event, Link
from voile.signals.channel.posts import HEARD, SAID, EnvelopePost
from voile.signals.channel.recipient import Recipient
from voile.signals.channel.sender import Outgoing, Sender

PATIENCE = 5.0  # seconds to wait for a receipt before pending posts are sent again
LONGEST = 600.0  # maximum of this interval, which doubles each time
TICK = 0.5  # seconds between two checks of the clock

Notify = Callable[[str], None]


@dataclass(frozen=True)
class EndOfReadings:
    """The event that marks the end of the readings."""


@dataclass
class _ReceiptPatience:
    """The times at which posts without a receipt are repeated, at growing intervals."""

    due: dict[str, tuple[float, float]] = field(default_factory=dict)

    def note_handed(self, posts: Iterable[EnvelopePost]) -> None:
        now = time.monotonic()
        for post in posts:
            self.due.setdefault(post.pseudonym, (now + PATIENCE, PATIENCE))

    def heard(self, posts: Iterable[EnvelopePost]) -> None:
        for post in posts:
            self.due.pop(post.pseudonym, None)

    def overdue(self) -> list[str]:
        now = time.monotonic()
        late = [one for one, (when, _) in self.due.items() if when < now]
        for one in late:
            wait = min(2 * self.due[one][1], LONGEST)
            self.due[one] = now + wait, wait
        return late


def forward(
    sender: Sender,
    link: Link,
    *,
    live: bool = False,
    wait: float | None = None,
    notify: Notify = lambda _: None,
) -> int:
    """Send all spooled readings until each has a receipt. Return the number of rejected ones.

    With `live`, continue until the event `EndOfReadings`. `wait` limits the time in seconds.
    """
    until = time.monotonic() + (float("inf") if wait is None else wait)
    once, patience, look, left_out = _NotifyOnce(notify), _ReceiptPatience(), 0.0, 0
    link.listen(sender.pseudonyms())
    while (live or sender.has_waiting()) and time.monotonic() < until:
        events = link.take(TICK)
        replies = [event for event in events if isinstance(event, EnvelopePost)]
        left_out += _take(sender, link, events, notify)
        live = live and not any(isinstance(event, EndOfReadings) for event in events)
        patience.heard(replies)
        posts = sender.turn(replies)
        if _is_up(events, once):
            posts = sender.again()
        if time.monotonic() > look:
            look = time.monotonic() + TICK
            posts += sender.again(patience.overdue())
        link.hand_on(posts)
        patience.note_handed(posts)
        for pseudonym, reason in sender.refused.items():
            once(f"{pseudonym}: {SAID[reason]}")
        if sender.unauthenticated:
            once(f"replies without a valid MAC are ignored: {_roughly(sender.unauthenticated)}")
    return left_out


def _take(sender: Sender, link: Link, events: Iterable[Event], notify: Notify) -> int:
    """Store the readings among the events on disk, and return the number of rejected readings."""
    readings = [event for event in events if isinstance(event, Outgoing)]
    try:
        sender.take(readings)
        wrong = 0
    except RequestError:
        wrong = sum(not _is_taken(sender, reading, notify) for reading in readings)
    if readings:
        link.listen(sender.pseudonyms())
    return wrong


def _is_taken(sender: Sender, reading: Outgoing, notify: Notify) -> bool:
    try:
        return sender.take([reading])
    except RequestError as error:
        notify(f"a reading is left out: {error}")
        return False


def collect(
    recipient: Recipient,
    link: Link,
    *,
    stop: Callable[[], bool] = lambda: False,
    notify: Notify = lambda _: None,
) -> None:
    """Receive posts until `stop` returns true. It is called at least twice a second."""
    once = _NotifyOnce(notify)
    link.listen("+")
    while not stop():
        events = link.take(TICK)
        posts = [event for event in events if isinstance(event, EnvelopePost)]
        replies = recipient.turn(posts) if posts else []
        if _is_up(events, once):
            replies += recipient.receipts()
        link.hand_on(replies)
        for (pseudonym, reason), refused in recipient.refused.items():
            once(f"{pseudonym}: {HEARD[reason]}; the first is number {refused.first}")
        if recipient.unauthenticated:
            once(f"messages without a valid MAC are ignored: {_roughly(recipient.unauthenticated)}")
        if recipient.set_aside:
            once(f"readings outside the map's range are set aside: {_roughly(recipient.set_aside)}")


def _roughly(number: int) -> str:
    """Return a coarse count that changes ever more seldom, so that nobody can fill a log.

    >>> _roughly(1), _roughly(34_567)
    ('1 or more', '10,000 or more')
    """
    return f"{10 ** (len(str(number)) - 1):,} or more"


class _NotifyOnce:
    def __init__(self, notify: Notify) -> None:
        self._notify = notify
        self._before: set[str] = set()

    def __call__(self, sentence: str) -> None:
        if sentence not in self._before:
            self._before.add(sentence)
            self._notify(sentence)

    def forget(self, start: str) -> None:
        self._before = {one for one in self._before if not one.startswith(start)}


def _is_up(events: Iterable[Event], once: _NotifyOnce) -> bool:
    """Report the state of the connection. Return whether it has just been established."""
    up = False
    for event in events:
        match event:
            case BrokerUp():
                up = True
                once.forget("the broker")
            case BrokerDown(why):
                up = False
                once(f"the broker is away, {why}: trying again")
            case BrokerDenied(why):
                raise RequestError(f"the broker refuses the connection: {why}", where="broker")
    return up
