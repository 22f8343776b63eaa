"""A review of made-up notes."""

from __future__ import annotations

import shutil
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest
from playwright.sync_api import Browser, BrowserContext
from tests.documents.model.start.made import hospital
from tests.documents.reviewing.made import Served, letter, served, summers
from tests.documents.reviewing.window import Window

import voile
from voile.documents.reviewing.line import ReviewLine
from voile.documents.reviewing.store import ReviewStore


@pytest.fixture
def made(tmp_path: Path) -> Callable[..., Path]:
    """Write a store of these lines, those of a letter and three more unless others are given."""

    def make(*lines: ReviewLine, **meta: str) -> Path:
        path = tmp_path / "review.sqlite"
        with ReviewStore.create(path, meta={"fingerprint": "f", **meta}) as store:
            store.add(lines or [letter(), *summers()], batch=1)
        return path

    return make


@pytest.fixture(scope="session")
def begun(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Make a work folder of a small hospital's notes, of which no table of staff was known."""
    place = tmp_path_factory.mktemp("hospital")
    notes, people, _ = hospital(place)
    quick = {"learners": ["svm"], "cross_fit": 3, "jobs": 1, "seed": 1, "least_left": 50}
    given = {"known": people, "by": "patient_id", "known_kind": "born=none"}
    voile.documents.init(notes, place / "work", **given, **quick)
    return place / "work"


@pytest.fixture
def work(begun: Path, tmp_path: Path) -> Path:
    return Path(shutil.copytree(begun, tmp_path / "work"))


@pytest.fixture
def window(chromium: Browser) -> Iterator[Callable[..., Window]]:
    contexts: list[BrowserContext] = []

    def make(**options: Any) -> Window:
        contexts.append(chromium.new_context(**options))
        return Window(contexts[-1])

    yield make
    for context in contexts:
        context.close()


@pytest.fixture
def serving(made: Callable[..., Path]) -> Iterator[Served]:
    with served(made(), "Eva", "Bo") as server:
        yield server


@pytest.fixture
def eva(serving: Served, window: Callable[..., Window]) -> Window:
    opened = window()
    opened.open(serving.addresses["Eva"])
    return opened
