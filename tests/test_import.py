"""Importing voile and asking for help loads nothing heavy; imports go in no circle."""

from __future__ import annotations

import subprocess
import sys
from graphlib import TopologicalSorter
from pathlib import Path

import grimp
import pytest

HEAVY = ("numpy", "scipy", "sklearn", "duckdb", "numba", "pyarrow", "pydantic", "rich", "jinja2")
HELP = "from voile.cli.run import run; run({})"


@pytest.mark.parametrize(
    "code",
    [
        "import voile",
        "import voile.modules, voile.core.errors, voile.release.kit, voile.release.manifest",
        HELP.format(["--help"]),
        HELP.format(["--version"]),
        HELP.format(["tables", "--help"]),
        HELP.format(["documents", "--help"]),
        HELP.format(["signals", "--help"]),
        HELP.format(["verify", "--help"]),
        HELP.format(["no-such-command"]),
    ],
)
def test_loads_nothing_heavy(code: str) -> None:
    loaded = (
        f"{code}\nimport sys\nprint(*(m for m in {HEAVY} if m in sys.modules), file=sys.stderr)"
    )
    done = subprocess.run(
        [sys.executable, "-c", loaded], capture_output=True, text=True, check=True
    )
    assert done.stderr.splitlines()[-1] == ""


def test_a_policy_is_chosen_without_numba() -> None:
    code = "import sys, voile.tables.verbs.choose, voile.tables.verbs.content"
    ran = subprocess.run(
        [sys.executable, "-c", f"{code}; print('numba' in sys.modules)"],
        capture_output=True,
        text=True,
        check=True,
    )
    assert ran.stdout.split() == ["False"]


def test_a_command_imports_no_pandas_though_it_is_there(tmp_path: Path) -> None:
    (tmp_path / "people.csv").write_text("age,dx\n33,a\n41,b\n")
    code = (
        "import sys; from voile.cli import main\n"
        "try: main()\n"
        "finally: import pyarrow; pyarrow.array([1]); print('pandas' in sys.modules)"
    )
    done = subprocess.run(
        [sys.executable, "-c", code, "inspect", "people.csv", "--out", "roles.toml", "--quiet"],
        capture_output=True,
        text=True,
        check=True,
        cwd=tmp_path,
    )
    assert done.stdout.split() == ["False"]


def test_a_measure_of_the_users_own_may_import_pandas(tmp_path: Path) -> None:
    (tmp_path / "own.py").write_text("import pandas")
    (tmp_path / "people.csv").write_text("age\n33\n41\n")
    (tmp_path / "roles.toml").write_text('[columns]\nage = "quasi"\n')
    fit = ["tables", "fit", "people.csv", "--roles", "roles.toml", "--loss", "own:lost"]
    done = subprocess.run(
        [sys.executable, "-m", "voile", *fit, "--out", "kit"],
        capture_output=True,
        text=True,
        cwd=tmp_path,
    )
    assert "module own has no lost" in done.stderr


def test_ctrl_c_has_its_handler_before_anything_is_loaded_that_takes_a_while() -> None:
    code = "import sys; before = {*sys.modules}; import voile.cli; print(*{*sys.modules} - before)"
    done = subprocess.run(
        [sys.executable, "-S", "-c", f"import sys; sys.path = {sys.path!r}; {code}"],
        capture_output=True,
        text=True,
        check=True,
    )
    assert not {"typing", "enum", "re", "json", "threading"} & {*done.stdout.split()}


def test_no_module_is_imported_by_what_it_imports() -> None:
    """Imports for types and inside functions count as any other."""
    graph = grimp.build_graph("voile", cache_dir=None)
    TopologicalSorter(
        {module: graph.find_modules_directly_imported_by(module) for module in graph.modules}
    ).prepare()


@pytest.mark.parametrize(
    "verb", ["signals.verbs.apply", "signals.fitting.fit", "tables.verbs.attack"]
)
def test_a_verb_loads_no_statistics_before_it_needs_them(verb: str) -> None:
    slow = "scipy.stats", "scipy.optimize", "sklearn"  # a second or two
    code = f"import voile.{verb}, sys; print(*(m for m in {slow} if m in sys.modules))"
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout.split() == []
