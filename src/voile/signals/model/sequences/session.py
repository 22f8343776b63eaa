"""A `Session` sends one subject's readings from a device to the clinic, in step despite losses."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from math import nan
from typing import Any

from voile.core.errors import RequestError
from voile.keys.random import ProtectiveRandom
from voile.keys.secret import Secret
from voile.signals.model.codec.grain import GRAIN
from voile.signals.model.codec.limits import RANGE
from voile.signals.model.codec.scalar import Point, draw_dither
from voile.signals.model.sequences.messages import (
    LATEST,
    MessageReceipt,
    ReadingMessage,
    beginning,
    chain,
    is_sound,
    moment,
    whole,
)
from voile.signals.model.sequences.sequence_codec import ReadingOutlook, SequenceCodec, State
from voile.signals.model.sequences.state import (
    KnownColumns,
    ReceivedReading,
    SequenceReading,
    SharedState,
    Values,
    fill_point,
    in_order,
    nearest_of,
    on_lattices,
    point_of,
)

FORMAT = 4
NOTHING_KNOWN = KnownColumns()


class Session:
    """One side of a session that sends or receives a subject's readings.

    Client and server each create one with the same arguments.

    The sender calls `send` with a reading, and sends all `pending` messages as often as needed. It
    passes replies to `acknowledge`. The recipient passes each message to `receive`, and returns its
    `receipt`. A message depends only on acknowledged readings and contains their number. So
    messages may be lost, repeated or reordered. Client and server may be saved, stopped and loaded
    again. A message that cannot be decoded with certainty is refused, never decoded incorrectly.

    Parameters
    ----------
    codec : the map of sequences.
    c : the subject's class.
    name : public name of this session, the same at client and server. Each session of a map needs
        another name.
    ahead : maximum number of messages pending without a receipt, >= 1, the same at client and
        server. With 1, each message is independent for everyone who received the others. With more,
        messages pending together do not depend on each other. They reveal as much about the class
        as readings sent one by one.
    secret : the device's secret for dither. A device that was restored from a backup, cloned or
        restarted then encodes the same reading with the same bits, under the same map. With None,
        dither differs each time, and two messages of one reading begin to reveal the class.
    known : the subject's side columns with a proof, if the map uses any. They are fixed for the
        session: a subject with a new age begins a new session. If the recipient has other side
        columns or another key, it refuses the first message.
    before : number of acknowledged readings in earlier sessions; it is part of the dither's seed.
    protective : source of randomness for the dither; replaced in tests only.

    Save the sender before a message is sent, and the recipient before its receipt is sent. The
    digest detects a session that was restored to an earlier state, and its messages are refused.
    Then begin a new session. A saved session contains readings, so it is private.

    Cost: O(d^2 + d log g) per reading.

    Examples
    --------
    >>> import numpy as np
    >>> from voile.signals.fitting.sequences.sequence_map import SequenceMap
    >>> rng = np.random.default_rng(0)
    >>> whose = np.repeat(np.arange(240), 4)
    >>> weight = np.round(rng.normal(70, 9, 240)[whose] + rng.normal(0, 1, 960), 1)
    >>> map = SequenceMap(random_state=0).fit(weight, whose % 2, whose)
    >>> device, clinic = (Session(map.codec_, 1, "a") for _ in range(2))
    >>> for kilograms in (71.3, 71.9):
    ...     device.send([kilograms])
    ...     for message in device.pending():
    ...         print(clinic.receive(message).values)
    ...     device.acknowledge(clinic.receipt())
    (71.3,)
    (71.9,)
    """

    def __init__(
        self,
        codec: SequenceCodec,
        c: object,
        name: str,
        *,
        ahead: int = 1,
        secret: Secret | None = None,
        known: KnownColumns = NOTHING_KNOWN,
        before: int = 0,
        protective: ProtectiveRandom | None = None,
    ) -> None:
        if ahead < 1:
            raise RequestError("at least one message must be under way", where="ahead")
        self.codec = codec
        self.name = name
        self.ahead = ahead
        self._before = before
        self._which = codec.which(c)
        self.known = known
        self._law = codec.law(self._which, known.cells)
        self._secret, self._protective = secret, protective or ProtectiveRandom()
        self._names = tuple(f"column {j}" for j in codec.order)
        self._all = tuple(range(len(codec.order) - codec.invariants - codec.derived_count))
        check = beginning(name, codec.mark, known.proof)
        # states that pending messages may depend on, the latest last
        self._bases = [SharedState(0, check, (), None, self._law.begin())]
        self._latest: tuple[State, tuple[int, tuple[int, ...]], ReadingOutlook] | None = None
        self._waiting: list[SequenceReading] = []  # sender: readings without a message
        self._out: list[tuple[ReadingMessage, Values]] = []  # sender: unacknowledged messages
        self._early: dict[
            int, tuple[ReadingMessage, Values, Point]
        ] = {}  # recipient: messages after a gap

    def send(self, x: Sequence[float | None], time: int | None = None) -> None:
        """Add the next reading to the queue of `pending`.

        Parameters
        ----------
        x : values in the source's columns. None or NaN for missing columns, if the map has a part
            for readings without them.
        time : time of the reading in the map's units. None, or a time that is not after the last
            one, means one unit after the last. It must be None if the map counts readings.
        """
        if len(x) != len(self.codec.order):
            raise RequestError(f"a reading has {len(x)} columns, not {len(self.codec.order)}")
        given = [float(v) if (v := x[j]) is not None else nan for j in self.codec.order]
        columns = self._all
        if self.codec.partial:
            columns = tuple([j for j in self._all if given[j] == given[j]])
            self._check(columns)
            given = fill_point(self.codec, given, columns)
        values = on_lattices(self.codec, given, self._names)
        k = self.codec.invariants
        first = self._first() if k else ()
        if first and values[:k] != first[:k]:
            remedy = "begin a new session"
            raise RequestError("an invariant has changed", where="X", instead=remedy)
        self._waiting.append(SequenceReading(self._later(time), values, columns))

    def _later(self, time: int | None) -> int | None:
        """Return the time of a reading, at least one unit after the reading before it."""
        if not self.codec.timed:
            if time is not None:
                raise RequestError("the map counts readings, and takes no times", where="time")
            return None
        out = self._out[-1][0].time if self._out else self._bases[-1].moment
        last = self._waiting[-1].time if self._waiting else out
        first = 0 if last is None else last + 1
        when = first if time is None else time
        if last is not None and type(when) is int:
            when = max(when, first)
        if type(when) is not int or abs(when) > LATEST:
            raise RequestError("a time is not a whole number of units", where="time")
        return when

    def pending(self) -> tuple[ReadingMessage, ...]:
        """Return the messages to send now or again: at most `ahead` messages without a receipt.

        The bytes are the same each time, so repeating a message reveals nothing.
        """
        while self._waiting and len(self._out) < self.ahead:
            reading = self._waiting.pop(0)
            self._out.append((self._message(reading), reading.values))
        return tuple([message for message, _ in self._out])

    def acknowledge(self, receipt: MessageReceipt) -> None:
        """Process a receipt. An old receipt changes nothing."""
        base = self._bases[-1]
        if receipt.session != self.name:
            raise RequestError("a receipt is of another session")
        if receipt.number < base.number or (receipt.number, receipt.check) == base[:2]:
            return
        done = self._out[: receipt.number - base.number]
        for message, values in done:
            base = self._after(base, message, values, self._law.path.forward(values))
        if (base.number, base.check) != (receipt.number, receipt.check):
            remedy = "begin a new session"
            raise RequestError("a receipt is for messages never sent", instead=remedy)
        self._bases, self._out = [base], self._out[len(done) :]

    def expect_receipt(self) -> MessageReceipt:
        """Return the receipt that the sender expects for all pending messages."""
        base = self._bases[-1]
        check = base.check
        for message, _ in self._out:
            check = chain(check, message)
        return MessageReceipt(self.name, base.number + len(self._out), check)

    def differs(self, message: ReadingMessage) -> bool:
        """Return whether a message begins a session with other side columns or another key."""
        first = self._bases[0]
        begins = not (message.after or first.number)
        return bool(self.known.cells) and begins and message.check != first.check

    def receive(self, message: ReadingMessage) -> ReceivedReading | None:
        """Return the reading in a message, or None if it arrived before.

        Raises
        ------
        RequestError : the message belongs to another session, or cannot be decoded with certainty.
        """
        if message.session != self.name:
            raise RequestError("a message is of another session")
        latest = self._bases[-1].number
        if message.number <= latest or message.number in self._early:
            return None
        if self.differs(message):
            raise RequestError(
                "a message was encoded with other known columns, or under another key",
                instead="correct them where they are wrong, and begin a new session",
            )
        columns = self._all if message.columns is None else message.columns
        size = (
            len(columns)
            + self.codec.derived_count
            + (0 if message.after else self.codec.invariants)
        )
        place = message.after - self._bases[0].number
        if not 0 <= place < len(self._bases) or message.number > message.after + self.ahead:
            remedy = "load this end as last saved, or begin a new session"
            raise RequestError("a message depends on readings that are not here", instead=remedy)
        base, when = self._bases[place], message.moment
        if (
            base.check != message.check
            or columns not in self._law.sharpening
            or len(message.values) != size
            or not is_sound(message.values)
            or (message.time is None) == self.codec.timed
            or not base.precedes(when)
        ):
            remedy = "begin a new session with the same map at both ends"
            raise RequestError("a message is of another map, or out of step", instead=remedy)
        outlook = self._outlook(base, when, columns)
        point = nearest_of(self.codec, self._decode_point(base, outlook, message.values))
        values = tuple(fill_point(self.codec, point, columns)) if self.codec.partial else point
        scores = self._law.path.forward(values)
        looked = scores if columns == self._all else [scores[j] for j in columns]
        outside = not is_sound(looked, RANGE)
        come = in_order(self.codec, values, columns)
        read = ReceivedReading(message.number, come, outside, message.time)
        early, bases = {**self._early, message.number: (message, values, scores)}, list(self._bases)
        while (number := bases[-1].number + 1) in early:
            message, values, scores = early.pop(number)
            if not bases[-1].precedes(message.moment):
                raise RequestError("a message is not later than the one before it")
            bases.append(self._after(bases[-1], message, values, scores))
        self._early, self._bases = early, bases[-self.ahead :]
        return read

    def receipt(self) -> MessageReceipt:
        """Return the receipt to send back. It confirms all messages before the first gap."""
        base = self._bases[-1]
        return MessageReceipt(self.name, base.number, base.check)

    def _first(self) -> Values:
        """Return the invariants if they are known, else an empty tuple."""
        if self._bases[-1].fixed:
            return self._bases[-1].fixed
        out = [values for _, values in self._out]
        return next(iter([*out, *(one.values for one in self._waiting)]), ())

    def _message(self, reading: SequenceReading) -> ReadingMessage:
        """Make the next message of a reading, and check that it decodes with a margin."""
        base, k = self._bases[-1], self.codec.invariants
        time, values, columns = reading
        number = base.number + len(self._out) + 1
        outlook = self._outlook(base, number - 1 if time is None else time, columns)
        cells, path = self.codec.cells, self._law.path
        positions = cells.rounded(values)
        moved = cells.moved(
            positions, draw_dither(len(values), self._dither(outlook, number, values))
        )
        scores = path.forward((*values[:k], *moved[k:]))
        sent = tuple(self._law.hide(outlook, scores[k:]))
        if not base.number:
            # later messages repeat the invariants as first sent, until one is acknowledged
            fixed = self._out[0][0].values[:k] if self._out else tuple(path.forward(moved)[:k])
            sent = (*fixed, *sent)
        sent = tuple([round(value / GRAIN) * GRAIN for value in sent])
        held = None if columns == self._all else columns
        message = ReadingMessage(self.name, number, base.number, base.check, sent, time, held)
        shown = self._decode_point(base, outlook, sent)
        if held:
            shown = fill_point(self.codec, shown, held)
        if not (is_sound(sent) and cells.hold(positions, shown)):
            raise RequestError(
                "a reading lies too far out to be carried exactly",
                where=f"reading {number}",
                instead="set it aside, or fit with a coarser resolution",
            )
        return message

    def _outlook(self, base: SharedState, time: int, columns: tuple[int, ...]) -> ReadingOutlook:
        """Return the expectation of a reading, cached since encoding and learning both use it."""
        latest, given = self._latest, (time, columns)
        if latest is None or latest[0] is not base.state or latest[1] != given:
            self._latest = base.state, given, self._law.outlook(base.state, time, columns)
            return self._latest[2]
        return latest[2]

    def _dither(self, outlook: ReadingOutlook, number: int, values: Values) -> ProtectiveRandom:
        """Return the randomness of the dither. With a secret, it is the same for the same reading.

        It differs for another reading and for another map. Otherwise the same dither would cancel.
        """
        if self._secret is None:
            return self._protective
        hides = [law[:2] for law in outlook.laws], outlook.known, outlook.columns
        what = self.codec.mark, self._which, self._before + number, hides, values, *self.known.proof
        return ProtectiveRandom.from_secret(self._secret, purpose=repr(what))

    @property
    def acknowledged_count(self) -> int:
        """The number of acknowledged readings in this session and earlier ones."""
        return self._before + self._bases[-1].number

    def _decode_point(self, base: SharedState, outlook: ReadingOutlook, sent: Values) -> Point:
        """Return the decoded point within the rounding cells, invariants first."""
        k, path = self.codec.invariants, self._law.path
        if not k:
            return path.inverse(self._law.show(outlook, sent))
        moved: Point = base.fixed
        fixed = base.fixed
        if not base.number:
            moved = path.inverse([*sent[:k], *([0.0] * len(sent[k:]))])
            moved, fixed, sent = moved[:k], nearest_of(self.codec, moved)[:k], sent[k:]
        held = path.forward([*fixed, *([0.0] * len(sent))])[:k]
        return [*moved, *path.inverse([*held, *self._law.show(outlook, sent)])[k:]]

    def _after(
        self, base: SharedState, message: ReadingMessage, values: Values, scores: Point
    ) -> SharedState:
        """Return the shared state after one more reading, bit-identical at client and server."""
        k = self.codec.invariants
        columns = self._all if message.columns is None else message.columns
        when = message.moment
        outlook = self._outlook(base, when, columns)
        state = self._law.learn(base.state, when, outlook, scores[k:])
        check = chain(base.check, message)
        return SharedState(base.number + 1, check, values[:k], when, state)

    def _check(self, columns: tuple[int, ...]) -> None:
        if columns not in self._law.sharpening:
            raise RequestError(
                "the map does not know of readings of these columns alone",
                where=", ".join(self._names[j] for j in columns) or "X",
                instead="send them with the others, or fit to such readings as well",
            )

    def to_json(self) -> dict[str, Any]:
        """Return plain data for `json`, without the map. It contains readings, so it is private."""
        return {
            "format": FORMAT,
            "mark": self.codec.mark,
            "class": self._which,
            "name": self.name,
            "ahead": self.ahead,
            "before": self._before,
            "known": self.known.to_json(),
            "bases": [base.to_json() for base in self._bases],
            "waiting": self._waiting,
            "out": [[message.to_json(), values] for message, values in self._out],
            "early": [[message.to_json(), values] for message, values, _ in self._early.values()],
        }

    @classmethod
    def from_json(
        cls, codec: SequenceCodec, data: Mapping[str, Any], *, secret: Secret | None = None
    ) -> Session:
        """Rebuild a session from its data and its map.

        Raises
        ------
        RequestError : the data is not a session of this map and this version of voile.
        """
        try:
            if data["format"] != FORMAT or data["mark"] != codec.mark:
                raise RequestError("the session is of another map or version of voile")
            label = codec.codec.classes[whole(data["class"])]
            ahead, before = whole(data["ahead"]), whole(data["before"])
            name = str(data["name"])
            known = KnownColumns.from_json(*data["known"])
            session = cls(
                codec, label, name, ahead=ahead, secret=secret, known=known, before=before
            )
            session._bases = [SharedState.from_json(codec, *each) for each in data["bases"]]
            session._waiting = [
                SequenceReading(
                    None if time is None else moment(time), point_of(codec, values), tuple(j)
                )
                for time, values, j in data["waiting"]
            ]
            for one in session._waiting:
                session._check(one.columns)
            session._out, early = (
                [(ReadingMessage.from_json(one), point_of(codec, v)) for one, v in data[place]]
                for place in ("out", "early")
            )
            session._early = {m.number: (m, v, session._law.path.forward(v)) for m, v in early}
            if not session._bases:
                raise ValueError("a session stands on nothing")
        except (LookupError, TypeError, ValueError) as wrong:
            if isinstance(wrong, RequestError):
                raise
            raise RequestError("this is not a saved session") from wrong
        return session
