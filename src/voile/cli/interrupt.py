"""End a process at a Ctrl-C during its start, or at the second Ctrl-C."""

import os
import sys

TYPE_CHECKING = False  # a user could press Ctrl-C while typing is imported
if TYPE_CHECKING:
    from typing import NoReturn

INTERRUPTED = "interrupted; no output is half-written"


def leave(*_: object) -> "NoReturn":
    """End the process at once, with a message, as a signal handler or after the second Ctrl-C."""
    os.write(2, f"voile: {INTERRUPTED}\n".encode())
    if "--json" in sys.argv:
        said = f'{{"error": {{"what": "{INTERRUPTED}", "where": null, "instead": null}}}}\n'
        os.write(1, said.encode())
    os._exit(130)
