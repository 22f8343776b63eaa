"""The end of a process that Ctrl-C stops before it has begun, or for the second time."""

import os
import sys

TYPE_CHECKING = False  # typing's own takes longer to import than a user to press Ctrl-C
if TYPE_CHECKING:
    from typing import NoReturn

INTERRUPTED = "interrupted; no output is half-written"


def leave(*_: object) -> "NoReturn":
    """End the process at once, with a sentence: at Ctrl-C while it starts, or the second."""
    os.write(2, f"voile: {INTERRUPTED}\n".encode())
    if "--json" in sys.argv:
        said = f'{{"error": {{"what": "{INTERRUPTED}", "where": null, "instead": null}}}}\n'
        os.write(1, said.encode())
    os._exit(130)
