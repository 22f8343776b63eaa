"""Where the real data lies: the folder VOILE_DATA names, else ../shared/data."""

from __future__ import annotations

import os
from pathlib import Path

BESIDE = Path(__file__).resolve().parents[2] / "shared" / "data"


def folder(name: str) -> Path:
    """Return one data set's folder, or stop with its name when it is not here."""
    path = Path(os.environ.get("VOILE_DATA", BESIDE)) / name
    if not path.is_dir():
        raise SystemExit(f"the data set {name} is not in {path.parent}; set VOILE_DATA")
    return path
