"""The command line: thin, and built once over the wing contract."""

import _signal as signal  # type: ignore[import-not-found]  # loaded already; signal takes a while
import sys

from voile.cli.interrupt import leave

TYPE_CHECKING = False  # typing's own takes longer to import than a user to press Ctrl-C
if TYPE_CHECKING:
    from typing import NoReturn


def main() -> "NoReturn":
    """Run the command that the arguments ask for, and exit with its code."""
    is_heard = signal.getsignal(signal.SIGINT) is signal.default_int_handler
    if is_heard:  # else it is ignored, and stays so
        signal.signal(signal.SIGINT, leave)
    from voile.cli.run import run
    from voile.core.no_pandas import leave_pandas_out

    leave_pandas_out()
    try:
        if is_heard:
            signal.signal(signal.SIGINT, signal.default_int_handler)
        code = run(sys.argv[1:])
    except KeyboardInterrupt:  # before it has begun, or after its end
        code = 130
    sys.exit(code)
