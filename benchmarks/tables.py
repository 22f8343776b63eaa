"""Print a benchmark's table and keep it for the documentation."""

from __future__ import annotations

import re
import time
from collections.abc import Sequence
from pathlib import Path

DOCS = Path(__file__).resolve().parents[1] / "docs" / "benchmarks"


def save(
    name: str, caption: str, columns: Sequence[str], rows: Sequence[Sequence[str]], notes: str = ""
) -> None:
    """Print a table, and write it where a page of docs/benchmarks has its markers.

    These are ``<!-- NAME -->`` and ``<!-- end of NAME -->``, below a heading.
    """
    lines = [
        caption,
        "",
        f"| {' | '.join(columns)} |",
        f"| {' | '.join('---' for _ in columns)} |",
        *(f"| {' | '.join(row)} |" for row in rows),
        "",
        *((notes, "") if notes else ()),
        f"Made by `python -m benchmarks.{name}`.",
    ]
    text = "\n".join(lines)
    print(text)
    section = re.compile(f"(?<=<!-- {name} -->\n\n).*(?=\n\n<!-- end of {name} -->)", re.DOTALL)
    for page in DOCS.glob("*.md"):
        before = page.read_text(encoding="utf-8")
        if section.search(before):
            page.write_text(section.sub(lambda _: text, before), encoding="utf-8")
            return
    print(f"no page of {DOCS} has a place for {name}")


def yardstick() -> str:
    """Say how fast the machine is just now: the least of five loops of plain Python."""
    spent = []
    for _ in range(5):
        total, began = 0, time.process_time()
        for number in range(1_000_000):
            total += number
        spent.append(time.process_time() - began)
    took = min(spent) * 1e3
    return f"Then and there a loop that adds up a million numbers took Python {took:.0f} ms."
