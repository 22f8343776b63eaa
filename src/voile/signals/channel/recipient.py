"""The clinic's side of the channel: write every reading once to a file, then acknowledge it."""

from __future__ import annotations

import json
import os
from collections.abc import Callable, Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from datetime import date
from typing import TypeAlias

from voile.core.errors import RequestError
from voile.keys.secret import Secret
from voile.signals.channel.envelope import FORMAT, EnvelopeHeader, EnvelopeSealer, SealedEnvelope
from voile.signals.channel.keys import DeviceKey
from voile.signals.channel.posts import EnvelopePost, ReadingLetter, ReceiptReply
from voile.signals.channel.store import EndStore, StoreLines
from voile.signals.model.codec.limits import ReadingLimits
from voile.signals.model.sequences.messages import MessageReceipt
from voile.signals.model.sequences.sequence_codec import SequenceCodec
from voile.signals.model.sequences.session import Session
from voile.signals.model.sequences.state import Cell, KnownColumns, ReceivedReading

TABLES = """
CREATE TABLE IF NOT EXISTS sessions (
    pseudonym TEXT NOT NULL, name TEXT NOT NULL, generation INTEGER NOT NULL, state TEXT NOT NULL,
    PRIMARY KEY (pseudonym, name));
CREATE INDEX IF NOT EXISTS begun ON sessions (pseudonym, generation)
"""
LATEST = "SELECT pseudonym, name, max(rowid) FROM sessions GROUP BY pseudonym"
BEGUN = "SELECT count(*) FROM sessions WHERE pseudonym = ? AND generation = ?"
SAVE = "INSERT INTO sessions VALUES (?, ?, ?, ?) ON CONFLICT DO UPDATE SET state = excluded.state"
MOST = 1000  # maximum number of sessions of a subject under one generation of its key
AT_HAND = 4  # sessions of a subject in memory; the others are on disk
READINGS, SET_ASIDE = "readings.jsonl", "set-aside.jsonl"

Key: TypeAlias = tuple[str, str]  # a pseudonym and the name of a session


@dataclass(frozen=True)
class ClinicSubject:
    """A subject that the clinic expects: its class, output name and key generation."""

    label: str | int
    name: str | int
    generation: int = 1
    known: tuple[Cell, ...] = ()  # its side columns, if the map has any


@dataclass
class RefusedMessages:
    """The number of messages refused for one reason, and the number of the first one."""

    first: int
    count: int = 0


@dataclass
class _TurnBatch:
    """The results of a turn: lines for both files, replies to refusals and receipts to send.

    `heard` maps each session to its largest message number and to the key for its reply.
    """

    readings: list[bytes] = field(default_factory=list)
    set_aside: list[bytes] = field(default_factory=list)
    refusals: list[EnvelopePost] = field(default_factory=list)
    heard: dict[Key, tuple[int, DeviceKey]] = field(default_factory=dict)


class Recipient:
    """The clinic's side, which receives readings of subjects with known classes, without a network.

    `turn` takes the received messages and returns the replies to send. Before it returns, the
    readings are stored at the end of `readings.jsonl` in the folder, one JSON object per line. Each
    reading is stored once, even if its message arrives several times. A line contains the subject,
    the session, the number, the kept columns and the readings' columns. A reading outside the range
    of the map or of a column goes to `set-aside.jsonl` instead. It is acknowledged like any other
    reading.

    Anyone may have written a message. Messages without a MAC under a key derived from the secret
    are counted and not answered. `turn` refuses a message that it cannot decode for certain:

    - it belongs to another map or version, or to an unknown pseudonym;
    - it is out of step;
    - its session began with known columns that differ from the subject's columns here;
    - it contains a column that the kit does not keep.

    A session keeps its first known columns. A message after a gap requests the missing messages. A
    process that was killed continues from its last state.

    A subject begins at most `MOST` sessions under one generation of its key. All sessions stay on
    disk, so that a repeated message is never taken for a new one. At most `AT_HAND` are in memory.

    received, set_aside : number of readings written to either file since this start.
    unauthenticated : number of messages without a valid MAC since this start.
    refused : the other messages refused since this start, by pseudonym and reason.
    """

    def __init__(
        self,
        folder: str | os.PathLike[str],  # its own folder, mode 0700: it contains readings
        codec: SequenceCodec,  # the codec of the senders
        subjects: Mapping[str, ClinicSubject],  # by pseudonym
        columns: Sequence[ReadingLimits],  # columns of the source, for the output
        secret: Secret,  # the key of every device is derived from it
        *,
        kept: Collection[str] = (),  # columns that may be sent with a reading
        topic: str = "voile",
        encrypt: bool = False,  # must be the same for senders and recipient
        overlap: date | None = None,  # last day of the previous key generation
        today: Callable[[], date] = date.today,  # replaced in tests only
    ) -> None:
        if len(columns) != len(codec.order):
            raise RequestError(f"there are {len(columns)} names of {len(codec.order)} columns")
        for subject in subjects.values():
            codec.law(codec.which(subject.label), subject.known)
        self.codec = codec
        self.subjects = subjects
        self.columns = tuple(columns)
        self.kept = frozenset(kept)
        self.received = self.set_aside = self.unauthenticated = 0
        self.refused: dict[tuple[str, str], RefusedMessages] = {}
        self._secret, self._overlap, self._today = secret, overlap, today
        self.sealer = EnvelopeSealer("readings", "receipts", self._key, topic, encrypt)
        self._sessions: dict[str, dict[str, Session]] = {}  # by pseudonym and name
        self._files: list[StoreLines] = []
        self.store = EndStore(folder, end="receive", mark=codec.mark, tables=TABLES)
        try:
            for name in (READINGS, SET_ASIDE):
                self._files.append(StoreLines(self.store, name))
        except BaseException:
            self.close()
            raise

    def turn(self, posts: Iterable[EnvelopePost]) -> list[EnvelopePost]:
        """Process messages and return the replies. Their readings are then already on disk."""
        batch = _TurnBatch()
        try:
            with self.store.transaction():
                for post in posts:
                    self._hear(post, batch)
                for file, lines in zip(self._files, (batch.readings, batch.set_aside), strict=True):
                    file.write(b"".join(lines))
                for key in batch.heard:
                    self._save(key, batch)
        except BaseException:
            self._sessions.clear()  # they are ahead of the state on disk
            for file in self._files:
                file.drop()
            raise
        for file in self._files:
            file.keep()
        self.received += len(batch.readings)
        self.set_aside += len(batch.set_aside)
        heard = [self._reply(key, own, number) for key, (number, own) in batch.heard.items()]
        return batch.refusals + heard

    def receipts(self) -> list[EnvelopePost]:
        """Return receipts for all senders, so that they repeat the missing messages."""
        keys = [(str(row[0]), str(row[1])) for row in self.store.run(LATEST)]
        with self.store.reading():
            return [
                self._reply(key, DeviceKey.derive(self._secret, key[0], generation))
                for key in keys
                if key[0] in self.subjects
                for generation in self._accepted_generations(self.subjects[key[0]])
            ]

    def close(self) -> None:
        for file in self._files:
            file.close()
        self.store.close()

    def __enter__(self) -> Recipient:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    def _key(self, pseudonym: str, generation: int) -> DeviceKey | None:
        return DeviceKey.derive(self._secret, pseudonym, generation) if generation else None

    def _accepted_generations(self, subject: ClinicSubject) -> list[int]:
        """Return the generations of a subject's keys that are accepted today."""
        overlaps = self._overlap is not None and self._today() <= self._overlap
        before = subject.generation - 1
        return [subject.generation, *([before] if overlaps and before else [])]

    def _hear(self, post: EnvelopePost, batch: _TurnBatch) -> None:
        """Process one message: store its reading, or the reason to refuse it."""
        envelope = self.sealer.authenticate(post)
        if envelope is None:
            self.unauthenticated += 1
            return None
        header, key = envelope.header, (post.pseudonym, envelope.header.session)
        reason = self._refusal(post.pseudonym, envelope)
        if reason:
            return self._refuse(post.pseudonym, envelope, reason, batch)
        try:
            letter = ReadingLetter.unpack_content(header.session, header.number, envelope.open())
        except RequestError:
            return self._refuse(post.pseudonym, envelope, "content", batch)
        if not letter.beside.keys() <= self.kept:
            return self._refuse(post.pseudonym, envelope, "kept", batch)
        session = self._session(key)
        if session is None:
            begun = self.store.run(BEGUN, post.pseudonym, header.generation)[0][0]
            if begun >= MOST:
                return self._refuse(post.pseudonym, envelope, "sessions", batch)
            session = self._begin_session(post.pseudonym, envelope, letter)
            if session.differs(letter.message):
                return self._refuse(post.pseudonym, envelope, "known", batch)
        try:
            reading = session.receive(letter.message)
        except (RequestError, ArithmeticError):
            return self._refuse(post.pseudonym, envelope, "step", batch)
        furthest = batch.heard[key][0] if key in batch.heard else 0
        batch.heard[key] = max(header.number, furthest), envelope.key
        self._hold(key, session, batch)
        if reading is not None:
            self._write(key, letter, reading, batch)
        return None

    def _begin_session(
        self, pseudonym: str, envelope: SealedEnvelope, letter: ReadingLetter
    ) -> Session:
        subject, name = self.subjects[pseudonym], envelope.header.session
        known = KnownColumns.of(self.codec, subject.known, envelope.key.derive_known_key())
        return Session(self.codec, subject.label, name, ahead=letter.ahead, known=known)

    def _refusal(self, pseudonym: str, envelope: SealedEnvelope) -> str:
        """Return the reason to refuse an envelope given its header, or an empty string."""
        header, subject = envelope.header, self.subjects.get(pseudonym)
        if header.format != FORMAT:
            return "version"
        if subject is None:
            return "pseudonym"
        if header.generation not in self._accepted_generations(subject):
            return "key"
        if header.map != self.codec.mark:
            return "map"
        return "" if header.sealed == self.sealer.encrypt else "encryption"

    def _refuse(
        self, pseudonym: str, envelope: SealedEnvelope, reason: str, batch: _TurnBatch
    ) -> None:
        session, number = envelope.header.session, envelope.header.number
        self.refused.setdefault((pseudonym, reason), RefusedMessages(number)).count += 1
        reply = ReceiptReply(MessageReceipt(session, number, ""), refused=reason)
        batch.refusals.append(self._seal_reply(pseudonym, envelope.key, envelope.header, reply))

    def _reply(self, key: Key, own: DeviceKey, furthest: int | None = None) -> EnvelopePost:
        """Return the receipt of a session. Request messages missing before `furthest`."""
        session = self._session(key)
        assert session is not None  # a message of the session was accepted
        receipt = session.receipt()
        again = furthest is None or furthest > receipt.number
        header = EnvelopeHeader(own.generation, self.codec.mark, key[1], 0)
        return self._seal_reply(key[0], own, header, ReceiptReply(receipt, again))

    def _seal_reply(
        self, pseudonym: str, own: DeviceKey, header: EnvelopeHeader, reply: ReceiptReply
    ) -> EnvelopePost:
        header = header._replace(number=reply.receipt.number, format=FORMAT)
        return self.sealer.seal(pseudonym, own, header, reply.pack_content())

    def _write(
        self, key: Key, letter: ReadingLetter, reading: ReceivedReading, batch: _TurnBatch
    ) -> None:
        """Add the line of a reading to the file in which it belongs."""
        pairs = list(zip(self.columns, reading.values, strict=True))
        # columns that the message does not contain are NaN, which no reading decodes to
        named = {column.name: column.write_value(v) if v == v else None for column, v in pairs}
        own = {"subject": self.subjects[key[0]].name, "session": key[1], "number": reading.number}
        line = json.dumps({**own, **letter.beside, **own, **named}).encode() + b"\n"
        outside = reading.outside or any(column.is_outside(v) for column, v in pairs if v == v)
        (batch.set_aside if outside else batch.readings).append(line)

    def _session(self, key: Key) -> Session | None:
        """Return a session from memory or from disk, or None if no message of it was accepted."""
        if session := self._sessions.get(key[0], {}).get(key[1]):
            return session
        sql = "SELECT state FROM sessions WHERE pseudonym = ? AND name = ?"
        if rows := self.store.run(sql, *key):
            with self.store.reading():
                return Session.from_json(self.codec, json.loads(rows[0][0]))
        return None

    def _hold(self, key: Key, session: Session, batch: _TurnBatch) -> None:
        """Keep a session in memory as its subject's latest, and drop the one silent for longest.

        A session is on disk from its first accepted message on, and stays there. Otherwise a
        repeated message would be taken for a new one.
        """
        held = self._sessions.setdefault(key[0], {})
        is_new = held.pop(key[1], None) is None
        held[key[1]] = session
        if is_new:
            self._save(key, batch)
        if len(held) > AT_HAND:
            silent = next(iter(held))
            self._save((key[0], silent), batch)
            del held[silent]

    def _save(self, key: Key, batch: _TurnBatch) -> None:
        """Save a session that this turn changed, unless it was saved when it left memory."""
        session = self._sessions[key[0]].get(key[1])
        if session is not None and key in batch.heard:
            generation = batch.heard[key][1].generation  # of the first message, once it is saved
            self.store.run(SAVE, *key, generation, json.dumps(session.to_json()))
