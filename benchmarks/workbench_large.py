"""Edits by hand and drags in the workbench, on a table of 1 million rows and 30 columns.

`python -m benchmarks.workbench_large` draws the table from a fixed seed, fits it through the
page's requests, and measures 30 edits and 60 drags in Chromium. Add a folder to keep the project
for the next run.
"""

from __future__ import annotations

import json
import os
import statistics
import subprocess
import sys
from collections.abc import Sequence
from pathlib import Path
from tempfile import TemporaryDirectory

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
from playwright.sync_api import Page
from tests.browser import launched
from tests.workbench.county import CONTEXT
from tests.workbench.served import Workbench, opened
from tests.workbench.test_page import DRAG
from tests.workbench.window import PATIENCE, SETTLED

ROWS, LABS = 1_000_000, 18
QUASI = ("age", "sex", "race", "zip", "education", "marital")
EDITS, DRAGS = 30, 60
EDIT = """async (id) => {
  const figures = document.querySelector("#main dl.figures");
  const before = performance.now();
  const change = new Promise((done) =>
    new MutationObserver(done).observe(figures, {childList: true}));
  document.getElementById(id).click();
  await change;
  await new Promise((done) => requestAnimationFrame(() => setTimeout(done)));
  return performance.now() - before;
}"""


def main() -> None:
    with TemporaryDirectory() as scratch:
        folder = Path(sys.argv[1] if sys.argv[1:] else scratch)
        table = folder / "people.parquet"
        if not table.exists():
            make_table(table)
        with opened(table) as served:
            served.enter()
            if not (folder / "people-project/people.kit").exists():
                fit_policies(served)
            served.act("frontier.choose", policy=find_global(folder / "people-project"))
        with opened(table) as served, launched() as browser:
            page = browser.new_page(viewport={"width": 1280, "height": 900})
            page.set_default_timeout(PATIENCE)
            page.goto(served.address)
            page.locator("#step-frontier").click()
            page.locator("#merge-0").wait_for()
            report("drag, painted", page.evaluate(DRAG)[:DRAGS])
            page.reload()
            page.locator("#step-frontier").click()
            page.locator("#merge-0").wait_for()
            measure_edits(page, served)


def fit_policies(served: Workbench) -> None:
    served.act("data.inspect", **served.form("data"))
    kept = {f"lab_{n:02}": "keep" for n in range(LABS)}
    dropped = dict.fromkeys(("ward", "stay", "insurance", "visits"), "drop")
    served.act("roles.save", roles=kept | dropped)
    absent = {"population": "", "register_file": ""}
    served.act("adversary.fit", **served.form("adversary") | CONTEXT | absent)


def find_global(project: Path) -> int:
    """Return the number of the global policy with the least loss."""
    command = [sys.executable, "-m", "voile", "tables", "frontier", "people.kit", "--json"]
    answer = json.loads(subprocess.run(command, cwd=project, capture_output=True).stdout)
    return max(one["number"] for one in answer["policies"] if one["family"] == "global")


def measure_edits(page: Page, served: Workbench) -> None:
    """Split and merge a column's labels in turn, from the press to the painted figures."""
    columns = [
        n for n in range(len(QUASI)) if page.locator(f"#split-{n}[aria-disabled]").count() == 0
    ]
    times, seconds = [], []
    for number in range(EDITS + 2):
        column, way = columns[number // 2 % len(columns)], ("split", "merge")[number % 2]
        before = read_seconds(served.process.pid)
        times.append(page.evaluate(EDIT, f"{way}-{column}"))
        while not page.evaluate(SETTLED):
            page.wait_for_timeout(20)
        seconds.append(1000 * (read_seconds(served.process.pid) - before))
        print(way, QUASI[column], f"{times[-1]:.0f} ms", flush=True)
    times, seconds = times[2:], seconds[2:]  # the first edits read the kit
    report("edit, painted", times)
    report("edit, processor time of the server", seconds)


def read_seconds(pid: int) -> float:
    """Return the processor time of a process."""
    user, system = Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()[11:13]
    return (int(user) + int(system)) / os.sysconf("SC_CLK_TCK")


def report(name: str, times: Sequence[float]) -> None:
    last = statistics.quantiles(times, n=20)[-1]
    median = statistics.median(times)
    print(
        f"{name}: {len(times)}, median {median:.0f} ms, 95th percentile {last:.0f} ms", flush=True
    )


def make_table(place: Path) -> None:
    """Write 30 columns: 6 that others may know, 6 facts and 18 measurements of each person."""
    rng = np.random.default_rng(49)
    columns = {
        "age": rng.integers(0, 100, ROWS),
        "sex": draw_codes(rng, "FM", [0.5, 0.5]),
        "race": draw_codes(rng, "abcdef", [0.75, 0.16, 0.03, 0.03, 0.02, 0.01]),
        "zip": 37000 + 2 * draw_ranks(rng, 630),
        "education": rng.binomial(15, 0.6, ROWS),
        "marital": draw_codes(rng, "abcde", [0.45, 0.35, 0.1, 0.06, 0.04]),
        "person": np.arange(ROWS),
        "diagnosis": np.char.add("D", draw_ranks(rng, 400).astype(str)),
        "ward": draw_codes(rng, "ABCDEFGH", [0.3, 0.2, 0.1, 0.1, 0.1, 0.1, 0.05, 0.05]),
        "stay": rng.geometric(0.3, ROWS),
        "insurance": draw_codes(rng, "pqr", [0.5, 0.3, 0.2]),
        "visits": rng.poisson(3, ROWS),
    }
    columns |= {f"lab_{n:02}": rng.normal(100, 15, ROWS).round(1) for n in range(LABS)}
    pq.write_table(pa.table(columns), place, compression="zstd")


def draw_codes(rng: np.random.Generator, codes: str, shares: Sequence[float]) -> np.ndarray:
    return rng.choice([*codes], ROWS, p=shares)


def draw_ranks(rng: np.random.Generator, count: int) -> np.ndarray:
    """Draw numbers from 0, where the n-th is n times rarer than the first."""
    weights = 1 / np.arange(1, count + 1)
    return rng.choice(count, ROWS, p=weights / weights.sum())


if __name__ == "__main__":
    main()
