"""Open the user's own models for a fit, as named in the options."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

from voile.documents.adapters.model import ExternalModel


def open_models(given: Iterable[Any]) -> tuple[ExternalModel, ...]:
    """Open the models of NAME=FOLDER.

    Raises
    ------
    RequestError : a model cannot be opened.
    """
    return tuple(ExternalModel.of(name, folder) for one in given for name, folder in one.items())
