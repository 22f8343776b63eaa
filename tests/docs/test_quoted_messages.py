"""The messages that tables of the guides quote are messages of voile."""

from __future__ import annotations

import ast
import re
from collections.abc import Iterator
from functools import cache
from pathlib import Path

import pytest

ROOT = Path(__file__).parent.parent.parent
LEAST = 8  # literal characters of a message, below which it matches too much


def quoted(page: Path) -> Iterator[str]:
    """Yield the sentences that the column `message` of the page's tables quotes."""
    is_table = False
    for line in page.read_text().splitlines():
        if not line.startswith("|"):
            is_table = False
        elif line.rstrip("| ").endswith("| message"):
            is_table = True
        elif is_table:
            for text in re.findall('"([^"]+)"', line.rstrip("| ").rpartition(" | ")[2]):
                yield from (part.strip(" .;:") for part in re.split(r"\.\.\.|; ", text))


@cache
def messages() -> tuple[tuple[str, re.Pattern[str]], ...]:
    """Return the strings of the source, each with the pattern of the sentences made from it."""
    found = {}
    for path in (ROOT / "src/voile").rglob("*.py"):
        for node in ast.walk(ast.parse(path.read_text())):
            parts = node.values if isinstance(node, ast.JoinedStr) else [node]
            texts = [
                str(one.value) if isinstance(one, ast.Constant) else None
                for one in parts
                if isinstance(one, ast.Constant | ast.FormattedValue)
            ]
            texts[:1] = [texts[0].lstrip(" .;:")] if texts and texts[0] else texts[:1]
            texts[-1:] = [texts[-1].rstrip(" .;:")] if texts and texts[-1] else texts[-1:]
            text = "".join(one or "" for one in texts)
            if len(text) >= LEAST and " " in text:
                found[text] = re.compile(".+".join(re.escape(one) if one else "" for one in texts))
    return tuple(found.items())


PAGES = [page for page in sorted((ROOT / "docs").glob("*.md")) if list(quoted(page))]


@pytest.mark.parametrize("page", PAGES, ids=lambda page: page.stem)
def test_a_quoted_message_is_in_the_source(page: Path) -> None:
    for said in filter(None, quoted(page)):
        own = said.rpartition(": ")[2] if len(said.rpartition(": ")[2]) >= LEAST else said
        bare = re.sub(r"\d+", "", own).strip(" ,")  # a number is a placeholder in the source
        whole = (text for text, made in messages() if bare in text or made.search(own))
        assert any(len(text) >= len(own) / 2 for text in whole), said


def test_some_pages_quote_messages() -> None:
    assert {"on-spark", "object-stores"} <= {page.stem for page in PAGES}
