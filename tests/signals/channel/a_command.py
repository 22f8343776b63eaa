"""`voile signals receive` as a process of its own."""

from __future__ import annotations

import sys

from voile.cli.kind import kind_group
from voile.signals.module import SIGNALS

if __name__ == "__main__":
    sys.exit(kind_group(SIGNALS).main(["receive", *sys.argv[1:]], standalone_mode=False))
