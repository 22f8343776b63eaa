"""A review of made-up notes."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import pytest
from tests.documents.reviewing.made import letter, summers

from voile.documents.reviewing.line import Line
from voile.documents.reviewing.store import Store


@pytest.fixture
def made(tmp_path: Path) -> Callable[..., Path]:
    """Write a store of these lines, those of a letter and three more unless others are given."""

    def make(*lines: Line, **meta: str) -> Path:
        path = tmp_path / "review.sqlite"
        with Store.create(path, meta={"fingerprint": "f", **meta}) as store:
            store.add(lines or [letter(), *summers()], batch=1)
        return path

    return make
