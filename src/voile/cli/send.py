"""`voile signals send`: readings from a device or gateway to the clinic, over a broker."""

from __future__ import annotations

import json
import sys
from collections.abc import Iterator, Mapping, Sequence
from hashlib import sha256
from pathlib import Path
from threading import Thread
from typing import TYPE_CHECKING, Any
from unicodedata import normalize

import click

from voile.cli.channel import line_of, line_options, live_of
from voile.cli.destination import Destination
from voile.cli.parameters import Command, argument, flag, open_told, path, reading
from voile.cli.screen import Screen, count
from voile.core.errors import RequestError

if TYPE_CHECKING:
    import pyarrow as pa

    from voile.data import Source
    from voile.signals.channel import Link, Sender, Taken
    from voile.signals.verbs.content import Content

LEFT = 1
LIVE = "-"
SHOWN = 10  # rows left out that are named
NO_ROW = (ValueError, TypeError, ArithmeticError, AttributeError, RecursionError)
FORGETS = (
    "voile: the kit knows of one reading a subject: from the second message of one on, "
    "the class is told by and by; fit on several, with --time COLUMN"
)


def send(kind: str) -> click.Command:
    """Return the command."""

    def run(
        screen: Screen,
        *,
        kit: str,
        source: str,
        spool: Path,
        ahead: int,
        wait: float | None,
        enrolment: Path,
        begin_again: bool,
        topic: str,
        encrypt: bool,
        table: str | None,
        encoding: str | None,
        **line: Any,
    ) -> int:
        """Send readings live, encoded, until each has its receipt.

        SOURCE is a table with the columns that the kit was fitted to, or - for such rows as JSON
        lines on standard input, sent as they come. What has no receipt yet is kept in the spool:
        run the same command again after an interruption, and it goes on; no row is sent twice.
        Exits with 1 when a reading is left unsent or unfit to be sent.
        """
        from voile.signals.channel import Enrolment, Link, Sender, forward

        content, codec = live_of(kit, kind)
        broker, login = line_of(screen, **line)
        if codec.forgets:
            screen.insist(FORGETS)
        enrolled = Enrolment.read(enrolment)
        rows = _Rows(content, enrolled.pseudonyms)
        how: Any = {"topic": topic, "encrypt": encrypt, "ahead": ahead}
        names = content.reading.columns
        with Sender(spool, codec, enrolled, columns=names, **how) as sender:
            if begin_again:
                sender.begin_again()
            if source != LIVE:
                opened = open_told(screen, source, table, encoding)
                if not sender.take(rows.of(opened), once=rows.digest(opened)):
                    screen.say(f"{opened.name} is in the spool or sent already; sending the rest")
            with Link(broker, login, sender) as link:
                if source == LIVE:
                    Thread(target=_listen, args=(rows, link, screen), daemon=True).start()
                live = source == LIVE
                wrong = forward(sender, link, live=live, wait=wait, tell=screen.insist)
            return _told(screen, sender, rows, spool, wrong)

    return Command("send", run, _options())


def _options() -> list[click.Parameter]:
    return [
        argument("kit"),
        argument("source"),
        Destination(
            "--spool",
            "FOLDER",
            None,
            help="Where readings wait for their receipts; it holds them in the clear.",
        ),
        path(
            "enrolment",
            "The device's file of keys, which voile signals enrol wrote.",
            required=True,
        ),
        *line_options(),
        click.Option(
            ["--ahead"],
            type=click.IntRange(1, 1000),
            default=1,
            help="Messages of a subject under way at a time; more is faster and tells more [1].",
        ),
        click.Option(["--wait"], type=click.FloatRange(0), help="Stop after so many seconds."),
        flag("begin-again", "Begin new sessions, where the two ends are out of step."),
        *reading(),
    ]


class _Rows:
    """Make readings to send of rows; those that cannot be read are left out.

    Attributes
    ----------
    lost : the numbers of those left out.
    """

    def __init__(self, content: Content, pseudonyms: Mapping[str, str]) -> None:
        self._reading, self._pseudonyms = content.reading, pseudonyms
        self._beside = list(content.reading.roles.of("keep"))
        self.lost: list[int] = []

    @property
    def columns(self) -> list[str]:
        """The columns that are needed."""
        own = self._reading
        time = [own.time] if own.time else []
        return list(dict.fromkeys([*own.columns, own.private, own.subject, *time, *self._beside]))

    def digest(self, source: Source) -> str:
        """Return a name of a source's content, and of how its subjects are called."""
        digest = sha256()
        for batch in source.batches(self.columns):
            digest.update(json.dumps(batch.to_pylist(), default=str).encode())
        return digest.hexdigest()

    def of(self, source: Source) -> Iterator[Taken]:
        """Yield the readings of a source, in the order of time where a column tells it."""
        import numpy as np
        import pyarrow as pa

        missing = [name for name in self.columns if name not in source.columns]
        if missing:
            raise RequestError(f"there is no column {missing[0]}", where=source.name)
        whole = pa.Table.from_batches(source.batches(self.columns), source.schema(self.columns))
        good, tables, first = [], [], 0
        for batch in whole.to_batches():
            seen = self._reading.see(batch)
            rows = np.flatnonzero(seen.good)
            good.append(first + rows)
            tables.append(seen.table(rows))
            first += len(batch)
        order = self._order(whole, good, tables)
        self.lost += sorted({*range(1, first + 1)} - {*(order + 1).tolist()})
        first = 0
        for batch in whole.take(order).to_batches():
            numbers = (order[first : first + len(batch)] + 1).tolist()
            yield from self.of_batch(batch, f"{source.name}, row", numbers)
            first += len(batch)

    def _order(self, whole: pa.Table, good: Sequence[Any], tables: Sequence[Any]) -> Any:
        """Return the good rows, in the order of time that fit learnt by."""
        import numpy as np

        from voile.signals.readings.moments import order_rows, rank_moments

        rows = np.concatenate([np.zeros(0, np.int64), *good])
        if not len(rows) or not self._reading.time:
            return rows
        moments = rank_moments(whole[self._reading.time].take(rows).chunks, self._reading.time)
        alike = np.zeros(len(rows), dtype=np.intp)  # readings go as time goes, whosever they are
        return rows[order_rows(np.concatenate(tables), alike, moments, rows)]

    def of_batch(self, batch: pa.RecordBatch, what: str, numbers: Sequence[int]) -> Iterator[Taken]:
        """Yield the readings of some rows, which are called `what` and so numbered."""
        import numpy as np

        from voile.signals.channel import Taken

        seen = self._reading.see(batch)
        good = np.flatnonzero(seen.good)
        self.lost += sorted({*numbers} - {numbers[row] for row in good.tolist()})
        beside = batch.select(self._beside).to_pylist() if self._beside else [{}] * len(batch)
        for row, point in zip(good.tolist(), seen.table(good).tolist(), strict=True):
            where = f"{what} {numbers[row]:,}"
            whose = self._pseudonyms.get(normalize("NFC", str(seen.subjects[row])))
            if whose is None:
                remedy = "enrol it for this device with voile signals enrol"
                raise RequestError("a subject is not enrolled", where=where, instead=remedy)
            with_it = {key: _plain(value) for key, value in beside[row].items()}
            yield Taken(whose, str(seen.labels[row]), tuple(point), with_it, where)


def _plain(value: Any) -> Any:
    return value if isinstance(value, str | int | float | None) else str(value)


def _listen(rows: _Rows, link: Link, screen: Screen) -> None:
    """Read JSON lines from standard input, and put their readings among the link's events."""
    from voile.signals.channel.live import End

    try:
        _read(rows, link, screen)
    finally:
        link.events.put(End())


def _read(rows: _Rows, link: Link, screen: Screen) -> None:
    import pyarrow as pa

    lines = getattr(sys.stdin, "buffer", sys.stdin)  # bytes: one that is no text is but a line
    for number, line in enumerate(lines, 1):
        try:
            row = json.loads(line)
            batch = pa.RecordBatch.from_pylist([{name: row.get(name) for name in rows.columns}])
            for taken in rows.of_batch(batch, "line", [number]):
                link.events.put(taken)
            if rows.lost[-1:] == [number]:
                screen.insist(f"line {number:,}: lacks a class, a subject or a reading; left out")
        except RequestError as error:
            rows.lost.append(number)
            screen.insist(f"line {number:,}: {error}; left out")
        except (*NO_ROW, pa.ArrowException):
            rows.lost.append(number)
            screen.insist(f"line {number:,}: is no row of readings; left out")


def _told(screen: Screen, sender: Sender, rows: _Rows, spool: Path, wrong: int) -> int:
    """Say what became of the readings, of which so many were wrong; return the exit code."""
    counts = sender.counts()
    if counts["spooled"]:
        screen.insist(f"{count(counts['spooled'], 'reading')} wait in {spool}: run it again")
    for reason in dict.fromkeys(sender.unfit):
        number = sender.unfit.count(reason)
        screen.insist(f"{count(number, 'reading')} set aside in {spool}: {reason}")
    left_out = len(rows.lost) + wrong
    if left_out:
        first = ", ".join(f"{row:,}" for row in rows.lost[:SHOWN])
        more = ", ..." if len(rows.lost) > SHOWN else ""
        which = f", row {first}{more}" if first else ""
        said = "left out: no class, subject or sound reading"
        screen.insist(f"{count(left_out, 'row')} {said}{which}")
    screen.result({"spool": str(spool), **counts, "left_out": left_out})
    return LEFT if counts["spooled"] or sender.unfit or left_out else 0
