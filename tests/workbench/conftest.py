"""A project that a person took from the demo county's table to a signature, in the page alone."""

from __future__ import annotations

import shutil
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest
from playwright.sync_api import Browser, BrowserContext
from tests.workbench.county import CHANGED, CONTEXT, make_key, make_table
from tests.workbench.served import Workbench, opened
from tests.workbench.window import Window


@pytest.fixture(scope="session")
def finished(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Return the folder of a finished project; tests that change it copy it."""
    folder = tmp_path_factory.mktemp("county") / "county"
    table, key = make_table(folder), make_key(folder)
    with opened(table) as page:
        page.enter()
        page.act("data.inspect", **page.form("data"))
        page.act("roles.save", roles=CHANGED)
        page.act("adversary.fit", **page.form("adversary") | CONTEXT)
        page.act("frontier.choose", policy=385)
        page.act("release.apply")
        page.act("attack.run")
        page.act("decide.determine")
        signer = {"as": "officer@county.org", "key": str(key)}
        state = page.act("decide.sign", **page.form("decide") | signer)
        assert [one["state"] for one in state["steps"]] == ["done"] * 7 + ["open"]
    return folder / "patients-project"


@pytest.fixture
def project(finished: Path, tmp_path: Path) -> Path:
    """Return a copy of the finished project, with the county next to it."""
    shutil.copytree(finished.parent, tmp_path / "county")
    return tmp_path / "county" / finished.name


@pytest.fixture(scope="module")
def served(finished: Path) -> Iterator[Workbench]:
    """Serve the finished project to tests that only look at it."""
    with opened(finished) as page:
        page.enter()
        yield page


@pytest.fixture
def window(chromium: Browser) -> Iterator[Callable[..., Window]]:
    contexts: list[BrowserContext] = []

    def make(**options: Any) -> Window:
        contexts.append(chromium.new_context(**options))
        return Window(contexts[-1])

    yield make
    for context in contexts:
        context.close()
