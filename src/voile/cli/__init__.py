"""The command line: thin, and built once over the wing contract."""

from __future__ import annotations

import sys
from typing import NoReturn


def main() -> NoReturn:
    """Run the command that the arguments ask for, and exit with its code."""
    try:
        from voile.cli.run import run
    except KeyboardInterrupt:
        sys.exit(130)
    sys.exit(run(sys.argv[1:]))
