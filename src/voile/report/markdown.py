"""Write the sections of a page as Markdown, for pasting into another document."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence

from voile.core.wording import visible
from voile.report import sections as blocks
from voile.report.page import readable_sections

_MARKS = re.compile(r"([\\`*_{}\[\]<>#|~&!])")
_STARTS = re.compile(r"^(\s*)([-+=]|\d+[.)])(?=\s|$)")


def markdown(title: str, sections: Sequence[blocks.Section], facts: Mapping[str, str]) -> str:
    """Return the public part of sections as Markdown. Charts stay on the page.

    Every text is escaped, so that marks and tags in it are shown as they are.

    >>> from voile.report.sections import Prose, Section
    >>> markdown("A *page*", [Section("x", "X", (Prose(("<b> said.",)),))], {})
    '# A \\\\*page\\\\*\\n\\n## X\\n\\n\\\\<b\\\\> said.\\n'
    """
    lines = [f"# {_escape_line(title)}", ""]
    for section in readable_sections(sections, "public"):
        lines += [f"## {_escape_line(section.title)}", ""]
        for block in section.blocks:
            lines += [*_lines(block)]
    if facts:
        lines += [*_lines(blocks.Grid(("fact", "value"), tuple(facts.items())))]
    return visible("\n".join(lines).rstrip() + "\n")


def _lines(block: blocks.Block) -> Iterator[str]:
    match block:
        case blocks.Prose():
            for paragraph in block.paragraphs:
                yield from (_escape_line(paragraph), "")
        case blocks.Heading():
            yield from (f"### {_escape_line(block.text)}", "")
        case blocks.Bullets():
            yield from (*(f"- {_escape_line(item)}" for item in block.items), "")
        case blocks.Commands():
            yield from ("```sh", *(line.replace("```", "'''") for line in block.lines), "```", "")
        case blocks.Figures():
            shown = (
                (one.label, f"{one.value} {one.interval}".strip(), one.meaning)
                for one in block.figures
            )
            yield from _table(blocks.Grid(("figure", "value", "meaning"), tuple(shown)))
        case blocks.Grid():
            yield from _table(block)
        case _:
            yield from (f"{_escape_line(block.caption)} (chart: see the page)", "")


def _table(grid: blocks.Grid) -> Iterator[str]:
    if grid.caption:
        yield from (_escape_line(grid.caption), "")
    yield _row(grid.columns)
    yield _row(["---"] * len(grid.columns), escape=False)
    yield from map(_row, grid.rows)
    yield ""


def _row(cells: Sequence[str], *, escape: bool = True) -> str:
    return f"| {' | '.join(_escape_line(cell) if escape else cell for cell in cells)} |"


def _escape_line(text: str) -> str:
    """Write a text on one line and escape it, so that Markdown shows it unchanged."""
    line = " ".join(text.split())
    return _STARTS.sub(r"\1\\\2", _MARKS.sub(r"\\\1", line))
