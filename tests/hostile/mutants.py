"""Find the faults that the tests notice.

Run it with `make mutants`, or with `python -m tests.hostile.mutants FILE ...`.

Each fault of `faults` is put into a copy of the sources. The file's entry in mutants.toml names
tests, and those that reach the fault run until one fails. A fault that no test notices survives.
Then a test is missing, or the entry explains why the fault has no effect. mutants.json contains the
results of the files that were run, and docs/maintainers/mutants.md is written from all of them.
"""

from __future__ import annotations

import argparse
import datetime as dt
import json
import math
import tempfile
import time
import tomllib
from pathlib import Path
from typing import Any

from tests.hostile.faults import Mutant, mutants
from tests.hostile.trials import ROOT, Copy, prepare

HERE = Path(__file__).parent
PLAN, RESULTS = HERE / "mutants.toml", HERE / "mutants.json"
PAGE = ROOT / "docs" / "maintainers" / "mutants.md"
NOTHING: dict[str, Any] = {"tried": 0, "survivors": []}
MEMORY = Path("/dev/shm")  # nothing waits for a disk there


def main() -> int:
    """Run the mutants of some files, of all where none is named, and write the page."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("files", nargs="*", help="Paths below src/voile [all of the plan].")
    parser.add_argument("--seconds", type=float, help="Time limit for a file's faults [none].")
    part = parser.add_mutually_exclusive_group()
    part.add_argument("--again", action="store_true", help="Only what was not noticed before.")
    part.add_argument("--rest", action="store_true", help="Only what time was too short for.")
    asked = parser.parse_args()
    prepare()
    with tempfile.TemporaryDirectory(dir=MEMORY if MEMORY.is_dir() else None) as folder:
        copy = Copy(Path(folder))
        for file in asked.files or _plan():
            before = json.loads(RESULTS.read_text())[file] if asked.again or asked.rest else NOTHING
            found = run(file, _plan()[file]["tests"], copy, before, asked.again, asked.seconds)
            results = json.loads(RESULTS.read_text()) | {file: found}  # others may run as well
            RESULTS.write_text(json.dumps(dict(sorted(results.items())), indent=1) + "\n")
            PAGE.write_text(page(results, _plan()))
            print(f"{file}: {_unexplained(file, results)} survivors to look at", flush=True)
    return any(_unexplained(file, results) for file in asked.files or _plan())


def run(
    file: str,
    tests: list[str],
    copy: Copy,
    before: dict[str, Any],
    again: bool,
    seconds: float | None,
) -> dict[str, Any]:
    """Try the mutants of one file that were not tried before, or again all that survived."""
    reached = copy.reached(file, tests)
    end = math.inf if again or seconds is None else time.monotonic() + seconds
    found = _spread(list(mutants((ROOT / "src" / "voile" / file).read_text())))
    assert again or before.get("faults") in (None, len(found)), f"{file} has changed: run all of it"
    tried, survivors = before["tried"], [] if again else list(before["survivors"])
    for mutant in _named(found, before["survivors"]) if again else found[tried:]:
        if time.monotonic() > end:
            break
        tried += not again
        those = reached.by(mutant.statement)
        if not copy.notices(file, mutant.module, those, reached):
            survivors.append({"line": mutant.line, "fault": mutant.name})
            print(f"  {file}:{mutant.line}: {mutant.name} ({len(those)} tests)", flush=True)
    survivors.sort(key=lambda one: one["line"])
    counts = {"faults": len(found), "tried": tried}
    return {"day": dt.date.today().isoformat(), **counts, "survivors": survivors}


def _plan() -> dict[str, Any]:
    return tomllib.loads(PLAN.read_text())


def _named(found: list[Mutant], survivors: list[dict[str, Any]]) -> list[Mutant]:
    names = {one["fault"] for one in survivors}
    return [mutant for mutant in found if mutant.name in names]


def _spread(found: list[Mutant]) -> list[Mutant]:
    """Order mutants so that the first ones are from all over the file."""
    step = max(int(len(found) ** 0.5), 1)
    return [one for first in range(step) for one in found[first::step]]


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
        why = [f"  - `{_function(one)}`: {explained[one['fault']]}." for one in told]
        why += [f"  - open: `{one['fault']}`." for one in left]
        reasons += [f"- `{file}`", *dict.fromkeys(why)] if why else []
    missing = [f"`{file}`" for file in plan if file not in results]
    return TEXT.format(
        rows="\n".join(rows),
        reasons="\n".join(reasons) or "None.",
        missing=", ".join(missing) or "none",
    )


def _function(survivor: dict[str, Any]) -> str:
    return str(survivor["fault"].partition(":")[0])


def _unexplained(file: str, results: dict[str, Any]) -> int:
    explained = _plan()[file].get("survivors", {})
    return sum(one["fault"] not in explained for one in results[file]["survivors"])


TEXT = """# Faults that the tests notice

`make mutants` puts one small fault after another into a file. Examples are a reversed comparison, a
missing part of a condition, a number that is one too large, and a missing step. It runs the tests
that reach the fault. If no test notices a fault, a test is missing, or the fault changes nothing
visible. The list below gives the reason in that case. Compiled kernels are not tried, because naive
twins test them. If fewer faults were tried than exist, the time for that file was over.

| file | run on | faults | tried | noticed | not noticed, with a reason | open |
| --- | --- | --- | --- | --- | --- | --- |
{rows}

Not run yet: {missing}.

## Faults without effect

`tests/hostile/mutants.toml` lists each fault.

{reasons}
"""


if __name__ == "__main__":
    raise SystemExit(main())
