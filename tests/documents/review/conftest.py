"""A review of made-up notes."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import pytest
from tests.documents.review.made import letter, summers

from voile.documents.review.line import Line
from voile.documents.review.store import Store


@pytest.fixture
def made(tmp_path: Path) -> Callable[..., Path]:
    """Write a store of these lines, those of a letter and three more unless others are given."""

    def make(*lines: Line, **meta: str) -> Path:
        path = tmp_path / "review.sqlite"
        with Store.create(path, meta={"fingerprint": "f", **meta}) as store:
            store.add(lines or [letter(), *summers()], batch=1)
        return path

    return make
