"""Where real public data lies: the folder that VOILE_DATA names, else ../shared/data."""

from __future__ import annotations

import os
from pathlib import Path

DATA = Path(os.environ.get("VOILE_DATA") or Path(__file__).parents[2] / "shared" / "data")
