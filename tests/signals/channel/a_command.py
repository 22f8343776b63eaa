"""`voile signals receive` as a process of its own."""

from __future__ import annotations

import sys

from voile.cli.receive import receive

if __name__ == "__main__":
    sys.exit(receive("signals").main(sys.argv[1:], standalone_mode=False))
