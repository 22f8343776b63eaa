"""The clinic's end: every reading once and right, in a file, before its receipt is handed back."""

from __future__ import annotations

import json
import os
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import TypeAlias

from voile.errors import RequestError
from voile.signals.channel.posts import NOBODY, Letter, Plain, Post, Reply
from voile.signals.channel.store import Store
from voile.signals.sequences import Receipt, SequenceCodec
from voile.signals.sequences.session import Reading, Session

TABLES = """
CREATE TABLE IF NOT EXISTS sessions (
    pseudonym TEXT NOT NULL, name TEXT NOT NULL, state TEXT NOT NULL,
    PRIMARY KEY (pseudonym, name))
"""
LATEST = "SELECT pseudonym, name, max(rowid) FROM sessions GROUP BY pseudonym"
SAVE = "INSERT INTO sessions VALUES (?, ?, ?) ON CONFLICT DO UPDATE SET state = excluded.state"
READINGS = "readings.jsonl"
MODE = os.O_CREAT | os.O_RDWR | getattr(os, "O_BINARY", 0)

Key: TypeAlias = tuple[str, str]  # a pseudonym, and the name of a session


@dataclass(frozen=True)
class Subject:
    """Whom the clinic knows: her class, and what she is called in the output."""

    label: str | int
    name: str | int


@dataclass
class _Batch:
    """What a turn brings: lines of the output, the furthest number heard, and refusals."""

    lines: list[bytes] = field(default_factory=list)
    furthest: dict[Key, int] = field(default_factory=dict)
    refusals: list[Post] = field(default_factory=list)


class Recipient:
    """Receive the readings of subjects whose class is known; knows no network.

    `turn` is given what came, and returns the replies to hand back. By then the readings are at
    the end of `readings.jsonl` in the folder, one JSON object a line, each once however often it
    came: the subject, the session and number, what was sent beside, and the columns. What cannot
    be decoded for certain is refused: of another map or version, of an unknown pseudonym, out of
    step. A message beyond a gap asks for what is missing. A process killed at any moment goes on
    where it was.

    Parameters
    ----------
    folder : this end's own: it holds readings, with mode 0700.
    codec : the map of sequences, that of the senders.
    subjects : per pseudonym whose it is.
    columns : names of the source's columns, for the output.
    words : of columns whose numbers stand for words, 0 for the first.

    Attributes
    ----------
    received : readings written since this start.
    refused : how many messages were refused since this start, by pseudonym and reason.
    """

    def __init__(
        self,
        folder: str | os.PathLike[str],
        codec: SequenceCodec,
        subjects: Mapping[str, Subject],
        columns: Sequence[str],
        words: Mapping[str, Sequence[str]] | None = None,
    ) -> None:
        if len(columns) != len(codec.order):
            raise RequestError(f"there are {len(columns)} names of {len(codec.order)} columns")
        for subject in subjects.values():
            codec.which(subject.label)
        self.codec = codec
        self.subjects = subjects
        self.columns = tuple(columns)
        self.words = words or {}
        self.received = 0
        self.refused: Counter[tuple[str, str]] = Counter()
        self._sessions: dict[Key, Session] = {}
        self._file = -1
        self.store = Store(folder, end="receive", mark=codec.mark, tables=TABLES)
        try:
            self._open(self.store.folder / READINGS)
        except BaseException:
            self.close()
            raise

    def _open(self, path: os.PathLike[str]) -> None:
        """Open the output, and take off what was written by a turn that did not end."""
        self._file = os.open(path, MODE, 0o600)
        self._length = int(self.store.fact("length") or 0)
        if os.fstat(self._file).st_size < self._length:
            raise RequestError(
                "the file is shorter than what was written to it",
                where=os.fspath(path),
                instead="put it back, or use another folder",
            )
        os.ftruncate(self._file, self._length)

    def turn(self, posts: Iterable[Post]) -> list[Post]:
        """Take in messages; return the replies. All they tell of is on disk."""
        batch = _Batch()
        try:
            with self.store.transaction():
                for post in posts:
                    self._hear(post, batch)
                length = self._write(b"".join(batch.lines))
                self.store.note("length", str(length))
                for key in batch.furthest:
                    state = json.dumps(self._session(key).to_json())
                    self.store.run(SAVE, *key, state)
        except BaseException:
            self._sessions.clear()  # they are ahead of the disk
            os.ftruncate(self._file, self._length)
            raise
        self._length = length
        self.received += len(batch.lines)
        heard = [self._reply(key, number) for key, number in batch.furthest.items()]
        return batch.refusals + heard

    def receipts(self) -> list[Post]:
        """Return what tells all senders up to where all has come, so that they send the rest."""
        keys = [(str(row[0]), str(row[1])) for row in self.store.run(LATEST)]
        return [self._reply(key) for key in keys if key[0] in self.subjects]

    def close(self) -> None:
        """Let go of the folder."""
        if self._file >= 0:
            os.close(self._file)
        self.store.close()

    def __enter__(self) -> Recipient:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    def _hear(self, post: Post, batch: _Batch) -> None:
        """Take in one message: its reading, or why it is refused."""
        key = (post.pseudonym, NOBODY)
        try:
            letter = Letter.unpacked(post.payload)
        except RequestError:
            return self._refuse(key, "version", batch)
        message = letter.message
        key = (post.pseudonym, message.session)
        if post.pseudonym not in self.subjects:
            return self._refuse(key, "pseudonym", batch)
        if letter.map != self.codec.mark:
            return self._refuse(key, "map", batch)
        try:
            session = self._session(key, letter.ahead)
            reading = session.receive(message)
        except RequestError:
            return self._refuse(key, "step", batch)
        self._sessions[key] = session
        batch.furthest[key] = max(message.number, batch.furthest.get(key, 0))
        if reading is not None:
            batch.lines.append(self._line(key, letter, reading))
        return None

    def _refuse(self, key: Key, reason: str, batch: _Batch) -> None:
        pseudonym, session = key
        self.refused[pseudonym, reason] += 1
        reply = Reply(Receipt(session, 0, ""), refused=reason)
        batch.refusals.append(Post(pseudonym, reply.packed()))

    def _reply(self, key: Key, furthest: int | None = None) -> Post:
        """Return the receipt of a session; where it lags behind what was heard, ask again."""
        receipt = self._session(key).receipt()
        again = furthest is None or furthest > receipt.number
        return Post(key[0], Reply(receipt, again).packed())

    def _line(self, key: Key, letter: Letter, reading: Reading) -> bytes:
        named: dict[str, Plain] = {}
        for name, v in zip(self.columns, reading.values, strict=True):
            named[name] = self.words[name][int(v)] if name in self.words else v
        own = {"subject": self.subjects[key[0]].name, "session": key[1], "number": reading.number}
        return json.dumps({**own, **letter.beside, **own, **named}).encode() + b"\n"

    def _session(self, key: Key, ahead: int = 0) -> Session:
        """Return a session: from memory, from disk, or begun, where a message says how far ahead.

        What has begun is known from the first message on that it takes.
        """
        if key in self._sessions:
            return self._sessions[key]
        sql = "SELECT state FROM sessions WHERE pseudonym = ? AND name = ?"
        if rows := self.store.run(sql, *key):
            return Session.from_json(self.codec, json.loads(rows[0][0]))
        return Session(self.codec, self.subjects[key[0]].label, key[1], ahead=ahead)

    def _write(self, lines: bytes) -> int:
        """Write at the end of the output, to the disk; return its length."""
        os.lseek(self._file, self._length, os.SEEK_SET)
        left = memoryview(lines)
        while left:
            left = left[os.write(self._file, left) :]
        if lines:
            os.fsync(self._file)
        return self._length + len(lines)
