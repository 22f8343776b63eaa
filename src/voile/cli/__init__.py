"""The command line: thin, and built once over the wing contract."""

import _signal as signal  # type: ignore[import-not-found]  # loaded already; signal takes a while
import sys

from voile.cli.interrupt import leave

TYPE_CHECKING = False  # typing's own takes longer to import than a user to press Ctrl-C
if TYPE_CHECKING:
    from typing import NoReturn


NEED_PANDAS = {"pyspark", "pyreadstat"}  # the second before its version 1.3


class _NoPandas:
    """Commands need no pandas, and pyarrow would take a quarter of a second to look at it."""

    @staticmethod
    def find_spec(name: str, *_: object) -> None:
        """Say that there is no pandas, unless a library that needs it is there."""
        if name == "pandas" and NEED_PANDAS.isdisjoint(sys.modules):
            raise ModuleNotFoundError("no command needs pandas", name=name)


def main() -> "NoReturn":
    """Run the command that the arguments ask for, and exit with its code."""
    is_heard = signal.getsignal(signal.SIGINT) is signal.default_int_handler
    if is_heard:  # else it is ignored, and stays so
        signal.signal(signal.SIGINT, leave)
    from voile.cli.run import run

    sys.meta_path.insert(0, _NoPandas)
    try:
        if is_heard:
            signal.signal(signal.SIGINT, signal.default_int_handler)
        code = run(sys.argv[1:])
    except KeyboardInterrupt:  # before it has begun, or after its end
        code = 130
    sys.exit(code)
