"""Children that end at a chosen step, without any clean-up."""

from __future__ import annotations

import os
from collections.abc import Callable
from pathlib import Path

import pytest
from tests.data.files.parts import ANY, PARTS, names, seen

import voile.data.files.atomic as atomic
from voile.data.files.atomic import Staging


def die_at(monkeypatch: pytest.MonkeyPatch, stop: int, act: Callable[[], object]) -> bool:
    """Act in a child that ends itself, by _exit, before its step number `stop`."""
    child = os.fork()
    if not child:
        try:
            steps = iter(range(1_000))

            def before(call: Callable[..., None]) -> Callable[..., None]:
                def step(*args: object, **more: object) -> None:
                    if next(steps) == stop:
                        os._exit(9)
                    call(*args, **more)

                return step

            monkeypatch.setattr(atomic.os, "rename", before(os.rename))
            monkeypatch.setattr(atomic.os, "replace", before(os.replace))
            monkeypatch.setattr(atomic.os, "fsync", before(os.fsync))
            monkeypatch.setattr(atomic.shutil, "rmtree", before(atomic.shutil.rmtree))
            act()
            os._exit(0)
        finally:
            os._exit(1)
    ended = os.waitstatus_to_exitcode(os.waitpid(child, 0)[1])
    assert ended in (0, 9)
    return ended == 9


def die_at_once(folder: Path) -> str | None:
    """Start the next run and give it up at once: what is seen then is what was put back."""
    with Staging(folder / PARTS[0], ANY, force=True):
        pass
    assert set(names(folder)) in ({*PARTS}, set())
    return seen(folder)
