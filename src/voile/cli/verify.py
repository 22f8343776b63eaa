"""`voile verify`: a release checked against its manifests, once more and by anyone who has it."""

from __future__ import annotations

from pathlib import Path

from voile.cli.parameters import Command, argument, key_file
from voile.cli.screen import Screen

FAILED = 1
STATES = {True: "ok", False: "FAILED", None: "not checked"}


def _verify(screen: Screen, *, release: str, key_file: Path | None) -> int:
    """Check a release against its manifests.

    Exits with 1 when a check fails, and says what could not be checked. With the private folder
    beside the release more is checked, and all of it with the secret that sealed it.
    """
    from voile.face.release import open_release

    told = []
    for says, holds in open_release(release).verify(key_file=key_file):
        told.append({"check": says, "ok": holds})
        if not screen.json:
            print(f"{STATES[holds]:<11} {says}")
    whole = not any(check["ok"] is False for check in told)
    screen.result({"release": release, "ok": whole, "checks": told})
    return 0 if whole else FAILED


verify = Command("verify", _verify, [argument("release"), key_file()])
