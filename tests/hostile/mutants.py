"""Which faults the tests notice: `make mutants`, or `python -m tests.hostile.mutants FILE ...`.

Each fault of `faults` is put into a copy of the sources, and the tests that the file's entry of
mutants.toml names are run until one fails. A fault that none notices survives: a test is missing,
or the entry says why nothing can notice it. Results of the files that were run are kept in
mutants.json, and docs/mutants.md is written from all of them.
"""

from __future__ import annotations

import argparse
import datetime as dt
import importlib
import json
import os
import shutil
import signal
import sys
import tempfile
import time
import tomllib
from pathlib import Path
from typing import Any

from tests.hostile.faults import Mutant, mutants

HERE = Path(__file__).parent
ROOT = HERE.parent.parent
PLAN, RESULTS = HERE / "mutants.toml", HERE / "mutants.json"
PAGE = ROOT / "docs" / "mutants.md"
LEAST_SECONDS = 10.0
PATIENCE = 5  # times what the tests take without a fault: then it is noticed as well


def main() -> int:
    """Run the mutants of some files, of all where none is named, and write the page."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("files", nargs="*", help="Paths below src/voile [all of the plan].")
    parser.add_argument("--seconds", type=float, help="Time limit for each file [none].")
    parser.add_argument("--again", action="store_true", help="Only what was not noticed before.")
    asked = parser.parse_args()
    plan = tomllib.loads(PLAN.read_text())
    with tempfile.TemporaryDirectory() as folder:
        copy = Path(folder) / "src"
        shutil.copytree(ROOT / "src", copy)
        for file in asked.files or plan:
            before = json.loads(RESULTS.read_text())[file] if asked.again else None
            found = run(file, plan[file]["tests"], copy, asked.seconds, before)
            results = json.loads(RESULTS.read_text()) | {file: found}  # others may run as well
            RESULTS.write_text(json.dumps(dict(sorted(results.items())), indent=1) + "\n")
            PAGE.write_text(page(results, plan))
            print(f"{file}: {_unexplained(file, results, plan)} survivors to look at", flush=True)
    return any(_unexplained(file, results, plan) for file in asked.files or plan)


def run(
    file: str, tests: list[str], copy: Path, seconds: float | None, before: dict[str, Any] | None
) -> dict[str, Any]:
    """Try the mutants of one file until the time is up, or all that survived before."""
    place = copy / "voile" / file
    source = place.read_text()
    began = time.monotonic()
    assert ends_well(tests, copy, limit=600), f"{file}: the tests fail without a fault"
    limit = max(PATIENCE * (time.monotonic() - began), LEAST_SECONDS)
    found = list(mutants(source))
    wanted = _spread(found) if before is None else _named(found, before["survivors"])
    tried, survivors = 0, []
    for mutant in wanted:
        if before is None and seconds is not None and time.monotonic() - began > seconds:
            break
        place.write_text(mutant.module)
        tried += 1
        if ends_well(tests, copy, limit=limit):
            survivors.append({"line": mutant.line, "fault": mutant.name})
            print(f"  {file}:{mutant.line}: {mutant.name}", flush=True)
    place.write_text(source)
    survivors.sort(key=lambda one: one["line"])
    counts = {"faults": len(found), "tried": tried if before is None else before["tried"]}
    return {"day": dt.date.today().isoformat(), **counts, "survivors": survivors}


def _named(found: list[Mutant], survivors: list[dict[str, Any]]) -> list[Mutant]:
    names = {one["fault"] for one in survivors}
    return [mutant for mutant in found if mutant.name in names]


def _spread(found: list[Mutant]) -> list[Mutant]:
    """Order mutants so that the first ones are from all over the file."""
    step = max(int(len(found) ** 0.5), 1)
    return [one for first in range(step) for one in found[first::step]]


def ends_well(tests: list[str], copy: Path, *, limit: float) -> bool:
    """Run tests in a child that has what is slow to import already; say whether they pass."""
    child = os.fork()
    if not child:
        _test(tests, copy)
    end = time.monotonic() + limit
    while time.monotonic() < end:
        ended, status = os.waitpid(child, os.WNOHANG)
        if ended:
            return status == 0
        time.sleep(0.02)
    os.killpg(child, signal.SIGKILL)
    os.waitpid(child, 0)
    return False


def _test(tests: list[str], copy: Path) -> None:
    """Run pytest on the copy, silently, in a process group of its own, and end."""
    import pytest

    os.setpgid(0, 0)
    nothing = os.open(os.devnull, os.O_WRONLY)
    os.dup2(nothing, 1)
    os.dup2(nothing, 2)
    os.environ |= {"PYTHONPATH": str(copy), "VOILE_REQUIRE": ""}
    sys.dont_write_bytecode = True
    sys.path.insert(0, str(copy))
    try:
        places = [
            test.replace("src/", f"{copy}/", 1) if test.startswith("src/") else test
            for test in tests
        ]
        settings = ["-c", str(ROOT / "pyproject.toml"), "--rootdir", str(ROOT)]
        code = pytest.main(["-x", "-q", "-p", "no:cacheprovider", *settings, *places])
    except BaseException:
        code = 1
    os._exit(int(code != 0))


def page(results: dict[str, Any], plan: dict[str, Any]) -> str:
    """Write what was run and when, and why what survives does."""
    rows, reasons = [], []
    for file, result in results.items():
        explained = plan.get(file, {}).get("survivors", {})
        told = [one for one in result["survivors"] if one["fault"] in explained]
        left = [one for one in result["survivors"] if one not in told]
        noticed = result["tried"] - len(result["survivors"])
        counts = f"{result['faults']} | {result['tried']} | {noticed} | {len(told)} | {len(left)}"
        rows.append(f"| `{file}` | {result['day']} | {counts} |")
        why = [f"{explained[one['fault']]} (`{_function(one)}`)" for one in told]
        why += [f"open: `{one['fault']}`" for one in left]
        reasons += [f"- `{file}`: {'; '.join(dict.fromkeys(why))}."] * bool(why)
    missing = [f"`{file}`" for file in plan if file not in results]
    return TEXT.format(
        rows="\n".join(rows),
        reasons="\n".join(reasons) or "None.",
        missing=", ".join(missing) or "none",
    )


def _function(survivor: dict[str, Any]) -> str:
    return str(survivor["fault"].partition(":")[0])


def _unexplained(file: str, results: dict[str, Any], plan: dict[str, Any]) -> int:
    explained = plan[file].get("survivors", {})
    return sum(one["fault"] not in explained for one in results[file]["survivors"])


TEXT = """# Faults that the tests notice

`make mutants` puts one small fault after another into a file (a comparison the other way round, a
condition without one of its parts, a number one too large, a step left out) and runs the tests of
that file. A fault that none of them notices is a test that is missing, or changes nothing that
anybody could see; then it says below why. Compiled kernels are not tried this way: naive twins hold
them. Where fewer were tried than there are, the time for that file was up; those tried are from all
over it, and nothing is known of the others.

| file | run on | faults | tried | noticed | not noticed, with a reason | open |
| --- | --- | --- | --- | --- | --- | --- |
{rows}

Not run yet: {missing}.

## What is not noticed, and why

Each fault itself stands in `tests/hostile/mutants.toml`.

{reasons}
"""


SLOW_TO_IMPORT = (
    "click duckdb hypothesis numba numpy pandas pyarrow.dataset pyarrow.parquet pydantic pytest "
    "rich scipy.optimize scipy.stats sklearn.linear_model tomli_w"
)

if __name__ == "__main__":
    for name in SLOW_TO_IMPORT.split():
        importlib.import_module(name)
    raise SystemExit(main())
