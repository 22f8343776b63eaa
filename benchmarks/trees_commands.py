"""Whole commands on Adult, k = 5: from a file of rows to a released file, next to other programs.

Both rivals are installed as for `trees_rivals`.
"""

from __future__ import annotations

import statistics
import sys
import tempfile
from collections.abc import Sequence
from pathlib import Path

import numpy as np
import pyarrow.parquet as pq
from benchmarks.fit_command import cpu_seconds
from benchmarks.tables import save
from benchmarks.trees_adult import QUASI, adult_table
from benchmarks.trees_rivals import EIGHT, K, command_of, table_of, write_source

ROWS, REPEATS = 2_000, 3


def main() -> None:
    """Run ours once for the compiled code, and then each for the median."""
    rows = []
    with tempfile.TemporaryDirectory() as place:
        for columns in (EIGHT, QUASI):
            commands = {"voile": ours(columns, Path(place))}
            write_source(table_of(columns, ROWS), Path(place, "rows.npz"))
            for program in ("anonypy", "anjana"):
                commands[program] = [command_of(program, Path(place))]
            for step in commands["voile"]:  # for the compiled code
                cpu_seconds(step)
            for name, steps in commands.items():
                runs = [[cpu_seconds(step) for step in steps] for _ in range(REPEATS)]
                each = [statistics.median(took) for took in zip(*runs, strict=True)]
                whole = statistics.median(map(sum, runs))
                split = " + ".join(f"{took:.1f}" for took in each)
                rows.append((str(len(columns)), name, f"{whole:.1f}", split))
    save(
        "trees_commands",
        f"{ROWS:,} rows of Adult, k = {K}: user and system CPU seconds of whole processes,\n"
        f"imports included, the median of {REPEATS} runs.",
        ("quasi-identifiers", "program", "CPU seconds, whole", "of each command"),
        rows,
        "voile is three commands, `tables fit`, `choose` and `apply`, from Parquet to Parquet:\n"
        "`fit` grows a forest and writes a kit of its whole frontier, and `apply` measures the\n"
        "written release and writes its manifests. A rival's process reads the encoded rows,\n"
        "makes one grouping and writes it, without any measurement. The compiled code was kept\n"
        "from a run before.",
    )


def ours(columns: Sequence[str], place: Path) -> list[Sequence[str]]:
    """Write the rows and their roles; return the three commands."""
    table = adult_table()
    drawn = np.sort(np.random.default_rng(0).permutation(len(table))[:ROWS])
    pq.write_table(table.select(list(columns)).take(drawn), place / "people.parquet")
    roles = "".join(f'"{name}" = "quasi"\n' for name in columns)
    (place / "roles.toml").write_text(f"[columns]\n{roles}")
    people, policy, kit = (str(place / name) for name in ("people.parquet", "policy.toml", "kit"))
    released = str(place / "release.parquet")
    verbs = (
        ("fit", people, "--roles", str(place / "roles.toml"), "--family", "tree", "--k", str(K)),
        ("choose", kit, "--least-loss"),
        ("apply", kit, people, "--policy", policy),
    )
    outs = (kit, policy, released)
    begin = (sys.executable, "-m", "voile", "tables")
    more = (("--seed", "1"), (), ("--no-pseudonyms",))
    return [
        [*begin, *verb, *own, "--out", out, "--force", "--quiet"]
        for verb, own, out in zip(verbs, more, outs, strict=True)
    ]


if __name__ == "__main__":
    main()
