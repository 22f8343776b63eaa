"""Store lines and answers in one SQLite file, which stays whole if the process is killed."""

from __future__ import annotations

import json
import os
from collections.abc import Mapping, Sequence
from dataclasses import replace
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

from voile.core.errors import RequestError
from voile.data.files.database import OwnDatabase
from voile.documents.reviewing.intact import is_intact
from voile.documents.reviewing.line import ReviewAnswer, ReviewLine, ShownSpan, check_spans

__all__ = ["ReviewAnswer", "ReviewLine", "ReviewStore", "ShownSpan"]

FORMAT = "1"
DAMAGED = (
    "is damaged, or holds no answers of voile's",
    "put a backup back, or remove it and read again",
)
TABLES = """
CREATE TABLE meta (name TEXT PRIMARY KEY, value TEXT NOT NULL);
CREATE TABLE lines (
    number INTEGER PRIMARY KEY, batch INTEGER NOT NULL, purpose TEXT NOT NULL,
    document INTEGER NOT NULL, start INTEGER NOT NULL, "end" INTEGER NOT NULL,
    before TEXT NOT NULL, text TEXT NOT NULL, after TEXT NOT NULL,
    proposals TEXT NOT NULL, why TEXT NOT NULL, extra TEXT NOT NULL);
CREATE TABLE keys (
    number INTEGER PRIMARY KEY AUTOINCREMENT, stroke INTEGER NOT NULL,
    line INTEGER NOT NULL REFERENCES lines, reviewer TEXT NOT NULL, at TEXT NOT NULL,
    spans TEXT NOT NULL, unsure INTEGER NOT NULL, seconds REAL NOT NULL, final INTEGER NOT NULL);
CREATE INDEX of_line ON keys (line, reviewer, number);
CREATE INDEX of_reviewer ON keys (reviewer, stroke);
CREATE TABLE never (word TEXT NOT NULL, reviewer TEXT NOT NULL, stroke INTEGER NOT NULL);
CREATE VIEW finals AS SELECT * FROM keys AS own WHERE final AND NOT EXISTS (
    SELECT 1 FROM keys AS later WHERE later.line = own.line AND later.reviewer = own.reviewer
    AND later.number > own.number)
"""
WAITS = """
NOT EXISTS (SELECT 1 FROM finals WHERE finals.line = lines.number AND finals.reviewer = ?)
AND (SELECT count(*) FROM finals WHERE finals.line = lines.number)
    < CASE purpose WHEN 'adjudication' THEN 1 ELSE ? END
"""


class ReviewStore(OwnDatabase):
    """A store of lines to read, and of the reviewers' answers.

    Each key stroke is a row: the line's new state for its reviewer, and whether that is final. The
    last row of a line and reviewer is valid. An undo deletes the last stroke.

    Guarantee: if the process is killed at any moment (tested), every completed stroke is in the
    file.
    """

    def __init__(self, path: Path) -> None:
        super().__init__(path, DAMAGED, settings=("busy_timeout = 10000",))
        self.path = path

    @classmethod
    def create(cls, path: str | os.PathLike[str], *, meta: Mapping[str, str]) -> ReviewStore:
        """Create a store with facts: the notes' fingerprint, the goal.

        `readers` in `meta` is the number of reviewers who read each line [1].

        Raises
        ------
        RequestError : the file already exists.
        """
        if Path(path).exists():
            raise RequestError("holds a review already", where=str(path))
        store = cls(Path(path))
        with store.transaction():
            for statement in TABLES.split(";\n"):
                store.run(statement)
            for fact in {**meta, "format": FORMAT}.items():
                store.run("INSERT INTO meta VALUES (?, ?)", *fact)
        return store

    @classmethod
    def open(cls, path: str | os.PathLike[str]) -> ReviewStore:
        """Open a store.

        Raises
        ------
        RequestError : the file does not exist, or is of another version of voile.
        DamagedError : the file is damaged, cut short or not a store.
        """
        if not Path(path).is_file():
            remedy = "put a backup back, or remove its folder and begin again"
            raise RequestError("there are no answers", where=str(path), instead=remedy)
        store = cls(Path(path))
        try:
            store._check()
        except BaseException:
            store.close()
            raise
        return store

    @property
    def meta(self) -> Mapping[str, str]:
        """The facts of the store."""
        return {str(name): str(value) for name, value in self.run("SELECT * FROM meta")}

    def note(self, name: str, value: str) -> None:
        """Write a fact, and replace a fact of the same name."""
        self.run("INSERT OR REPLACE INTO meta VALUES (?, ?)", name, value)

    def check_notes(self, fingerprint: str) -> None:
        """Refuse the review of other notes."""
        if self.meta.get("fingerprint") != fingerprint:
            raise RequestError(
                "the review is of other notes, or the notes changed since",
                where=str(self.path),
                instead="make a new work folder of these with voile documents init",
            )

    def add(self, lines: Sequence[ReviewLine], *, batch: int) -> list[ReviewLine]:
        """Add lines to this batch, all or none, and return them with their numbers."""
        with self.transaction():
            return [self._add(line, batch) for line in lines]

    def lines(
        self,
        *,
        purpose: str | None = None,
        batch: int | None = None,
        waiting_for: str | None = None,
        containing: str | None = None,
    ) -> list[ReviewLine]:
        """Return lines in the order in which they were added.

        Parameters
        ----------
        waiting_for : only lines that this reviewer may still answer.
        containing : only lines that contain this text.
        """
        asked = {"purpose": purpose, "batch": batch}
        given = {name: value for name, value in asked.items() if value is not None}
        where = [f"{name} = ?" for name in given]
        values = [*given.values()]
        if waiting_for is not None:
            where.append(WAITS)
            values += [waiting_for, self._readers]
        if containing is not None:
            where.append("instr(text, ?)")
            values.append(containing)
        return self._lines(" AND ".join(where) or "TRUE", *values)

    def line(self, number: int) -> ReviewLine:
        """Return the line with this number, or raise RequestError."""
        found = self._lines("number = ?", number)
        if not found:
            raise RequestError(f"there is no line {number}", where=str(self.path))
        return found[0]

    def numbers(self, *, purpose: str) -> list[int]:
        """Return the numbers of a purpose's lines."""
        sql = "SELECT number FROM lines WHERE purpose = ? ORDER BY number"
        return [number for (number,) in self.run(sql, purpose)]

    def answer(
        self,
        line: int,
        reviewer: str,
        spans: Sequence[ShownSpan],
        *,
        unsure: bool = False,
        seconds: float = 0.0,
        final: bool = True,
    ) -> None:
        """Save a stroke: the current state of a line for its reviewer.

        Parameters
        ----------
        final : whether the reviewer confirmed. If not, the line continues to wait, and is shown in
            this state next time.

        Raises
        ------
        RequestError : the line does not exist, or the spans overlap or are outside it.
        """
        self.answer_all(
            [(ReviewAnswer(line, reviewer, _now(), tuple(spans), unsure, seconds), final)]
        )

    def answer_all(self, answers: Sequence[tuple[ReviewAnswer, bool]], *, never: str = "") -> None:
        """Save one stroke that changes several lines, with the line of the stroke first.

        Parameters
        ----------
        answers : each answer of one reviewer, and whether it is final.
        never : a word that the stroke marks as harmless everywhere.
        """
        with self.transaction():
            stroke = int(self.run("SELECT coalesce(max(stroke), 0) + 1 FROM keys")[0][0])
            for answer, final in answers:
                self._save(answer, stroke, final=final)
            if never:
                word = (never, answers[0][0].reviewer, stroke)
                self.run("INSERT INTO never VALUES (?, ?, ?)", *word)

    @property
    def never(self) -> frozenset[str]:
        """The words that reviewers marked as harmless everywhere, in their written form."""
        return frozenset(word for (word,) in self.run("SELECT word FROM never"))

    def shown_to(self, line: int, reviewer: str) -> ReviewAnswer | None:
        """Return the last state of a line for a reviewer, final or not; None before any stroke."""
        sql = "SELECT * FROM keys WHERE line = ? AND reviewer = ? ORDER BY number DESC LIMIT 1"
        rows = self.run(sql, line, reviewer)
        return self._answers(rows)[0] if rows else None

    def next_for(
        self, reviewer: str, purposes: Sequence[str], apart_from: Sequence[int] = ()
    ) -> ReviewLine | None:
        """Return the first line that a reviewer may answer, with others' open lines last."""
        sql = (
            f"SELECT * FROM lines WHERE purpose IN ({_marks(purposes)}) AND {WAITS}"
            f" ORDER BY number IN ({_marks(apart_from)}), number LIMIT 1"
        )
        values = (*purposes, reviewer, self._readers, *apart_from)
        return next(iter(self._as_lines(self.run(sql, *values))), None)

    def following(
        self, line: ReviewLine, reviewer: str, most: int, apart_from: Sequence[int] = ()
    ) -> list[ReviewLine]:
        """Return the next lines of a purpose that a reviewer may answer, except `apart_from`."""
        where = f"number > ? AND purpose = ? AND {WAITS} AND number NOT IN ({_marks(apart_from)})"
        sql = f"SELECT * FROM lines WHERE {where} ORDER BY number LIMIT ?"
        values = (line.number, line.purpose, reviewer, self._readers, *apart_from, most)
        return self._as_lines(self.run(sql, *values))

    def last_key(self, line: int, reviewer: str) -> int:
        """Return the number of a reviewer's last stroke on a line; 0 before any.

        Numbers are not reused.
        """
        sql = "SELECT coalesce(max(number), 0) FROM keys WHERE line = ? AND reviewer = ?"
        return int(self.run(sql, line, reviewer)[0][0])

    def undo(self, reviewer: str, *, since: int = 0) -> ReviewLine | None:
        """Delete a reviewer's last stroke, and return its line; None if there is no stroke.

        since : the first batch in which strokes can be undone.
        """
        with self.transaction():
            sql = (
                "SELECT stroke, line FROM keys JOIN lines ON lines.number = line"
                " WHERE reviewer = ? AND batch >= ? ORDER BY stroke DESC, keys.number LIMIT 1"
            )
            rows = self.run(sql, reviewer, since)
            if not rows:
                return None
            stroke, line = rows[0]
            for table in ("keys", "never"):
                self.run(f"DELETE FROM {table} WHERE stroke = ?", stroke)
            return self.line(line)

    def answers(self, *, purpose: str | None = None) -> list[ReviewAnswer]:
        """Return the final answer of each reviewer for each line, in order."""
        sql = (
            "SELECT finals.* FROM finals JOIN lines ON lines.number = finals.line"
            " WHERE ? IN (purpose, '') ORDER BY finals.number"
        )
        return self._answers(self.run(sql, purpose or ""))

    @property
    def state(self) -> tuple[int, int, int]:
        """A value that changes whenever lines are added, or an answer is given or undone."""
        sql = (
            "SELECT count(*), coalesce(max(number), 0), (SELECT count(*) FROM lines)"
            " FROM keys WHERE final"
        )
        ((answers, last, lines),) = self.run(sql)
        return answers, last, lines

    def reviewers(
        self, purposes: Sequence[str], *, batch: int | None = None
    ) -> dict[int, set[str]]:
        """Return the reviewers who answered each line, by the line's number."""
        sql = (
            "SELECT lines.number, finals.reviewer FROM lines"
            " LEFT JOIN finals ON finals.line = lines.number"
            f" WHERE purpose IN ({_marks(purposes)}) AND batch = coalesce(?, batch)"
        )
        by: dict[int, set[str]] = {}
        for number, reviewer in self.run(sql, *purposes, batch):
            by.setdefault(number, set()).update([reviewer] if reviewer else [])
        return by

    def waiting(self, reviewer: str, purposes: Sequence[str]) -> int:
        """Count the lines that a reviewer may still answer."""
        sql = f"SELECT count(*) FROM lines WHERE purpose IN ({_marks(purposes)}) AND {WAITS}"
        return int(self.run(sql, *purposes, reviewer, self._readers)[0][0])

    def pace(self, purposes: Sequence[str], *, longest: float) -> tuple[int, float]:
        """Count the answers, and sum their seconds, at most `longest` for each answer."""
        sql = (
            "SELECT count(*), coalesce(sum(min(seconds, ?)), 0.0) FROM finals JOIN lines"
            f" ON lines.number = finals.line WHERE purpose IN ({_marks(purposes)})"
        )
        ((answers, seconds),) = self.run(sql, longest, *purposes)
        return answers, seconds

    def last_batch(self, purpose: str) -> int:
        """Return the number of the last batch with lines of a purpose; 0 if there is none."""
        sql = "SELECT coalesce(max(batch), 0) FROM lines WHERE purpose = ?"
        return int(self.run(sql, purpose)[0][0])

    @property
    def _readers(self) -> int:
        return int(self.meta.get("readers", "1"))

    def _check(self) -> None:
        if self.meta.get("format", FORMAT) != FORMAT:
            raise RequestError(
                "holds answers of another version of voile",
                where=str(self.path),
                instead="use that version, or remove it and read again",
            )
        if "format" not in self.meta or not is_intact(self, TABLES):
            raise self.describe_damage()
        sql = (
            "SELECT text, proposals FROM lines"
            " UNION ALL SELECT text, spans FROM keys JOIN lines ON lines.number = keys.line"
        )
        with self.reading():
            for text, spans in self.run(sql):
                check_spans(text, _spans(spans))

    def _add(self, line: ReviewLine, batch: int) -> ReviewLine:
        values = (
            batch, line.purpose, line.document, line.start, line.end,
            line.before, line.text, line.after,
            _json(check_spans(line.text, line.proposals)), line.why, line.extra,
        )  # fmt: skip
        sql = f"INSERT INTO lines VALUES (NULL{', ?' * len(values)}) RETURNING *"
        return self._as_lines(self.run(sql, *values))[0]

    def _lines(self, where: str, *values: Any) -> list[ReviewLine]:
        return self._as_lines(
            self.run(f"SELECT * FROM lines WHERE {where} ORDER BY number", *values)
        )

    def _as_lines(self, rows: Sequence[tuple[Any, ...]]) -> list[ReviewLine]:
        with self.reading():
            return [replace(ReviewLine(*row), proposals=_spans(row[9])) for row in rows]

    def _answers(self, rows: Sequence[tuple[Any, ...]]) -> list[ReviewAnswer]:
        with self.reading():
            return [
                ReviewAnswer(line, reviewer, at, _spans(spans), bool(unsure), seconds)
                for _, _, line, reviewer, at, spans, unsure, seconds, _ in rows
            ]

    def _save(self, one: ReviewAnswer, stroke: int, *, final: bool) -> None:
        spans = check_spans(self.line(one.line).text, one.spans)
        values = (
            stroke, one.line, one.reviewer, one.at, _json(spans), one.unsure, one.seconds, final,
        )  # fmt: skip
        self.run(f"INSERT INTO keys VALUES (NULL{', ?' * len(values)})", *values)


def _marks(values: Sequence[object]) -> str:
    return ", ".join("?" * len(values))


def _now() -> str:
    return datetime.now(UTC).isoformat(timespec="seconds")


def _json(spans: Sequence[ShownSpan]) -> str:
    return json.dumps([[one.start, one.end, one.label, one.by, one.doubt] for one in spans])


def _spans(text: str) -> tuple[ShownSpan, ...]:
    return tuple(map(_parse_shown, json.loads(text)))


def _parse_shown(one: Sequence[Any]) -> ShownSpan:
    start, end, label, by, doubt = one
    if [*map(type, (start, end, label, by, float(doubt)))] != [int, int, str, str, float]:
        raise TypeError
    return ShownSpan(start, end, label, by, doubt)
