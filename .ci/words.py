"""Keep the words that readers stumbled over out of strings, docstrings, names and pages.

No two classes of one room share a name.
"""

from __future__ import annotations

import ast
import json
import re
import sys
from collections.abc import Iterator
from functools import cache
from pathlib import Path

ROOT = Path(__file__).parent.parent
WORDS = {
    r"\b(is|are|was|were) told\b|\btold (of|from|apart|beside)\b|\btelling\b|"
    r"\btells? (of|the class|whether|apart|who|what|how|that|nothing|nobody)\b": "reveal, report",
    r"\bwho looks\b|\bwhoever looks\b": "the learner, the reader",
    r"\bby and by\b": "gradually",
    r"\bfor the data holder's own eyes\b": "internal",
    r"\bwhat is so\b": "the original source",
    r"\bsensible trade": "risk-utility frontier",
    r"\bhow far from perfect\b": "optimality gap",
    r"\bfor nothing\b": "false positives",
    r"\balone with\b": "unique on",
    r"\bfalls out with\b|\bthe steward\b": "the data holder",
}
PAGES = ("src/**/*.py", "src/**/*.md", "docs/**/*.md", "*.md", "examples/*.ipynb")
NAMES = {"told", "kept", "made", "ahead", "story_of", "open_told", "learnt", "Learnt"}
PATTERNS = [(re.compile(pattern, re.IGNORECASE), better) for pattern, better in WORDS.items()]


def found(path: Path) -> Iterator[tuple[int, str, str]]:
    """Yield line, words and what to say instead."""
    text = path.read_text("utf-8")
    for line, said in _said(path, text):
        for pattern, better in PATTERNS:
            for match in pattern.finditer(said):
                yield line + said.count("\n", 0, match.start()), match[0], better
    if path.suffix == ".py":
        for node in _nodes(path):
            if isinstance(node, ast.FunctionDef | ast.ClassDef) and node.name.strip("_") in NAMES:
                yield node.lineno, node.name, "a verb and its object, or a noun"


def _said(path: Path, text: str) -> Iterator[tuple[int, str]]:
    if path.suffix == ".ipynb":
        for cell in json.loads(text)["cells"]:
            yield 1, "".join(cell["source"])
        return
    if path.suffix != ".py":
        yield 1, text
        return
    for node in _nodes(path):
        if isinstance(node, ast.Constant) and isinstance(node.value, str):
            yield node.lineno, node.value


@cache
def _nodes(path: Path) -> tuple[ast.AST, ...]:
    return tuple(ast.walk(ast.parse(path.read_text("utf-8"))))


def named_twice() -> Iterator[tuple[Path, int, str, str]]:
    """Yield the classes of a room whose name another class of it has."""
    for room in sorted(path for path in (ROOT / "src/voile").iterdir() if path.is_dir()):
        first: dict[str, str] = {}
        for path in sorted(room.glob("**/*.py")):
            for node in _nodes(path):
                if isinstance(node, ast.ClassDef) and not node.name.startswith("_"):
                    name = f"{path.relative_to(room)}"
                    if first.setdefault(node.name, name) != name:
                        better = f"another name: {first[node.name]} has it"
                        yield path.relative_to(ROOT), node.lineno, node.name, better


def main() -> int:
    """Print what was found, and fail where anything was."""
    paths = [path for pattern in PAGES for path in ROOT.glob(pattern)]
    faults = [(path.relative_to(ROOT), *one) for path in sorted(paths) for one in found(path)]
    faults += named_twice()
    for path, line, words, better in faults:
        print(f"{path}:{line}: {words!r}: say {better}")
    return 1 if faults else 0


if __name__ == "__main__":
    sys.exit(main())
