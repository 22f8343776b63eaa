"""Models of the user's own, as options name them: opened for a fit."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

from voile.documents.adapters.model import ExternalModel


def open_models(given: Iterable[Any]) -> tuple[ExternalModel, ...]:
    """Open the models of NAME=FOLDER; `RequestError` where one cannot be."""
    return tuple(ExternalModel.of(name, folder) for one in given for name, folder in one.items())
