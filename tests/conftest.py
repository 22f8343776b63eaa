"""What every test stands on."""

from __future__ import annotations

import gc
import os
import random
import signal
from collections.abc import Iterator
from functools import cache
from pathlib import Path
from types import SimpleNamespace
from typing import TYPE_CHECKING, Any

import pytest
from hypothesis import is_hypothesis_test, settings

import voile.keys.random

if TYPE_CHECKING:
    from playwright.sync_api import Browser

HERE = Path(__file__).parent
WHOLE = (
    "cli",
    "contracts",
    "data/postgres",
    "data/spark",
    "data/stores",
    "data/writing/test_duckdb_release.py",
    "determination",
    "docs",
    "documents/acceptance/test_reading.py",
    "documents/fitting/test_fit.py",
    "documents/fitting/test_init.py",
    "documents/fitting/test_init_language.py",
    "documents/fitting/test_refit.py",
    "documents/model/test_content.py",
    "documents/model/test_own_models.py",
    "documents/reviewing/test_command.py",
    "documents/reviewing/test_page.py",
    "documents/reviewing/test_page_safety.py",
    "documents/reviewing/test_refitting.py",
    "documents/reviewing/test_server.py",
    "documents/verbs",
    "hostile",
    "itemsets/verbs",
    "real",
    "release/test_in_store.py",
    "release/test_on_cluster.py",
    "release/test_on_spark.py",
    "release/test_spread_work.py",
    "signals/channel",
    "signals/fitting/test_fit.py",
    "signals/fitting/sequences/test_courses.py",
    "signals/fitting/sequences/test_parts.py",
    "signals/verbs",
    "study",
    "tables/attack/test_minimality.py",
    "tables/verbs",
    "workbench",
)
"""Where tests run whole commands, servers or wings, rather than a part; but for these:"""
PARTS = (
    "cli/test_destination.py",
    "cli/test_json_errors.py",
    "cli/test_screen.py",
    "cli/test_wing_options.py",
    "cli/verify",
    "signals/channel/test_ends.py",
    "signals/channel/test_envelope.py",
    "study/risk/test_joint.py",
    "tables/verbs/apply/test_policies.py",
    "tables/verbs/test_search.py",
    "workbench/test_history.py",
)
FEW, MOST = 6, 50  # examples of a property, in `make test` and in `.ci/run`

os.environ["VOILE_READER"] = os.devnull  # the default learner is not this machine's
gc.disable()  # until all tests are collected, which makes no garbage

# A runner in the background starts its children with Ctrl-C ignored; tests that press it hang.
signal.signal(signal.SIGINT, signal.default_int_handler)

# The same cases in every run, so that a failure is of the change that is tested; to look for new
# ones, as many as a test asks for, HYPOTHESIS_PROFILE=explore.
settings.register_profile("fixed", derandomize=True, deadline=None)
settings.register_profile("explore", deadline=None)
PROFILE = os.environ.get("HYPOTHESIS_PROFILE", "fixed")
settings.load_profile(PROFILE)

# So are the draws that protect people: this takes the place of the system's entropy here,
# begun anew at each test and fixture.
DRAWS = random.Random()
if PROFILE == "fixed":
    voile.keys.random.secrets = SimpleNamespace(  # type: ignore[assignment]
        token_bytes=DRAWS.randbytes, randbits=DRAWS.getrandbits
    )


@pytest.hookimpl(tryfirst=True)
def pytest_fixture_setup(fixturedef: pytest.FixtureDef[Any], request: Any) -> None:
    DRAWS.seed(f"{fixturedef.baseid} {fixturedef.argname} {getattr(request, 'param_index', 0)}")


@pytest.fixture(scope="session")
def chromium() -> Iterator[Browser]:
    from tests.browser import launched

    with launched() as browser:
        yield browser


@pytest.fixture(scope="session")
def session() -> Iterator[Any]:
    """A session of Spark in this process."""
    from tests.spark import started_spark

    with started_spark() as session:
        yield session


@pytest.fixture(scope="module", params=["classic", "connect"])
def any_session(request: pytest.FixtureRequest, session: Any) -> Iterator[Any]:
    """The session in this process, and one that speaks with it as with a server."""
    from tests.spark import connected

    if request.param == "classic":
        yield session
    else:
        with connected(session) as remote:
            yield remote


@pytest.hookimpl(tryfirst=True)
def pytest_runtest_call(item: pytest.Item) -> None:
    DRAWS.seed(item.nodeid)


def pytest_ignore_collect(collection_path: Path, config: pytest.Config) -> bool | None:
    """Import no file whose tests `make test` leaves to `.ci/run` all."""
    leaves = _leaves_whole(config) and collection_path.is_file() and _is_whole(collection_path)
    return leaves or None


def pytest_collection_modifyitems(config: pytest.Config, items: list[pytest.Item]) -> None:
    """Mark what `make test` leaves to `.ci/run`; of a property it tries a few examples only.

    What runs whole commands comes first: a long file at the end would keep one worker alone.
    """
    most = FEW if _leaves_whole(config) else MOST
    for item in items:
        if _is_whole(item.path):
            item.add_marker("whole")
        if PROFILE == "fixed" and is_hypothesis_test(getattr(item, "obj", None)):
            asked = item.obj._hypothesis_internal_use_settings
            fewer = settings(asked, max_examples=min(asked.max_examples, most))
            item.obj._hypothesis_internal_use_settings = fewer
    items.sort(key=lambda item: not _is_whole(item.path))


def pytest_collection_finish() -> None:
    gc.freeze()  # what was collected stays to the end: the collector need not walk it again
    gc.enable()


def _leaves_whole(config: pytest.Config) -> bool:
    return "not whole" in config.option.markexpr


@cache
def _is_whole(path: Path) -> bool:
    return _is_below(path, WHOLE) and not _is_below(path, PARTS)


def _is_below(path: Path, places: tuple[str, ...]) -> bool:
    return any(path.is_relative_to(HERE / place) for place in places)
