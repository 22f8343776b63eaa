"""The command line: thin, and built once over the wing contract."""

from __future__ import annotations

import sys
from typing import NoReturn

from voile.core.interruption import leaving_at_ctrl_c


def main() -> NoReturn:
    """Run the command that the arguments ask for, and exit with its code."""
    with leaving_at_ctrl_c():
        from voile.cli.run import run
    try:
        code = run(sys.argv[1:])
    except KeyboardInterrupt:  # before it has begun, or after its end
        code = 130
    sys.exit(code)
