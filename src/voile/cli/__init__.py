"""The command line: a thin layer, built once for all kinds of data."""

import _signal as signal  # type: ignore[import-not-found]  # already loaded; importing signal is slow
import sys

from voile.cli.interrupt import leave

TYPE_CHECKING = False  # a user could press Ctrl-C while typing is imported
if TYPE_CHECKING:
    from typing import NoReturn


def main() -> "NoReturn":
    """Run the command given by the arguments, and exit with its code."""
    is_heard = signal.getsignal(signal.SIGINT) is signal.default_int_handler
    if is_heard:  # an ignored Ctrl-C stays ignored
        signal.signal(signal.SIGINT, leave)
    from voile.cli.run import run
    from voile.core.no_pandas import leave_pandas_out

    leave_pandas_out()
    try:
        if is_heard:
            signal.signal(signal.SIGINT, signal.default_int_handler)
        code = run(sys.argv[1:])
    except KeyboardInterrupt:  # before or after the command
        code = 130
    sys.exit(code)
