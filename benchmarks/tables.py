"""Print a benchmark's table and keep it for the documentation."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

DOCS = Path(__file__).resolve().parents[1] / "docs" / "benchmarks"


def save(
    name: str, caption: str, columns: Sequence[str], rows: Sequence[Sequence[str]], notes: str = ""
) -> None:
    """Write docs/benchmarks/NAME.md and print the same."""
    lines = [
        f"# {name.replace('_', ' ').capitalize()}",
        "",
        caption,
        "",
        f"| {' | '.join(columns)} |",
        f"| {' | '.join('---' for _ in columns)} |",
        *(f"| {' | '.join(row)} |" for row in rows),
        "",
        *((notes, "") if notes else ()),
        f"Made by `python -m benchmarks.{name}`.",
        "",
    ]
    DOCS.mkdir(parents=True, exist_ok=True)
    text = "\n".join(lines)
    (DOCS / f"{name}.md").write_text(text, encoding="utf-8")
    print(text)
