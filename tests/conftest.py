"""What every test stands on."""

from __future__ import annotations

import signal

# A runner in the background starts its children with Ctrl-C ignored; tests that press it hang.
signal.signal(signal.SIGINT, signal.default_int_handler)
