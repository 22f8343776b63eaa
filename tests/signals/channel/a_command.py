"""`voile signals receive` as a process of its own."""

from __future__ import annotations

import sys

from voile.cli.kind import kind_group

if __name__ == "__main__":
    sys.exit(kind_group("signals").main(["receive", *sys.argv[1:]], standalone_mode=False))
