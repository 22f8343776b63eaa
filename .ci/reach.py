"""Count the files of its own module that each verb reaches by static imports, and hold the limits.

Imports inside functions and for types count as any other. `LIMITS` lists the verbs that were split;
a verb that reaches more files than its limit fails the check.
"""

from __future__ import annotations

import ast
import sys
from collections.abc import Iterator, Mapping
from pathlib import Path

SOURCES = Path(__file__).parents[1] / "src"
VERBS = ("fit", "apply", "attack", "report", "assess", "judging", "certify", "verify", "init")
MODULES = ("tables", "documents", "itemsets", "signals", "study")
LIMITS = {("signals", "apply"): 40, ("signals", "report"): 40, ("signals", "verify"): 40}


def find_modules() -> Mapping[str, Path]:
    """Return the files of voile by their dotted names."""
    found = {}
    for path in (SOURCES / "voile").rglob("*.py"):
        parts = path.relative_to(SOURCES).with_suffix("").parts
        found[".".join(parts[:-1] if parts[-1] == "__init__" else parts)] = path
    return found


def list_imports(tree: ast.Module, modules: Mapping[str, Path]) -> Iterator[str]:
    """Yield the modules of voile that a file imports; imports are absolute here."""
    for node in ast.walk(tree):
        if isinstance(node, ast.Import):
            yield from (one.name for one in node.names)
        elif isinstance(node, ast.ImportFrom) and node.module and not node.level:
            for one in node.names:
                inner = f"{node.module}.{one.name}"
                yield inner if inner in modules else node.module


def find_verb(kind: str, verb: str, trees: Mapping[str, ast.Module]) -> str | None:
    """Return the shallowest module of this name that defines a function."""
    named = [
        name
        for name, tree in trees.items()
        if name.startswith(f"voile.{kind}.")
        and name.endswith(f".{verb}")
        and any(isinstance(node, ast.FunctionDef) for node in tree.body)
    ]
    return min(named, key=lambda name: (name.count("."), name), default=None)


def reach(start: str, imports: Mapping[str, set[str]]) -> set[str]:
    """Return all modules that one imports, directly or not."""
    seen: set[str] = set()
    waiting = [start]
    while waiting:
        name = waiting.pop()
        if name in imports and name not in seen:
            seen.add(name)
            waiting += imports[name]
    return seen


def main() -> int:
    """Print the table; return 1 if a verb exceeds its limit."""
    modules = find_modules()
    trees = {name: ast.parse(path.read_text("utf8")) for name, path in modules.items()}
    imports = {name: set(list_imports(tree, modules)) for name, tree in trees.items()}
    wrong = []
    for kind in MODULES:
        for verb in VERBS:
            start = find_verb(kind, verb, trees)
            if start is None:
                continue
            own = sum(name.startswith(f"voile.{kind}.") for name in reach(start, imports))
            most = LIMITS.get((kind, verb))
            print(
                f"{kind:10s} {verb:8s} {own:4d} own files" + (f", at most {most}" if most else "")
            )
            if most is not None and own > most:
                wrong.append(f"{kind} {verb} reaches {own} own files; its limit is {most}")
    print("\n".join(wrong), file=sys.stderr, end="\n" if wrong else "")
    return 1 if wrong else 0


if __name__ == "__main__":
    sys.exit(main())
