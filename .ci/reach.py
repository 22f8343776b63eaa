"""Count the files of its own module that each verb reaches by static imports, and enforce limits.

Imports inside functions and for types count as any other. `LIMITS` lists the verbs that were split;
a verb that reaches more files than its limit fails the check. A contract may pass functions to a
verb: a second count includes their files. `reach.py KIND VERB` prints each file of one verb, with
the file that imports it.
"""

from __future__ import annotations

import ast
import sys
from collections.abc import Collection, Iterator, Mapping
from pathlib import Path

SOURCES = Path(__file__).parents[1] / "src"
VERBS = (
    "fit",
    "apply",
    "attack",
    "report",
    "assess",
    "judging",
    "certify",
    "verify",
    "accept",
    "review",
    "init",
    "export",
)
CONTRACTS = ("module", "own")
"""The files of a kind that load its verbs, and pass functions to them."""
MODULES = ("tables", "documents", "itemsets", "signals", "study")
LIMITS = {
    ("documents", "accept"): 95,
    ("documents", "apply"): 90,
    ("documents", "assess"): 16,
    ("documents", "attack"): 89,
    ("documents", "report"): 17,
    ("signals", "apply"): 40,
    ("signals", "report"): 40,
    ("signals", "verify"): 40,
    ("tables", "apply"): 62,
    ("tables", "attack"): 39,
    ("tables", "report"): 39,
    ("tables", "assess"): 55,
    ("tables", "judging"): 32,
    ("tables", "verify"): 17,
}


def find_modules() -> Mapping[str, Path]:
    """Return the files of voile by their dotted names."""
    found = {}
    for path in (SOURCES / "voile").rglob("*.py"):
        parts = path.relative_to(SOURCES).with_suffix("").parts
        found[".".join(parts[:-1] if parts[-1] == "__init__" else parts)] = path
    return found


def list_imports(tree: ast.Module, modules: Collection[str]) -> Iterator[str]:
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


def find_passed(kind: str, start: str, trees: Mapping[str, ast.Module]) -> set[str]:
    """Return the modules that a contract imports where it loads a verb: its arguments'."""
    passed: set[str] = set()
    for tree in (trees[name] for one in CONTRACTS if (name := f"voile.{kind}.{one}") in trees):
        top = {node.name: node for node in tree.body if isinstance(node, ast.FunctionDef)}
        for node in ast.walk(tree):
            if isinstance(node, ast.FunctionDef) and start in _list_inner(node, trees):
                used = {one.id for one in ast.walk(node) if isinstance(one, ast.Name)}
                for one in (node, *(top[name] for name in sorted(used & top.keys()))):
                    passed |= _list_inner(one, trees)
    return passed - {start}


def _list_inner(node: ast.FunctionDef, modules: Collection[str]) -> set[str]:
    return set(list_imports(ast.Module(node.body, []), modules))


def find_reached(start: str, imports: Mapping[str, set[str]]) -> dict[str, str]:
    """Return all modules that one imports, directly or not, each with a module that imports it."""
    importers = {start: ""}
    waiting = [start]
    while waiting:
        name = waiting.pop(0)
        for one in sorted(imports[name] & imports.keys() - importers.keys()):
            importers[one] = name
            waiting.append(one)
    return importers


def main() -> int:
    """Print the table; return 1 if a verb exceeds its limit."""
    modules = find_modules()
    trees = {name: ast.parse(path.read_text("utf8")) for name, path in modules.items()}
    imports = {name: set(list_imports(tree, modules)) for name, tree in trees.items()}
    violations = []
    for kind in MODULES:
        for verb in VERBS:
            start = find_verb(kind, verb, trees)
            limit = LIMITS.get((kind, verb))
            if start is None:
                if limit is not None:
                    violations.append(f"{kind} {verb} has a limit and no file")
                continue
            reached = find_reached(start, imports)
            files = [name for name in reached if name.startswith(f"voile.{kind}.")]
            if sys.argv[1:] == [kind, verb]:
                print(*(f"{name} <- {reached[name]}" for name in sorted(files)), sep="\n")
            most = f", at most {limit}" if limit else ""
            whole = reached.keys() | {
                one
                for passed in find_passed(kind, start, trees)
                for one in find_reached(passed, imports)
            }
            own = sum(name.startswith(f"voile.{kind}.") for name in whole)
            more = f", {own} with passed functions" if own > len(files) else ""
            print(f"{kind:10s} {verb:8s} {len(files):4d} own files{most}{more}")
            if limit is not None and len(files) > limit:
                violations.append(f"{kind} {verb} reaches {len(files)} files; its limit is {limit}")
    print("\n".join(violations), file=sys.stderr, end="\n" if violations else "")
    return 1 if violations else 0


if __name__ == "__main__":
    sys.exit(main())
