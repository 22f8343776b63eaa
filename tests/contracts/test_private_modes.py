"""Test that other users of the machine cannot read the data holder's files, whatever the umask."""

from __future__ import annotations

import os
import stat
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from voile.release.evidence import default_place, write_evidence
from voile.release.manifest import private_path

pytestmark = pytest.mark.skipif(os.name != "posix", reason="the system has no such permissions")


@pytest.fixture(autouse=True)
def no_umask() -> Iterator[None]:
    before = os.umask(0)
    yield
    os.umask(before)


def open_to_others(*places: Path) -> list[str]:
    """List the files that are not 0600 and the folders that are not 0700 at or below places."""
    every = [one for place in places for one in (place, *place.rglob("*"))]
    wrong = []
    for one in every:
        mode = stat.S_IMODE(one.stat().st_mode)
        if mode != (0o700 if one.is_dir() else 0o600):
            wrong.append(f"{mode:o} {one.name}")
    return wrong


def test_what_stays_is_for_its_owner_alone(case: Any, tmp_path: Path) -> None:
    case.kit.save(tmp_path / "kit")
    case.middle().save(tmp_path / "policy.toml")
    release = case.apply(tmp_path / "release.csv")
    write_evidence(default_place(release), release, case.attack(release), None, force=False)
    release.report(internal=True).save(tmp_path / "internal.html")
    private = private_path(release.path)
    assert {"manifest.json", "seal.json", "evidence.json"} <= {
        one.name for one in private.iterdir()
    }
    kept = [private, tmp_path / "policy.toml", tmp_path / "internal.html"]
    if case.kit.visibility == "private":
        kept.append(tmp_path / "kit")
    assert open_to_others(*kept) == []


def test_what_leaves_follows_the_umask(case: Any, tmp_path: Path) -> None:
    release = case.apply(tmp_path / "release.csv")
    release.report().save(tmp_path / "public.html")
    for one in ("release.csv", "release.csv.manifest.json", "public.html"):
        assert stat.S_IMODE((tmp_path / one).stat().st_mode) == 0o666
