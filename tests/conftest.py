"""What every test stands on."""

from __future__ import annotations

import os
import signal

from hypothesis import settings

# A runner in the background starts its children with Ctrl-C ignored; tests that press it hang.
signal.signal(signal.SIGINT, signal.default_int_handler)

# The same cases in every run, so that a failure is of the change that is tested; to look for new
# ones, HYPOTHESIS_PROFILE=explore.
settings.register_profile("fixed", derandomize=True, deadline=None)
settings.register_profile("explore", deadline=None)
settings.load_profile(os.environ.get("HYPOTHESIS_PROFILE", "fixed"))
