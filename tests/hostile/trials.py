"""Find the tests that notice a fault. Each runs in a process with the slow imports already done.

The lines of a file are marked once, to find the tests that reach them, in any process. A fault is
then tried only on the tests that reach its statement, the fastest first, until one fails.
"""

from __future__ import annotations

import ast
import gc
import importlib
import os
import shutil
import signal
import sys
import time
from collections import defaultdict
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path
from typing import Any

ROOT = Path(__file__).parent.parent.parent
LEAST_SECONDS = 10.0
PATIENCE = 5  # times what the tests take without a fault: then it is noticed as well
SLOW_TO_IMPORT = (
    "click duckdb hypothesis numba numpy pandas pyarrow.dataset pyarrow.parquet pydantic pytest "
    "rich scipy.optimize scipy.sparse scipy.stats sklearn.linear_model tomli_w"
)
NOT_NEEDED = ("cacheprovider", "anyio", "unraisableexception", "threadexception", "faulthandler")
MARK = """
def __reached__(line, seen=set()):
    import os
    place = f"{{line}} {{os.environ.get('PYTEST_CURRENT_TEST', '')}}\\n"
    if place not in seen:
        seen.add(place)
        with open({marks!r}, "a") as marks:
            marks.write(place)
"""

FOUND = """
_digest_of = _digest
_digest = lambda folder, how: _digest_of(Path(str(folder).replace({copy!r}, {root!r})), how)
"""


def prepare() -> None:
    """Import what is slow to import, in one thread, so that a process can be split off."""
    os.environ |= {"OMP_NUM_THREADS": "1", "OPENBLAS_NUM_THREADS": "1"}
    os.environ |= {"HYPOTHESIS_PROFILE": "mutants", "PYTHONDONTWRITEBYTECODE": "1"}
    for name in SLOW_TO_IMPORT.split():
        importlib.import_module(name)
    from hypothesis import Phase, settings

    phases = (Phase.explicit, Phase.generate, Phase.target)
    settings.register_profile("mutants", derandomize=True, deadline=None, phases=phases)
    gc.freeze()


@dataclass(frozen=True)
class Reached:
    """Tests with their seconds and their files, and which of them reach a line.

    What is reached before a test begins, or while one is set up, may be for all of them.
    """

    seconds: dict[str, float]
    files: dict[str, str]
    lines: dict[int, set[str]]
    shared: set[int]

    def by(self, line: int) -> list[str]:
        """Return the tests that a fault in a line is tried on, quickest first."""
        tests = set(self.seconds) if line in self.shared else self.lines.get(line, set())
        return sorted(tests, key=lambda test: (self.seconds[test], test))


class Timed:
    """The part of pytest that writes which tests there are, and how long they take."""

    def __init__(self, file: Path) -> None:
        self.file = file
        self.files: dict[str, Path] = {}

    def pytest_collection_modifyitems(self, items: list[Any]) -> None:
        """See where each test stands."""
        self.files = {item.nodeid: item.path for item in items}

    def pytest_runtest_logreport(self, report: Any) -> None:
        """Write a part of a test: its set-up, its call or its end."""
        with self.file.open("a") as lines:
            lines.write(f"{report.duration}\t{self.files[report.nodeid]}\t{report.nodeid}\n")


class Chosen:
    """The part of pytest that runs some tests in their order, and ends at the first to fail."""

    def __init__(self, tests: list[str]) -> None:
        self.place = {test: place for place, test in enumerate(tests)}

    def pytest_collection_modifyitems(self, items: list[Any]) -> None:
        """Leave out the other tests."""
        items[:] = [item for item in items if item.nodeid in self.place]
        items.sort(key=lambda item: self.place[item.nodeid])

    def pytest_collectreport(self, report: Any) -> None:
        """End where a file of tests cannot be read."""
        self.pytest_runtest_logreport(report)

    def pytest_runtest_logreport(self, report: Any) -> None:
        """End where a test fails, before anything is made of it."""
        if report.failed:
            os._exit(1)


class Copy:
    """A copy of the sources, in which one file at a time has a fault."""

    def __init__(self, folder: Path) -> None:
        self.folder, self.sources = folder, folder / "src"
        shutil.copytree(ROOT / "src", self.sources)
        # Kernels are found compiled as they are without a fault: none has one.
        with (self.sources / "voile" / "core" / "compiled.py").open("a") as compiled:
            compiled.write(FOUND.format(copy=str(self.sources), root=str(ROOT / "src")))

    def reached(self, file: str, tests: list[str]) -> Reached:
        """Run all tests of a file with its lines marked, and again as a fault's are."""
        place, marks, times = self._place(file), self.folder / "marks", self.folder / "times"
        source = place.read_text()
        for written in (marks, times):
            written.write_text("")
        passed = self._passes(place, _marked(source, marks), tests, Timed(times), limit=3600)
        assert passed, f"{file}: the tests fail without a fault"
        found = _reached(marks.read_text(), times.read_text(), _outside(source))
        assert not self.notices(file, source, list(found.seconds), found), f"{file}: order counts"
        return found

    def notices(self, file: str, module: str, tests: list[str], reached: Reached) -> bool:
        """Say whether one of the tests fails with another module in the file's place."""
        limit = LEAST_SECONDS + PATIENCE * sum(reached.seconds[test] for test in tests)
        files = list(dict.fromkeys(reached.files[test] for test in tests))
        return bool(tests) and not self._passes(
            self._place(file), module, files, Chosen(tests), limit=limit
        )

    def _place(self, file: str) -> Path:
        return self.sources / "voile" / file

    def _passes(
        self, place: Path, module: str, tests: list[str], part: Any, *, limit: float
    ) -> bool:
        """Run tests on another module, in a child that has what is slow to import already."""
        source = place.read_text()
        place.write_text(module)
        child = os.fork()
        if not child:
            self._test(tests, part)
        end = time.monotonic() + limit
        ended, status = 0, 1
        while not ended and time.monotonic() < end:
            time.sleep(0.01)
            ended, status = os.waitpid(child, os.WNOHANG)
        with suppress(ProcessLookupError):  # the child, or what it left
            os.killpg(child, signal.SIGKILL)
        if not ended:
            os.waitpid(child, 0)
        place.write_text(source)
        return bool(ended) and status == 0

    def _test(self, tests: list[str], part: Any) -> None:
        """Run pytest on the copy, silently, in a process group of its own, and end."""
        import pytest

        code = 1
        try:
            os.setpgid(0, 0)
            nothing = os.open(os.devnull, os.O_RDWR)
            for stream in (0, 1, 2):
                os.dup2(nothing, stream)
            os.environ |= {"PYTHONPATH": str(self.sources), "VOILE_REQUIRE": ""}
            sys.dont_write_bytecode = True
            sys.path.insert(0, str(self.sources))
            places = [
                test.replace("src/", f"{self.sources}/", 1) if test.startswith("src/") else test
                for test in tests
            ]
            settings = ["-c", str(ROOT / "pyproject.toml"), "--rootdir", str(ROOT)]
            settings += ["--basetemp", str(self.folder / "tests"), "--tb=no", "--assert=plain"]
            settings += [f"-pno:{plugin}" for plugin in NOT_NEEDED]
            code = pytest.main(["-x", "-q", *settings, *places], plugins=[part])
        finally:
            os._exit(int(code not in (0, pytest.ExitCode.NO_TESTS_COLLECTED)))


def _marked(source: str, marks: Path) -> str:
    """Write a module that says of each statement which test reaches it."""
    tree = ast.parse(source)
    for node in ast.walk(tree):
        for _, value in ast.iter_fields(node):
            if isinstance(value, list) and value and isinstance(value[0], ast.stmt):
                value[:] = [one for statement in value for one in _with_mark(statement)]
    first = next(x for x, one in enumerate(tree.body) if not _stands_first(one))
    tree.body[first:first] = ast.parse(MARK.format(marks=str(marks))).body
    return ast.unparse(ast.fix_missing_locations(tree))


def _with_mark(statement: ast.stmt) -> list[ast.stmt]:
    if _stands_first(statement):
        return [statement]
    return [*ast.parse(f"__reached__({statement.lineno})").body, statement]


def _stands_first(statement: ast.stmt) -> bool:
    """Whether it is a text, or an import that nothing may stand before."""
    if isinstance(statement, ast.ImportFrom):
        return statement.module == "__future__"
    return isinstance(statement, ast.Expr) and isinstance(statement.value, ast.Constant)


def _outside(source: str) -> set[int]:
    """Return the statements outside all functions, which only the first test of a process does."""
    tree = ast.parse(source)
    functions = [one for one in ast.walk(tree) if isinstance(one, ast.FunctionDef)]
    inside = {one for function in functions for one in ast.walk(function) if one is not function}
    return {one.lineno for one in set(ast.walk(tree)) - inside if isinstance(one, ast.stmt)}


def _reached(marks: str, times: str, shared: set[int]) -> Reached:
    seconds: dict[str, float] = defaultdict(float)
    lines: dict[int, set[str]] = defaultdict(set)
    files = {}
    for duration, file, test in (line.split("\t") for line in times.splitlines()):
        seconds[test] += float(duration)
        files[test] = file
    for line, _, where in (mark.partition(" ") for mark in marks.splitlines()):
        test, _, phase = where.rpartition(" (")
        if phase == "call)" and test in seconds:
            lines[int(line)].add(test)
        else:
            shared.add(int(line))
    return Reached(dict(seconds), files, dict(lines), shared)
