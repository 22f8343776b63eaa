"""`voile signals send`: send readings from a device or gateway to the clinic, over a broker."""

from __future__ import annotations

import json
import sys
from collections.abc import Iterator, Mapping, Sequence
from hashlib import sha256
from pathlib import Path
from threading import Thread
from typing import Any
from unicodedata import normalize

import numpy as np
import pyarrow as pa
from numpy.typing import NDArray

from voile.core.errors import RequestError
from voile.core.wording import count
from voile.data import Source
from voile.release.kit import StoredKit
from voile.release.own_verbs import EndedVerb, VerbReporter, open_reported
from voile.signals.channel import Enrolment, Link, Outgoing, Sender, forward
from voile.signals.channel.broker import line_of
from voile.signals.channel.live import EndOfReadings
from voile.signals.model.content import SignalsContent
from voile.signals.model.readings.moments import order_rows, rank_moments
from voile.signals.model.readings.sources import BatchReadings
from voile.signals.options import SendOptions
from voile.signals.verbs.subjects import live_of

LEFT = 1
LIVE = "-"
SHOWN = 10  # maximum number of rejected rows that are listed
NO_ROW = (ValueError, TypeError, ArithmeticError, AttributeError, RecursionError, pa.ArrowException)


def send(
    options: SendOptions,
    reporter: VerbReporter,
    *,
    kit: StoredKit | str,
    source: object,
    spool: Path,
    table: str | None,
    encoding: str | None,
) -> EndedVerb:
    content, codec = live_of(kit)
    broker, login = line_of(options, reporter.insist)
    if content.sessions and not content.sessions.hides:
        reporter.insist(f"voile: {content.sessions.summary_sentence}")
    enrolled = Enrolment.read_file(options.enrolment)
    rows, live = _SendRows(content, enrolled.pseudonyms), isinstance(source, str) and source == LIVE
    with Sender(
        spool,
        codec,
        enrolled,
        columns=content.reader.columns,
        topic=options.topic,
        encrypt=options.encrypt,
        ahead=options.ahead,
    ) as sender:
        if options.begin_again:
            sender.begin_again()
        if not live:
            opened = open_reported(reporter, source, table=table, encoding=encoding)
            if not sender.take(rows.of(opened), once=rows.digest(opened)):
                reporter.say(f"{opened.name} is in the spool or sent already; sending the rest")
        with Link(broker, login, sender) as link:
            if live:
                Thread(target=_listen, args=(rows, link, reporter), daemon=True).start()
            wrong = forward(sender, link, live=live, wait=options.wait, notify=reporter.insist)
        return _report_end(reporter, sender, rows.lost, spool, len(rows.lost) + wrong)


class _SendRows:
    """A converter of rows to readings to send. `lost` lists the numbers of unreadable rows."""

    def __init__(self, content: SignalsContent, pseudonyms: Mapping[str, str]) -> None:
        self._reader, self._pseudonyms = content.reader, pseudonyms
        self._beside = list(content.reader.roles.of("keep"))
        self._partial = content.sessions is not None and content.sessions.partial
        self._unit = content.sessions.unit if content.sessions else None
        self.lost: list[int] = []

    @property
    def columns(self) -> list[str]:
        own = self._reader
        time = [own.time] if own.time else []
        known = [one.column for one in own.sides]
        names = [*own.columns, *known, own.private, own.subject, *time, *self._beside]
        return list(dict.fromkeys(names))

    def digest(self, source: Source) -> str:
        """Return a hash of a source's content."""
        digest = sha256()
        for batch in source.batches(self.columns):
            digest.update(json.dumps(batch.to_pylist(), default=str).encode())
        return digest.hexdigest()

    def of(self, source: Source) -> Iterator[Outgoing]:
        """Yield the readings of a source, in order of time if there is a time column."""
        if missing := [name for name in self.columns if name not in source.columns]:
            raise RequestError(f"there is no column {missing[0]}", where=source.name)
        whole = pa.Table.from_batches(source.batches(self.columns), source.schema(self.columns))
        good, tables, first = [np.zeros(0, np.int64)], [], 0
        for batch in whole.to_batches():
            seen = self._reader.see(batch)
            rows = np.flatnonzero(self._good(seen))
            good.append(first + rows)
            tables.append(seen.table(rows))
            first += len(batch)
        order = self._order(whole, np.concatenate(good), tables)
        self.lost += sorted({*range(1, first + 1)} - {*(order + 1).tolist()})
        first = 0
        for batch in whole.take(order).to_batches():
            numbers = (order[first : first + len(batch)] + 1).tolist()
            yield from self.of_batch(batch, f"{source.name}, row", numbers)
            first += len(batch)

    def _order(
        self, whole: pa.Table, rows: NDArray[np.int64], tables: Sequence[NDArray[Any]]
    ) -> NDArray[np.int64]:
        """Return the valid rows in the order of time that `fit` used."""
        if not len(rows) or not self._reader.time:
            return rows
        times = whole[self._reader.time].take(rows).chunks
        moments = rank_moments(times, self._reader.time, rows)
        alike = np.zeros(len(rows), dtype=np.intp)  # one order of time for all subjects
        return rows[order_rows(np.concatenate(tables), alike, moments, rows)]

    def of_batch(
        self, batch: pa.RecordBatch, what: str, numbers: Sequence[int]
    ) -> Iterator[Outgoing]:
        """Yield the readings of some rows. `what` and `numbers` name the rows in errors."""
        seen = self._reader.see(batch)
        good = np.flatnonzero(self._good(seen))
        self.lost += sorted({*numbers} - {numbers[row] for row in good.tolist()})
        beside = batch.select(self._beside).to_pylist() if self._beside else [{}] * len(batch)
        times = self._times(batch.take(good))
        known = seen.side_values(good).tolist()
        points = zip(good.tolist(), seen.table(good).tolist(), times, known, strict=True)
        for row, point, time, side in points:
            where = f"{what} {numbers[row]:,}"
            whose = self._pseudonyms.get(normalize("NFC", str(seen.subjects[row])))
            if whose is None:
                remedy = "enrol it for this device with voile signals enrol"
                raise RequestError("a subject is not enrolled", where=where, instead=remedy)
            with_it = {key: _plain(value) for key, value in beside[row].items()}
            yield Outgoing(
                whose, str(seen.labels[row]), tuple(point), with_it, where, time, tuple(side)
            )

    def _good(self, seen: BatchReadings) -> NDArray[np.bool_]:
        return seen.some if self._partial else seen.good

    def _times(self, batch: pa.RecordBatch) -> Sequence[int | None]:
        """Return the times of rows in the map's units, or None without a time column or a unit."""
        column = self._reader.time
        if column is None or self._unit is None or not len(batch):
            return [None] * len(batch)
        times: list[int] = self._unit.count([batch.column(column)], column).tolist()
        return times


def _plain(value: Any) -> Any:
    return value if isinstance(value, str | int | float | None) else str(value)


def _listen(rows: _SendRows, link: Link, reporter: VerbReporter) -> None:
    """Read JSON lines from standard input, and add their readings to the link's events."""
    try:
        lines = getattr(sys.stdin, "buffer", sys.stdin)  # bytes: bad text affects one line only
        for number, line in enumerate(lines, 1):
            if why := _left_out(rows, link, number, line):
                reporter.insist(f"{why}; left out")
    finally:
        link.events.put(EndOfReadings())


def _left_out(rows: _SendRows, link: Link, number: int, line: bytes) -> str:
    """Add one line's reading to the events, or return the reason to reject it."""
    place = f"line {number:,}: "
    try:
        row = json.loads(line)
        batch = pa.RecordBatch.from_pylist([{name: row.get(name) for name in rows.columns}])
        for taken in rows.of_batch(batch, "line", [number]):
            link.events.put(taken)
    except RequestError as error:
        rows.lost.append(number)
        return place + str(error).removeprefix(place)
    except NO_ROW:
        rows.lost.append(number)
        return f"{place}is not a row of readings"
    lacks = rows.lost[-1:] == [number]
    return f"{place}lacks a class, a subject or a reading" if lacks else ""


def _report_end(
    reporter: VerbReporter, sender: Sender, lost: Sequence[int], spool: Path, left_out: int
) -> EndedVerb:
    """Report the outcome of the readings, including the number of rejected rows."""
    counts = sender.counts()
    if counts["spooled"]:
        reporter.insist(f"{count(counts['spooled'], 'reading')} wait in {spool}: run it again")
    for reason in dict.fromkeys(sender.unfit):
        number = sender.unfit.count(reason)
        reporter.insist(f"{count(number, 'reading')} set aside in {spool}: {reason}")
    if left_out:
        first = ", ".join(f"{row:,}" for row in lost[:SHOWN])
        more = ", ..." if len(lost) > SHOWN else ""
        which = f", row {first}{more}" if first else ""
        what = "left out: no class, subject or sound reading"
        reporter.insist(f"{count(left_out, 'row')} {what}{which}")
    result = {"spool": str(spool), **counts, "left_out": left_out}
    return EndedVerb(result, LEFT if counts["spooled"] or sender.unfit or left_out else 0)
