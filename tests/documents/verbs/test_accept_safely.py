"""A kill while a release is accepted: it is the old one or the new one, and the reading goes on."""

from __future__ import annotations

import multiprocessing
import os
import shutil
import signal
from collections.abc import Callable
from pathlib import Path

import pytest
from tests.documents.flow import applied, by_cost, kit_of
from tests.documents.verbs.test_accept import accept, source

from voile.data.files.atomic import settle
from voile.data.files.outputs import RELEASE
from voile.documents.verbs.verify import verify
from voile.release.evidence import find_evidence
from voile.release.manifest import StoredRelease
from voile.release.verify import checks

pytestmark = pytest.mark.whole


def killed_at(number: int, run: Callable[[], object]) -> bool:
    """Run in a process of its own that is killed before a rename; say whether it got there."""
    child = multiprocessing.get_context("fork").Process(target=_run, args=(number, run))
    child.start()
    child.join(120)
    assert child.exitcode in (0, -signal.SIGKILL)
    return child.exitcode != 0


def _run(number: int, run: Callable[[], object]) -> None:
    left, rename = [number], os.rename

    def counted(*names: object, **how: object) -> None:
        left[0] -= 1
        if not left[0]:
            os.kill(os.getpid(), signal.SIGKILL)
        rename(*names, **how)  # type: ignore[arg-type]

    os.rename = counted  # type: ignore[assignment]
    run()
    os._exit(0)


def is_whole(out: Path, tmp_path: Path) -> bool:
    """Look at a copy of what lies there, set right."""
    place = tmp_path / "copy"
    shutil.copytree(out.parent, place)
    settle(place / out.name, RELEASE)
    release = StoredRelease.open(place / out.name)
    found = all(one.holds is not False for one in checks(release, verify, None))
    shutil.rmtree(place)
    return found


def test_a_kill_at_any_rename_leaves_a_whole_release_and_the_reading_goes_on(
    tmp_path: Path,
) -> None:
    (tmp_path / "own").mkdir()
    out = tmp_path / "own" / "notes.jsonl"
    applied(source(), out, chosen=by_cost(2), repeats=False)
    kit_of()
    number = 1
    while killed_at(number, lambda: accept(str(out))):
        assert is_whole(out, tmp_path), number
        number += 1
    assert number > 5
    found = accept(str(out))
    assert found["decided"] is True
    release = StoredRelease.open(out)
    assert release.public["acceptance"]["tokens_read"] == found["read"]
    assert [one.attack for one in find_evidence(release, None)] == ["acceptance"]
