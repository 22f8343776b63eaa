"""Run every benchmark, one process each; each writes its table into docs/benchmarks."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

HERE = Path(__file__).parent
CLAIMS = sorted(
    path.stem
    for path in HERE.glob("*.py")
    if "def main(" in path.read_text() and path.stem != "__main__"
)


def main() -> int:
    failed = 0
    for name in CLAIMS:
        print(f"== {name}", flush=True)
        failed += (
            subprocess.run(
                [sys.executable, "-m", f"benchmarks.{name}"], cwd=HERE.parent, check=False
            ).returncode
            != 0
        )
    return int(failed > 0)


if __name__ == "__main__":
    raise SystemExit(main())
