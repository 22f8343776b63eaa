"""The device's side of the channel: keep each reading on disk until its receipt arrives."""

from __future__ import annotations

import json
import os
import secrets
from collections.abc import Iterable, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, field

from voile.core.errors import RequestError
from voile.signals.channel.envelope import (
    FORMAT,
    LONGEST,
    EnvelopeHeader,
    EnvelopeSealer,
    SealedEnvelope,
)
from voile.signals.channel.keys import DeviceKey, Enrolment
from voile.signals.channel.posts import EnvelopePost, Plain, ReadingLetter, ReceiptReply, is_beside
from voile.signals.channel.store import EndStore
from voile.signals.model.codec.place import CLASSES
from voile.signals.model.codec.scalar import on_lattice
from voile.signals.model.sequences.messages import MessageReceipt
from voile.signals.model.sequences.sequence_codec import SequenceCodec
from voile.signals.model.sequences.session import Session
from voile.signals.model.sequences.state import Cell, KnownColumns

TABLES = """
CREATE TABLE IF NOT EXISTS ends (
    pseudonym TEXT PRIMARY KEY, class TEXT NOT NULL, state TEXT NOT NULL);
CREATE TABLE IF NOT EXISTS spool (
    id INTEGER PRIMARY KEY AUTOINCREMENT, pseudonym TEXT NOT NULL, point TEXT NOT NULL,
    time INTEGER, known TEXT NOT NULL, beside TEXT NOT NULL, number INTEGER, unfit TEXT);
CREATE INDEX IF NOT EXISTS by_end ON spool (pseudonym, number, id)
"""
SESSION = 16  # bytes of a session's random name
BESIDE = LONGEST // 2  # bytes; the rest is for the reading
WAITING = "pseudonym = ? AND number IS NULL AND unfit IS NULL"


@dataclass(frozen=True)
class Outgoing:
    pseudonym: str
    label: str | int
    values: tuple[float, ...]
    beside: Mapping[str, Plain] = field(default_factory=dict)
    where: str = ""
    time: int | None = None  # see `Session.send`
    known: tuple[Cell, ...] = ()  # the subject's side columns at that time, if the map has any


@dataclass
class _SenderEnd:
    session: Session
    beside: dict[int, Mapping[str, Plain]]


class Sender:
    """The device's side, which sends the readings of its subjects, without using the network.

    `take` stores readings on disk. `turn` takes the received replies and returns the messages to
    send now. `again` returns all pending messages, for use after a reconnection. A sent message
    stays on disk until its receipt arrives. Each repetition is identical bit for bit. A process
    that was killed continues from its last state.

    A session has one row of known columns. A reading with other known columns begins a new session
    once all readings of the last session have their receipt.

    refused : the recipient's reason per pseudonym. Nothing more is sent for it until the next
        start.
    unfit : reasons for readings that could not be sent and were rejected on disk, since this start.
    unauthenticated : number of replies without a valid MAC since this start. They change nothing.
    """

    def __init__(
        self,
        folder: str | os.PathLike[str],  # the spool, mode 0700: it contains readings
        codec: SequenceCodec,
        enrolment: Enrolment,  # the keys of the subjects that this device may send for
        *,
        topic: str = "voile",
        encrypt: bool = False,  # must be the same at sender and recipient
        ahead: int = 1,  # maximum pending messages of a subject, >= 1; see `Session`
        columns: Sequence[str] = (),  # names for errors; default: numbers from 0
    ) -> None:
        if ahead < 1:
            raise RequestError("at least one message must be under way", where="ahead")
        enrolment.check(codec.mark)
        self.codec = codec
        self._keys = enrolment.keys
        self.sealer = EnvelopeSealer("receipts", "readings", self._key, topic, encrypt)
        self.store = EndStore(folder, end="send", mark=codec.mark, tables=TABLES)
        self.refused: dict[str, str] = {}
        self.unfit: list[str] = []
        self.unauthenticated = 0
        self._ahead = ahead
        self._columns = tuple(columns) or tuple(map(str, range(len(codec.order))))
        self._ends: dict[str, _SenderEnd] = {}
        rows = self.store.run("SELECT DISTINCT pseudonym FROM spool WHERE unfit IS NULL")
        self._look = {str(row[0]) for row in rows}  # subjects that may have messages to send
        self.refused.update(self._list_unenrolled())

    def take(self, readings: Iterable[Outgoing], *, once: str = "") -> bool:
        """Store readings on disk, either all or none.

        If `once` names a batch that was already stored, do nothing and return False.
        """
        with self.store.transaction():
            if once and self.store.fact(f"taken {once}"):
                return False
            if once:
                self.store.note(f"taken {once}", "yes")
            labels: dict[str, str] = {}
            for row, reading in enumerate(readings, 1):
                try:
                    self._spool(reading, labels)
                except RequestError as error:
                    where = reading.where or f"row {row}"
                    part = "its class" if error.where is CLASSES else error.where
                    place = f"{where}, {part}" if part else where
                    raise RequestError(error.what, where=place, instead=error.instead) from None
        self._look |= labels.keys()
        return True

    def _spool(self, reading: Outgoing, labels: dict[str, str]) -> None:
        """Check a reading, and store the reading and its subject's class."""
        pseudonym = reading.pseudonym
        if pseudonym not in self._keys:
            raise RequestError(
                "a subject is not enrolled", where="pseudonym", instead="enrol it for this device"
            )
        if not is_beside(dict(reading.beside)):
            raise RequestError("a kept column of a reading is neither text nor a finite number")
        label = str(self.codec.which(reading.label))
        if pseudonym not in labels:
            sql = "SELECT class FROM ends WHERE pseudonym = ?"
            there = self.store.run(sql, pseudonym)
            labels[pseudonym] = str(there[0][0]) if there else label
            if not there:
                self.store.run("INSERT INTO ends VALUES (?, ?, '')", pseudonym, label)
        if labels[pseudonym] != label:
            raise RequestError(
                "a subject is of another class than before",
                where=CLASSES,
                instead="a class changes with a new map and another folder only",
            )
        self._check(reading.values)
        self.codec.law(int(label), reading.known)
        sql = "INSERT INTO spool (pseudonym, point, time, known, beside) VALUES (?, ?, ?, ?, ?)"
        point, known = json.dumps(reading.values), json.dumps(reading.known)
        beside = json.dumps(dict(reading.beside))
        if len(beside) > BESIDE:
            raise RequestError("the kept columns of a reading are too long for a message")
        self.store.run(sql, pseudonym, point, reading.time, known, beside)

    def _check(self, values: tuple[float, ...]) -> None:
        order = self.codec.order
        if len(values) != len(order):
            raise RequestError(f"a reading has {len(values)} columns, not {len(order)}")
        lacks = self.codec.partial  # missing columns are checked when the reading is sent
        for lattice, j in zip(self.codec.lattices, order, strict=True):
            if lacks and values[j] != values[j]:
                continue
            on_lattice(lattice, float(values[j]), f"column {self._columns[j]}")

    def turn(self, replies: Iterable[EnvelopePost] = ()) -> list[EnvelopePost]:
        """Process replies and return the messages to send now. All of them are on disk."""
        posts: list[EnvelopePost] = []
        try:
            with self.store.transaction():
                for reply in replies:
                    posts += self._heard(reply)
                for pseudonym in sorted(self._look - self.refused.keys()):
                    posts += self._feed_session(pseudonym)
                for pseudonym in self._look & self._ends.keys():
                    self._save(pseudonym)
        except BaseException:
            self._ends.clear()  # they are ahead of the state on disk
            raise
        if self._look and not self.has_waiting():
            self.store.wipe()
        self._look.clear()
        return posts

    def again(self, pseudonyms: Iterable[str] | None = None) -> list[EnvelopePost]:
        """Return all pending messages of these subjects, or of all. Some may have arrived."""
        if pseudonyms is None:
            rows = self.store.run("SELECT DISTINCT pseudonym FROM spool WHERE number NOTNULL")
            pseudonyms = [str(row[0]) for row in rows]
        here = [one for one in pseudonyms if one not in self.refused]
        return [post for one in here for post in self._under_way(one, self._end(one))]

    def counts(self) -> dict[str, int]:
        """Return the number of spooled readings and of readings unfit to be sent."""
        ((spooled, unfit),) = self.store.run("SELECT count(*), count(unfit) FROM spool")
        return {"spooled": spooled - unfit, "unfit": unfit}

    def has_waiting(self) -> bool:
        """Return whether a reading of a subject that was not refused still has no receipt."""
        if not self.refused:
            return bool(self.store.run("SELECT 1 FROM spool WHERE unfit IS NULL LIMIT 1"))
        rows = self.store.run("SELECT DISTINCT pseudonym FROM spool WHERE unfit IS NULL")
        return any(pseudonym not in self.refused for (pseudonym,) in rows)

    def pseudonyms(self) -> list[str]:
        rows = self.store.run("SELECT pseudonym FROM ends")
        return [pseudonym for (pseudonym,) in rows if pseudonym in self._keys]

    def begin_again(self) -> None:
        """Begin new sessions for all subjects, and send pending readings again.

        Use it if sender and recipient are out of step, such as after restoring a backup. The first
        message of a session depends on no earlier message. Each new session therefore reveals as
        much as one more reading sent by itself. A reading with a lost receipt arrives twice. Its
        bits are the same in two cases: the map sends each reading by itself, or the reading was
        also the first before.
        """
        before = {one: self._last(one) for one in self.pseudonyms()}
        self._ends.clear()
        with self.store.transaction():
            self.store.run("UPDATE ends SET state = ''")
            self.store.run("UPDATE spool SET number = NULL")
            for pseudonym, (count, known) in before.items():
                cells = known or self._next(pseudonym)
                if cells or not self.codec.codec.side:  # otherwise it begins with the next reading
                    self._ends[pseudonym] = self._begin_session(pseudonym, count, cells)
                    self._save(pseudonym)
        self._look |= self._ends.keys()
        self.refused = self._list_unenrolled()

    def close(self) -> None:
        self.store.close()

    def __enter__(self) -> Sender:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    def _list_unenrolled(self) -> dict[str, str]:
        """Return the subjects with readings in the spool that are no longer enrolled."""
        rows = self.store.run("SELECT DISTINCT pseudonym FROM spool")
        return {str(one): "enrolment" for (one,) in rows if one not in self._keys}

    def _heard(self, post: EnvelopePost) -> list[EnvelopePost]:
        """Process one reply and return the messages that it requests again."""
        envelope = self.sealer.authenticate(post)
        if envelope is None:
            self.unauthenticated += 1
            return []
        header = envelope.header
        begun = "SELECT 1 FROM ends WHERE pseudonym = ? AND state != ''"
        if post.pseudonym not in self._ends and not self.store.run(begun, post.pseudonym):
            return []
        end = self._end(post.pseudonym)
        if header.session != end.session.name or header.format != FORMAT:
            return []  # from an earlier session or another version of voile
        reply = self._reply(envelope)
        if reply is None:
            return []  # content that is not a reply changes nothing
        if reply.refused:  # ignore refusals of messages that are no longer pending
            if any(message.number == header.number for message in end.session.pending()):
                self.refused[post.pseudonym] = reply.refused
            return []
        try:
            end.session.acknowledge(reply.receipt)
        except RequestError:
            self.refused[post.pseudonym] = "step"
            return []
        done = "DELETE FROM spool WHERE pseudonym = ? AND number <= ?"
        self.store.run(done, post.pseudonym, reply.receipt.number)
        self._look.add(post.pseudonym)
        return self._under_way(post.pseudonym, end) if reply.again else []

    def _reply(self, envelope: SealedEnvelope) -> ReceiptReply | None:
        header = envelope.header
        if header.sealed != self.sealer.encrypt:
            return ReceiptReply(
                MessageReceipt(header.session, header.number, ""), refused="encryption"
            )
        with suppress(RequestError):
            return ReceiptReply.unpack_content(header.session, header.number, envelope.open())
        return None

    def _feed_session(self, pseudonym: str) -> list[EnvelopePost]:
        """Add waiting readings to the session up to its limit, and return the posts."""
        end = self._end(pseudonym)
        already = len(end.session.pending())
        sql = (
            f"SELECT id, time, known, point, beside FROM spool WHERE {WAITING} ORDER BY id LIMIT ?"
        )
        while room := end.session.ahead - len(end.session.pending()):
            rows = self.store.run(sql, pseudonym, room)
            for which, time, *texts in rows:
                with self.store.reading():
                    known, point, beside = map(json.loads, texts)
                if tuple(known) != end.session.known.cells:
                    if end.session.pending():
                        return self._under_way(pseudonym, end, already)
                    count = end.session.acknowledged_count
                    end = self._ends[pseudonym] = self._begin_session(
                        pseudonym, count, tuple(known)
                    )
                self._number(end, which, time, point, beside)
            if not rows:
                break
        return self._under_way(pseudonym, end, already)

    def _number(
        self,
        end: _SenderEnd,
        which: int,
        time: int | None,
        point: list[float],
        beside: Mapping[str, Plain],
    ) -> None:
        """Make a message of one reading, or reject the reading with a reason."""
        try:
            end.session.send(point, time)
            number = end.session.pending()[-1].number
        except RequestError as error:
            self.store.run("UPDATE spool SET unfit = ? WHERE id = ?", error.what, which)
            self.unfit.append(error.what)
            return
        end.beside[number] = beside
        self.store.run("UPDATE spool SET number = ? WHERE id = ?", number, which)

    def _under_way(self, pseudonym: str, end: _SenderEnd, already: int = 0) -> list[EnvelopePost]:
        """Return all pending messages, without the first `already`."""
        pending = end.session.pending()
        end.beside = {message.number: end.beside[message.number] for message in pending}
        key = self._keys[pseudonym]
        posts = []
        for message in pending[already:]:
            header = EnvelopeHeader(
                key.generation, self.codec.mark, message.session, message.number
            )
            letter = ReadingLetter(end.session.ahead, message, end.beside[message.number])
            posts.append(self.sealer.seal(pseudonym, key, header, letter.pack_content()))
        return posts

    def _key(self, pseudonym: str, generation: int) -> DeviceKey | None:
        """Return the key of a subject's device if it has this generation."""
        key = self._keys.get(pseudonym)
        return key if key and key.generation == generation else None

    def _end(self, pseudonym: str) -> _SenderEnd:
        """Return a subject's session state from memory or disk, or begin a session."""
        if pseudonym not in self._ends:
            with self.store.reading():
                self._ends[pseudonym] = self._load_end(pseudonym)
        return self._ends[pseudonym]

    def _load_end(self, pseudonym: str) -> _SenderEnd:
        ((state,),) = self.store.run("SELECT state FROM ends WHERE pseudonym = ?", pseudonym)
        if not state:
            return self._begin_session(pseudonym, 0, self._next(pseudonym))
        sql = "SELECT number, beside FROM spool WHERE pseudonym = ? AND number NOTNULL"
        beside = {number: json.loads(text) for number, text in self.store.run(sql, pseudonym)}
        secret = self._keys[pseudonym].dither()
        session = Session.from_json(self.codec, json.loads(state), secret=secret)
        if len(bytes.fromhex(session.name)) != SESSION:
            raise ValueError("no envelope bears such a name")
        return _SenderEnd(session, {one.number: beside[one.number] for one in session.pending()})

    def _next(self, pseudonym: str) -> tuple[Cell, ...]:
        """Return the known columns of the first waiting reading in the spool."""
        sql = f"SELECT known FROM spool WHERE {WAITING} ORDER BY id LIMIT 1"
        return tuple(json.loads(next(iter(self.store.run(sql, pseudonym)), ("[]",))[0]))

    def _begin_session(self, pseudonym: str, before: int, cells: tuple[Cell, ...]) -> _SenderEnd:
        ((which,),) = self.store.run("SELECT class FROM ends WHERE pseudonym = ?", pseudonym)
        label, name = self.codec.codec.classes[int(which)], secrets.token_hex(SESSION)
        key = self._keys[pseudonym]
        session = Session(
            self.codec,
            label,
            name,
            ahead=self._ahead,
            secret=key.dither(),
            known=KnownColumns.of(self.codec, cells, key.derive_known_key()),
            before=before,
        )
        return _SenderEnd(session, {})

    def _last(self, pseudonym: str) -> tuple[int, tuple[Cell, ...]]:
        """Return the number of acknowledged readings and the known columns.

        Return 0 and no columns if the state is damaged.
        """
        with suppress(RequestError):
            session = self._end(pseudonym).session
            return session.acknowledged_count, session.known.cells
        return 0, ()

    def _save(self, pseudonym: str) -> None:
        state = json.dumps(self._ends[pseudonym].session.to_json())
        self.store.run("UPDATE ends SET state = ? WHERE pseudonym = ?", state, pseudonym)
