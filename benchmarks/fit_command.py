"""What `voile tables fit` costs as a command, on the Tennessee pair: user and system CPU."""

from __future__ import annotations

import resource
import subprocess
import sys
import tempfile
from collections.abc import Sequence
from pathlib import Path

from benchmarks.data import folder
from benchmarks.tables import save

ASKED = {
    "trees and global policies (the default)": (),
    "global policies, steepest": ("--family", "global", "--method", "steepest"),
}
ROLES = '[columns]\nage = "quasi"\nsex = "quasi"\nrace = "quasi"\nzip = "quasi"\n'
DROPPED = (
    *("workclass", "education", "education_num", "marital_status", "occupation", "relationship"),
    *("capital_gain", "capital_loss", "hours_per_week", "native_country", "income"),
)


def main() -> None:
    """Run each command for the compiled code, and then for the figures."""
    rows = []
    with tempfile.TemporaryDirectory() as place:
        roles = Path(place, "roles.toml")
        roles.write_text(ROLES + "".join(f'{name} = "drop"\n' for name in DROPPED))
        for name, options in ASKED.items():
            _, took = seconds(roles, options), seconds(roles, options)
            rows.append((name, f"{took:.1f}"))
    save(
        "fit_command",
        "32,561 records and 259,473 counted combinations, from Parquet files to a kit, imports\n"
        "included; the compiled code was kept from a run before.",
        ("`voile tables fit`", "CPU seconds, user and system"),
        rows,
    )


def seconds(roles: Path, options: tuple[str, ...]) -> float:
    """Return the CPU seconds of one fit."""
    data = folder("tennessee")
    kit = ["--force", "--out", str(roles.with_name("people.kit")), "--seed", "1"]
    tables = [str(data / "adult.parquet"), "--population", str(data / "population.parquet")]
    command = [sys.executable, "-m", "voile", "tables", "fit", *tables, "--roles", str(roles)]
    return cpu_seconds([*command, *kit, *options])


def cpu_seconds(command: Sequence[str]) -> float:
    """Return the user and system CPU seconds of a command."""
    before = resource.getrusage(resource.RUSAGE_CHILDREN)
    subprocess.run(command, check=True, capture_output=True)
    after = resource.getrusage(resource.RUSAGE_CHILDREN)
    return after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime


if __name__ == "__main__":
    main()
