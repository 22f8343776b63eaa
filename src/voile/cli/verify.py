"""`voile verify`: a release checked against its manifests, once more and by anyone who has it."""

from __future__ import annotations

import stat
from collections.abc import Iterator
from pathlib import Path
from typing import TYPE_CHECKING

from voile.cli.parameters import Command, argument
from voile.cli.screen import Screen
from voile.errors import TamperedError
from voile.wings import wing

if TYPE_CHECKING:
    from voile.release import Release

FAILED = 1


def _verify(screen: Screen, *, release: str) -> int:
    """Check a release against its manifests.

    Exits with 1 when a check fails. Needs the public manifest alone; with the private one beside
    it, more is checked.
    """
    from voile.release import Release

    told = []
    for name, holds in _checks(Release.open(Path(release))):
        told.append({"check": name, "ok": holds})
        if not screen.json:
            print(f"{'ok' if holds else 'FAILED':<7} {name}")
    whole = all(check["ok"] for check in told)
    screen.result({"release": release, "ok": whole, "checks": told})
    return 0 if whole else FAILED


def _checks(release: Release) -> Iterator[tuple[str, bool]]:
    """Yield what is checked, and whether it holds; of other bytes than its own, nothing more is."""
    from voile.wording import rounded

    own = _has_own_bytes(release)
    yield "the bytes are those that the manifest names", own
    if release.private is not None:
        mode = stat.S_IMODE(release.folder.stat().st_mode)
        yield "what never leaves is open to its owner alone", mode & 0o077 == 0
        same = release.private["sha256"] == release.public["sha256"]
        yield "the private manifest is of this release", same
        known = {**release.private["chosen"]["figures"], **release.private["figures"]}
        told = release.public["figures"].items()
        same = all(n in known and x in (known[n], rounded(known[n])) for n, x in told)
        yield "the public figures are the private ones", same
        counts = release.private["counts"]
        out = sum(counts[name] for name in ("released", "set_aside", "suppressed", "held_out"))
        yield "rows in = released + set aside + suppressed + held out", counts["read"] == out
    verify = getattr(wing(release.kind), "verify", None)
    if own and verify is not None:
        yield from verify(release)


def _has_own_bytes(release: Release) -> bool:
    try:
        release.check_hash()
    except TamperedError:
        return False
    return True


verify = Command("verify", _verify, [argument("release")])
