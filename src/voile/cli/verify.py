"""`voile verify`: a release checked against its manifests, once more and by anyone who has it."""

from __future__ import annotations

import stat
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import TYPE_CHECKING

from voile.cli.parameters import Command, argument
from voile.cli.screen import Screen
from voile.errors import TamperedError
from voile.wings import wing

if TYPE_CHECKING:
    from voile.release import Release

FAILED = 1
Check = Callable[["Release"], str | None]


def _verify(screen: Screen, *, release: str) -> int:
    """Check a release against its manifests: bytes, counts, and what it says it discloses."""
    from voile.release import Release

    opened = Release.open(Path(release))
    failed = 0
    told = []
    for name, fault in _checks(opened):
        failed += fault is not None
        told.append({"check": name, "ok": fault is None, "fault": fault})
        if not screen.json:
            print(f"{'ok' if fault is None else 'FAILED':<7} {name}{f': {fault}' if fault else ''}")
    screen.result({"release": release, "ok": not failed, "checks": told})
    return FAILED if failed else 0


def _checks(release: Release) -> Iterator[tuple[str, str | None]]:
    """Yield each check's name and what is wrong, None where nothing is."""
    yield "the bytes are those of the manifest", _fault(release.check_hash)
    if release.private is None:
        yield "only the public manifest is here", None
    else:
        yield "what never leaves is open to its owner alone", _modes(release)
        yield "the private manifest is of this release", _same(release)
        yield "rows in = out + set aside + suppressed", _balance(release)
    verify = getattr(wing(release.kind), "verify", None)
    if verify is not None:
        yield from verify(release)


def _fault(check: Callable[[], None]) -> str | None:
    try:
        check()
    except TamperedError as error:
        return error.what
    return None


def _modes(release: Release) -> str | None:
    mode = stat.S_IMODE(release.folder.stat().st_mode)
    return None if mode & 0o077 == 0 else f"the folder's mode is {mode:o}, not 700"


def _same(release: Release) -> str | None:
    assert release.private is not None
    same = release.private["sha256"] == release.public["sha256"]
    return None if same else "it names another release"


def _balance(release: Release) -> str | None:
    assert release.private is not None
    counts = release.private["counts"]
    out = sum(counts[name] for name in ("released", "set_aside", "suppressed", "held_out"))
    if counts["read"] == out:
        return None
    return f"{counts['read']:,} rows came in and {out:,} are accounted for"


verify = Command("verify", _verify, [argument("release")])
