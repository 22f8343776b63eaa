"""`voile verify`: a release checked against its manifests, once more and by anyone who has it."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from pathlib import Path
from typing import TYPE_CHECKING

from voile.cli.parameters import Command, argument, key_file
from voile.cli.screen import Screen
from voile.core.errors import TamperedError, VoileError
from voile.wings import wing

if TYPE_CHECKING:
    from voile.keys.secret import Secret
    from voile.release.manifest import Release
    from voile.release.verify import Check

FAILED = 1
STATES = {True: "ok", False: "FAILED", None: "not checked"}
MALFORMED = (VoileError, LookupError, TypeError, ValueError, ArithmeticError, AttributeError)


def _verify(screen: Screen, *, release: str, key_file: Path | None) -> int:
    """Check a release against its manifests.

    Exits with 1 when a check fails, and says what could not be checked. With the private folder
    beside the release more is checked, and all of it with the secret that sealed it.
    """
    from voile.keys.secret import Secret
    from voile.release.manifest import Release

    told = []
    for says, holds in _checks(Release.open(Path(release)), Secret.find(key_file)):
        told.append({"check": says, "ok": holds})
        if not screen.json:
            print(f"{STATES[holds]:<11} {says}")
    whole = not any(check["ok"] is False for check in told)
    screen.result({"release": release, "ok": whole, "checks": told})
    return 0 if whole else FAILED


def _checks(release: Release, secret: Secret | None) -> Iterator[Check]:
    """Yield what is checked, and whether it holds; of other bytes than its own, nothing more is."""
    from voile.release.verify import Check, accounted, as_told, evidence_sealed, sealed

    own = _has_own_bytes(release)
    yield Check("the bytes are those that the manifest names", own)
    yield from sealed(release, secret)
    yield from evidence_sealed(release, secret)
    yield from _read(release, accounted(release))
    yield from _read(release, as_told(release))
    if own:
        yield from _read(release, wing(release.kind).verify(release))


def _read(release: Release, checks: Iterable[Check]) -> Iterator[Check]:
    """Yield checks; a manifest that cannot be read as its kind's fails, whatever it lacks."""
    from voile.release.verify import Check

    try:
        yield from checks
    except MALFORMED:
        yield Check(f"the manifests can be read as those of a release of {release.kind}", False)


def _has_own_bytes(release: Release) -> bool:
    try:
        release.check_hash()
    except TamperedError:
        return False
    return True


verify = Command("verify", _verify, [argument("release"), key_file()])
