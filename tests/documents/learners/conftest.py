"""A reader, so that its head is one of the learners."""

from __future__ import annotations

import pytest


@pytest.fixture(scope="module", autouse=True)
def _installed(reader_place):
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("VOILE_READER", str(reader_place))
        yield
