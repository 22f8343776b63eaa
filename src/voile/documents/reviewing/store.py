"""Lines and answers on disk: one SQLite file, which a process killed at any moment leaves whole."""

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
    """Lines to read and what reviewers answered.

    Each stroke of a key is a row: the line's new look to its reviewer, and whether that is final.
    The last row of a line and reviewer is valid. To undo is to delete the last stroke.

    Guarantee: on a kill at any moment (tested) every stroke that was returned from is there whole.
    """

    def __init__(self, path: Path) -> None:
        super().__init__(path, DAMAGED, settings=("busy_timeout = 10000",))
        self.path = path

    @classmethod
    def create(cls, path: str | os.PathLike[str], *, meta: Mapping[str, str]) -> ReviewStore:
        """Make a store with facts of its own: the notes' fingerprint, the goal.

        `readers` in `meta` is the number of reviewers who read each line [1].

        Raises
        ------
        RequestError : there is a file already.
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
        RequestError : there is none, or it is of another version of voile.
        DamagedError : the file is damaged, cut short or no store.
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
        """The facts that the store was made with."""
        return {str(name): str(value) for name, value in self.run("SELECT * FROM meta")}

    def note(self, name: str, value: str) -> None:
        """Write one fact, in place of the one of that name."""
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
        """Add lines to be read in this batch, all or none; return them as numbered here."""
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
        waiting_for : only those that this reviewer may still answer.
        containing : only those with these characters.
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
        """Return the line of this number, or refuse it."""
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
        """Save a stroke: how a line looks to its reviewer now.

        Parameters
        ----------
        final : the reviewer confirmed; else the line waits on, and looks so when next shown.

        Raises
        ------
        RequestError : there is no such line, or the spans are not inside it and apart.
        """
        self.answer_all(
            [(ReviewAnswer(line, reviewer, _now(), tuple(spans), unsure, seconds), final)]
        )

    def answer_all(self, answers: Sequence[tuple[ReviewAnswer, bool]], *, never: str = "") -> None:
        """Save one stroke that several lines show, the line first on which it was made.

        Parameters
        ----------
        answers : each with whether it is final; of one reviewer.
        never : a word that the stroke calls harmless everywhere.
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
        """The words that reviewers called harmless everywhere, as they were written."""
        return frozenset(word for (word,) in self.run("SELECT word FROM never"))

    def shown_to(self, line: int, reviewer: str) -> ReviewAnswer | None:
        """Return how a line last looked to a reviewer, final or not; None before any stroke."""
        sql = "SELECT * FROM keys WHERE line = ? AND reviewer = ? ORDER BY number DESC LIMIT 1"
        rows = self.run(sql, line, reviewer)
        return self._answers(rows)[0] if rows else None

    def next_for(
        self, reviewer: str, purposes: Sequence[str], apart_from: Sequence[int] = ()
    ) -> ReviewLine | None:
        """Return the first line that a reviewer may answer, others' open lines only at the end."""
        sql = (
            f"SELECT * FROM lines WHERE purpose IN ({_marks(purposes)}) AND {WAITS}"
            f" ORDER BY number IN ({_marks(apart_from)}), number LIMIT 1"
        )
        values = (*purposes, reviewer, self._readers, *apart_from)
        return next(iter(self._as_lines(self.run(sql, *values))), None)

    def following(
        self, line: ReviewLine, reviewer: str, most: int, apart_from: Sequence[int] = ()
    ) -> list[ReviewLine]:
        """Return the next lines of a line's purpose that a reviewer may answer, none of others'."""
        where = f"number > ? AND purpose = ? AND {WAITS} AND number NOT IN ({_marks(apart_from)})"
        sql = f"SELECT * FROM lines WHERE {where} ORDER BY number LIMIT ?"
        values = (line.number, line.purpose, reviewer, self._readers, *apart_from, most)
        return self._as_lines(self.run(sql, *values))

    def last_key(self, line: int, reviewer: str) -> int:
        """Return the number of a reviewer's last stroke on a line, 0 before any; none is reused."""
        sql = "SELECT coalesce(max(number), 0) FROM keys WHERE line = ? AND reviewer = ?"
        return int(self.run(sql, line, reviewer)[0][0])

    def undo(self, reviewer: str, *, since: int = 0) -> ReviewLine | None:
        """Delete a reviewer's last stroke; return the line it was made on, None without any.

        since : the first batch on whose lines it may have been made.
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
        """Return the answers that hold: the final one of each reviewer for each line, in order."""
        sql = (
            "SELECT finals.* FROM finals JOIN lines ON lines.number = finals.line"
            " WHERE ? IN (purpose, '') ORDER BY finals.number"
        )
        return self._answers(self.run(sql, purpose or ""))

    @property
    def state(self) -> tuple[int, int, int]:
        """Something that changes whenever lines are added, or an answer is given or undone."""
        sql = (
            "SELECT count(*), coalesce(max(number), 0), (SELECT count(*) FROM lines)"
            " FROM keys WHERE final"
        )
        ((answers, last, lines),) = self.run(sql)
        return answers, last, lines

    def reviewers(
        self, purposes: Sequence[str], *, batch: int | None = None
    ) -> dict[int, set[str]]:
        """Return who answered each line, by its number."""
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
        """Count the answers, and add up their seconds, of each at most the longest."""
        sql = (
            "SELECT count(*), coalesce(sum(min(seconds, ?)), 0.0) FROM finals JOIN lines"
            f" ON lines.number = finals.line WHERE purpose IN ({_marks(purposes)})"
        )
        ((answers, seconds),) = self.run(sql, longest, *purposes)
        return answers, seconds

    def last_batch(self, purpose: str) -> int:
        """Return the number of the last batch that has lines of a purpose, 0 without any."""
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
