"""What a command shows: results on standard output, messages and progress on standard error."""

from __future__ import annotations

import json
import math
import shutil
import sys
import textwrap
import time
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from typing import IO, Any

from voile.core.progress import Progress, silent
from voile.core.wording import count as count

LINE_EVERY = 5.0  # seconds between lines where there is no terminal
DRAW_EVERY = 0.05  # seconds between two drawings of a bar


@dataclass(frozen=True)
class Screen:
    """Where a command speaks.

    Parameters
    ----------
    json : the result is one JSON object on standard output, and nothing else is there.
    quiet : no messages and no progress; errors and set-aside rows are still told.
    """

    json: bool = False
    quiet: bool = False

    def say(self, text: str) -> None:
        """Tell the user something; left out when quiet."""
        if not self.quiet:
            tell(text)

    def show(self, text: str) -> None:
        """Tell the user something as it is, lines unbroken; left out when quiet."""
        if not self.quiet:
            print(text, file=sys.stderr)

    def insist(self, text: str) -> None:
        """Tell the user something that quiet does not silence."""
        tell(text)

    def result(self, data: Mapping[str, Any]) -> None:
        """Print the result where JSON was asked for."""
        if self.json:
            print(json.dumps(_finite(data), ensure_ascii=False, default=str))

    @contextmanager
    def progress(self) -> Iterator[Progress]:
        """Give what a wing reports its progress to: a bar on a terminal, lines otherwise."""
        if self.quiet:
            yield silent
        elif sys.stderr.isatty():
            with _Bar() as bar:
                yield bar
        else:
            yield _Lines()


def tell(text: str) -> None:
    """Print to standard error, on a terminal with lines broken between words."""
    if sys.stderr.isatty():
        width = shutil.get_terminal_size().columns
        text = "\n".join(_broken(line, width) for line in text.split("\n"))
    print(text, file=sys.stderr)


def _broken(line: str, width: int) -> str:
    return textwrap.fill(
        line, width, subsequent_indent="  ", break_long_words=False, break_on_hyphens=False
    )


def show_table(columns: Sequence[str], rows: Sequence[Sequence[Any]], file: IO[str]) -> int:
    """Print a table: aligned on a terminal, tab-separated otherwise; figures of four digits.

    On a terminal only the first columns that fit; returns how many were shown.
    """
    if not file.isatty():
        for row in (columns, *rows):
            print("\t".join(short(cell, thousands="") for cell in row), file=file)
        return len(columns)
    from rich.box import SIMPLE_HEAD
    from rich.console import Console
    from rich.table import Table
    from rich.text import Text

    console = Console(file=file)
    fit = fitting(columns, rows, console.width)
    columns, rows = columns[:fit], [row[:fit] for row in rows]
    table = Table(box=SIMPLE_HEAD, header_style="bold", pad_edge=False)
    numeric = [all(not isinstance(row[i], str) for row in rows) for i in range(len(columns))]
    for name, right in zip(columns, numeric, strict=True):
        table.add_column(Text(name.replace("_", " ")), justify="right" if right else "left")
    for row in rows:
        table.add_row(*(Text(short(cell)) for cell in row))
    console.print(table)
    return fit


def fitting(columns: Sequence[str], rows: Sequence[Sequence[Any]], width: int) -> int:
    """Return how many columns, at least two, can be read whole within the width.

    >>> fitting(["number", "risk", "exact_anonymity"], [(0, 0.5, 12)], 25)
    2
    """
    most, total = len(columns), 0
    for i, name in enumerate(columns):
        cells = (short(row[i]) for row in rows)
        total += 3 + max(map(len, [*name.split("_"), *cells]))
        if total > width:
            return max(i, min(2, most))
    return most


def short(value: object, *, thousands: str = ",") -> str:
    """Write a cell for a person: four significant digits, thousands apart.

    >>> [short(x) for x in (0.0312345, 12345, 1234567.8, 0.0, None, "zip", True)]
    ['0.03123', '12,345', '1,235,000', '0', '', 'zip', 'yes']
    """
    match value:
        case None:
            return ""
        case bool():
            return "yes" if value else "no"
        case float():
            digits = f"{value:.4g}"
            return f"{float(digits):{thousands}.0f}" if abs(value) >= 1000 else digits
        case int():
            return f"{value:{thousands}}"
        case _:
            return str(value)


def _finite(data: Any) -> Any:
    match data:
        case float():
            return data if math.isfinite(data) else None
        case Mapping():
            return {key: _finite(value) for key, value in data.items()}
        case list() | tuple():
            return [_finite(value) for value in data]
        case _:
            return data


def _amount(done: float, total: float | None) -> str:
    if total:
        return f"{done / total:.0%}"
    return f"{done:,.0f}" if done else ""


class _Lines:
    """Progress as a line every few seconds, for logs."""

    def __init__(self) -> None:
        self._next = time.monotonic() + LINE_EVERY

    def __call__(self, task: str, done: float, total: float | None = None) -> None:
        if (now := time.monotonic()) >= self._next:
            self._next = now + LINE_EVERY
            print(f"{task}: {_amount(done, total) or 'started'}", file=sys.stderr)


class _Bar:
    """Progress as one bar a task, which vanishes at the end."""

    def __enter__(self) -> _Bar:
        from rich.console import Console
        from rich.progress import BarColumn, Progress, TextColumn, TimeElapsedColumn

        self._bars = Progress(
            TextColumn("{task.description:<12}"),
            BarColumn(bar_width=32),
            TextColumn("{task.fields[amount]:>12}"),
            TimeElapsedColumn(),
            console=Console(stderr=True),
            transient=True,
        )
        self._tasks: dict[str, Any] = {}
        self._drawn = 0.0
        self._bars.start()
        return self

    def __exit__(self, *_: object) -> None:
        self._bars.stop()

    def __call__(self, task: str, done: float, total: float | None = None) -> None:
        known = task in self._tasks
        now = time.monotonic()
        if known and now - self._drawn < DRAW_EVERY and (total is None or done < total):
            return
        self._drawn = now
        amount = _amount(done, total)
        if not known:
            self._tasks[task] = self._bars.add_task(task, total=total, amount=amount)
        self._bars.update(self._tasks[task], completed=done, total=total, amount=amount)
