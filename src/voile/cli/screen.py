"""The output of a command: results on standard output, messages and progress on standard error."""

from __future__ import annotations

import json
import math
import os
import shutil
import sys
import textwrap
import time
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from typing import IO, Any

from voile.core.progress import ProgressHook, silent
from voile.core.wording import count as count

LINE_EVERY = 5.0  # seconds between lines without a terminal
JSON_EVERY = 0.2  # seconds between two lines of JSON
DRAW_EVERY = 0.05  # seconds between two updates of a bar
SPENT = 1.0  # seconds of work before the remaining time is estimated
SHARE = 0.05  # share of a task before the estimate, as its first part also starts processes
PARTS = 50  # updates of a task after which any share is enough for an estimate
WRAPPED = 20  # least width of a column of sentences, in characters
GAP = 3  # characters between two columns
SHOW_CURSOR = b"\r\x1b[2K\x1b[?25h"


@dataclass(frozen=True)
class CommandScreen:
    """The output of a command.

    Parameters
    ----------
    json : print the result as one JSON object on standard output, and nothing else there.
    quiet : print no messages and no progress. Errors and rejected rows are still shown.
    """

    json: bool = False
    quiet: bool = False

    def say(self, text: str) -> None:
        """Print a message, unless quiet."""
        if not self.quiet:
            tell(text)

    def show(self, text: str) -> None:
        """Print a message without breaking its lines, unless quiet."""
        if not self.quiet:
            print(text, file=sys.stderr)

    def insist(self, text: str) -> None:
        """Print a message even if quiet."""
        tell(text)

    def result(self, data: Mapping[str, Any]) -> None:
        """Print the result if --json was given."""
        if self.json:
            print(json.dumps(_finite(data), ensure_ascii=False, default=str))

    @contextmanager
    def progress(self) -> Iterator[ProgressHook]:
        """Return the hook for a module's progress: a bar on a terminal, lines otherwise.

        If the environment variable VOILE_PROGRESS is json, print lines of JSON for another program.
        """
        if os.environ.get("VOILE_PROGRESS") == "json":
            yield _JsonLines()
        elif self.quiet:
            yield silent
        elif sys.stderr.isatty():
            with _ProgressBar() as bar:
                yield bar
        else:
            yield _ProgressLines()


def tell(text: str) -> None:
    """Print to standard error. On a terminal, break lines between words."""
    if sys.stderr.isatty():
        width = shutil.get_terminal_size().columns
        text = "\n".join(_broken(line, width) for line in text.split("\n"))
    print(text, file=sys.stderr)


def _broken(line: str, width: int) -> str:
    return textwrap.fill(
        line, width, subsequent_indent="  ", break_long_words=False, break_on_hyphens=False
    )


def show_table(
    columns: Sequence[str], rows: Sequence[Sequence[Any]], file: IO[str], *, wraps: str = ""
) -> None:
    """Print a table, aligned on a terminal and tab-separated otherwise. Figures have four digits.

    A terminal shows only the first columns that fit, and a message reports this. The column `wraps`
    may be broken between words.
    """
    if not file.isatty():
        for row in (columns, *rows):
            print("\t".join(short(cell, thousands="") for cell in row), file=file)
        return
    from rich.box import SIMPLE_HEAD
    from rich.console import Console
    from rich.table import Table
    from rich.text import Text

    console = Console(file=file)
    cells = {name: [short(row[i]) for row in rows] for i, name in enumerate(columns)}
    widths = fitting(cells, console.width, wraps)
    table = Table(box=SIMPLE_HEAD, header_style="bold", pad_edge=False)
    for i, (name, width) in enumerate(widths.items()):
        table.add_column(
            Text(name.replace("_", " ")),
            justify="left" if any(isinstance(row[i], str) for row in rows) else "right",
            width=width,
        )
    for row in zip(*(cells[name] for name in widths), strict=True):
        table.add_row(*map(Text, row))
    console.print(table)
    if len(widths) < len(columns):
        tell(f"{len(widths)} of {len(columns)} columns; a wider terminal or --json shows more")


def fitting(cells: Mapping[str, Sequence[str]], width: int, wraps: str = "") -> dict[str, int]:
    """Return the widths of the first columns that fit next to each other, at least two of them.

    A heading is broken between words if there is little room, and so is the column `wraps`.

    >>> fitting({"number": ["0"], "risk": ["0.5"], "exact_anonymity": ["12"]}, 25)
    {'number': 6, 'risk': 4}
    >>> fitting({"number": ["0"], "exact_anonymity": ["12"]}, 25)
    {'number': 6, 'exact_anonymity': 9}
    """
    least = {}
    for name, texts in cells.items():
        longest = max(map(len, [*name.split("_"), *texts]))
        least[name] = min(longest, WRAPPED) if name == wraps else longest
    while len(least) > 2 and sum(least.values()) + GAP * len(least) > width:
        least.popitem()
    whole = {name: max(map(len, [name, *cells[name]])) for name in least}
    spare = width - GAP * len(least)
    if sum(whole.values()) <= spare:
        return whole
    if wraps in least:
        least[wraps] += max(min(spare - sum(least.values()), whole[wraps] - least[wraps]), 0)
    return least


def short(value: object, *, thousands: str = ",") -> str:
    """Write a cell for a person, with four significant digits and separated thousands.

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


class _TaskStep:
    """The current task: its completed amount and its remaining time."""

    def __init__(self, task: str, done: float) -> None:
        self.task, self._first, self._began, self._parts = task, done, time.monotonic(), 0

    def amount(self, done: float, total: float | None) -> str:
        """Write the completed share and the remaining time, or a count without a total."""
        self._parts += 1
        if not total:
            return f"{done:,.0f}" if done else ""
        left = self.seconds_left(done, total)
        return f"{min(done / total, 1):.0%}{'' if left is None else f', {about(left)} left'}"

    def seconds_left(self, done: float, total: float) -> float | None:
        """Estimate the remaining time in seconds, or return None if too little is done."""
        spent = time.monotonic() - self._began
        came = done - self._first
        few = self._parts < PARTS and came < SHARE * (total - self._first)
        if few or spent < SPENT or came <= 0 or done >= total:
            return None
        return spent * (total - done) / came


def about(seconds: float) -> str:
    """Write a time in words.

    >>> [about(x) for x in (0.2, 29, 71, 3500, 3601, 9000, 1e6)]
    ['1 s', '29 s', '1 min', '58 min', '1 h', '2.5 h', '12 days']
    """
    if seconds < 60:
        return f"{max(seconds, 1):.0f} s"
    if seconds < 3600:
        return f"{seconds / 60:.0f} min"
    return f"{seconds / 3600:.2g} h" if seconds < 48 * 3600 else f"{seconds / 86400:,.0f} days"


class _ProgressLines:
    """Progress as a line every few seconds, for logs."""

    def __init__(self) -> None:
        self._next = time.monotonic() + LINE_EVERY
        self._step = _TaskStep("", 0)

    def __call__(self, task: str, done: float, total: float | None = None) -> None:
        if task != self._step.task:
            self._step = _TaskStep(task, done)
        if (now := time.monotonic()) >= self._next:
            self._next = now + LINE_EVERY
            print(f"{task}: {self._step.amount(done, total) or 'started'}", file=sys.stderr)


class _JsonLines:
    """Progress as lines of JSON: one at the start of a task, then at most five per second."""

    def __init__(self) -> None:
        self._step, self._next = _TaskStep("", 0), 0.0

    def __call__(self, task: str, done: float, total: float | None = None) -> None:
        now = time.monotonic()
        is_new = task != self._step.task
        if is_new:
            self._step = _TaskStep(task, done)
        if is_new or now >= self._next:
            self._next = now + JSON_EVERY
            left = None if not total else self._step.seconds_left(done, total)
            line = {"task": task, "done": done, "total": total, "seconds_left": left}
            print(json.dumps({"progress": _finite(line)}), file=sys.stderr, flush=True)


class _ProgressBar:
    """Progress as one bar for the current task, removed at its end."""

    def __enter__(self) -> _ProgressBar:
        from rich.console import Console
        from rich.progress import BarColumn, Progress, TextColumn, TimeElapsedColumn

        self._bars = Progress(
            TextColumn("{task.description}"),
            BarColumn(bar_width=24),
            TimeElapsedColumn(),
            TextColumn("{task.fields[amount]}"),
            console=Console(stderr=True),
            transient=True,
        )
        self._step: _TaskStep | None = None
        self._drawn = 0.0
        self._bars.start()
        return self

    def __exit__(self, *_: object) -> None:
        self._bars.stop()

    def __call__(self, task: str, done: float, total: float | None = None) -> None:
        now = time.monotonic()
        if self._step is None or task != self._step.task:
            self._step = _TaskStep(task, done)
            for one in self._bars.task_ids:
                self._bars.remove_task(one)
            self._bars.add_task(task, total=total, amount="")
        elif now - self._drawn < DRAW_EVERY and (total is None or done < total):
            return
        self._drawn = now
        amount = self._step.amount(done, total)
        self._bars.update(self._bars.task_ids[0], completed=done, total=total, amount=amount)
