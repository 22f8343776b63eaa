"""Keep the words that readers stumbled over out of strings, docstrings, names and pages.

A function's name has a verb and its object, a public class's name two words. The exceptions are
counted: a ceiling may only fall. No two classes of one room share a name.
"""

from __future__ import annotations

import ast
import json
import re
import sys
from collections.abc import Iterable, Iterator
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
IRREGULAR = re.compile(
    r"begun|built|chosen|cut|drawn|found|given|grown|held|hidden|kept|known|learnt|left|lost"
    r"|made|meant|met|put|read|said|seen|sent|set|shown|split|spread|taken|told|won|written"
)
NOUNS = {"embed", "feed", "need", "seed", "speed"}
ONE_WORD = re.compile(
    r"Audit|Choice|Chosen|Codec|Constraint|Constraints|Context|Corpus|Determination|Document"
    r"|Evidence|Finding|Frontier|Incidence|Kit|Ledger|Options|Policy|Release|Roles|Selection"
    r"|Session|Source|Span|Staging|Study|Subjects|Verified"
)
"""The one-word classes that users import, as the guides name them."""
CEILINGS = {"participle as a function's name": 33, "one-word public class": 37}
"""How many exceptions there are of each kind. Lower a ceiling when a name goes; never raise one."""
PATTERNS = [(re.compile(pattern, re.IGNORECASE), better) for pattern, better in WORDS.items()]


def found(path: Path) -> Iterator[tuple[int, str, str]]:
    """Yield line, words and what to say instead."""
    text = path.read_text("utf-8")
    for line, said in _said(path, text):
        for pattern, better in PATTERNS:
            for match in pattern.finditer(said):
                yield line + said.count("\n", 0, match.start()), match[0], better


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


def is_participle(name: str) -> bool:
    """Return whether a function's name is a participle alone, such as `shown` or `scored`."""
    word = name.strip("_")
    return bool(IRREGULAR.fullmatch(word)) or (
        "_" not in word and word.endswith("ed") and word not in NOUNS
    )


def is_one_word(name: str) -> bool:
    """Return whether a class is public, has a name of one word, and is none of the short list."""
    words = re.findall("[A-Z][a-z0-9]+|[A-Z]+(?![a-z])", name)
    return not name.startswith("_") and len(words) == 1 and not ONE_WORD.fullmatch(name)


def list_short_names(paths: Iterable[Path]) -> Iterator[tuple[str, Path, int, str]]:
    """Yield each short name with its kind in `CEILINGS` and its place."""
    functions, classes = CEILINGS
    for path in paths:
        for node in _nodes(path):
            is_function = isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef)
            if is_function and is_participle(node.name):
                yield functions, path, node.lineno, node.name
            elif isinstance(node, ast.ClassDef) and is_one_word(node.name):
                yield classes, path, node.lineno, node.name


def compare_ceilings(short: Iterable[tuple[str, Path, int, str]]) -> Iterator[str]:
    """Yield each kind of name above its ceiling, with its places, and each loose ceiling."""
    places: dict[str, list[str]] = {kind: [] for kind in CEILINGS}
    for kind, path, line, name in short:
        places[kind].append(f"  {path.relative_to(ROOT)}:{line}: {name}")
    for kind, ceiling in CEILINGS.items():
        if len(places[kind]) > ceiling:
            yield f"{kind}: {len(places[kind])}, at most {ceiling}: name a verb and its object, or"
            yield from ("two words:", *places[kind])
        elif len(places[kind]) < ceiling:
            yield f"{kind}: {len(places[kind])}: lower the ceiling of {ceiling} in .ci/words.py"


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
    names = [*compare_ceilings(list_short_names(sorted(ROOT.glob("src/voile/**/*.py"))))]
    print("\n".join(names), end="\n" * bool(names))
    return 1 if faults or names else 0


if __name__ == "__main__":
    sys.exit(main())
