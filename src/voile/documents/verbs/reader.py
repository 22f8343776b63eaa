"""`voile documents reader install`: build the reader from an encoder that the user has."""

from __future__ import annotations

from collections.abc import Iterable
from pathlib import Path
from typing import Any

from voile.core.errors import RequestError
from voile.documents.learners.learner import TokenLearner
from voile.documents.reader.install import install_reader
from voile.documents.reader.installed import find_reader, reader_folder
from voile.documents.reader.sources import read_source
from voile.documents.verbs.options import ReaderOptions
from voile.documents.verbs.policies import UNLISTED
from voile.release.own_verbs import EndedVerb, VerbReporter


def reader(
    options: ReaderOptions, reporter: VerbReporter, *, action: str, source: Any
) -> EndedVerb:
    """Install the reader of a folder or a wheel; voile downloads nothing."""
    if action != "install":
        raise RequestError(f"there is no action {action}", instead="use install")
    found = read_source(Path(source), allow_unlisted=options.allow_unlisted)
    installed = install_reader(found, options.layer)
    place = reader_folder()
    reporter.say(f"{place}: {installed.name}, layer {installed.layer}, {installed.width} numbers")
    if not installed.is_listed:
        reporter.insist(UNLISTED)
    return EndedVerb({"reader": str(place), **installed.model_dump()})


def describe_reader(learners: Iterable[TokenLearner]) -> dict[str, Any]:
    """Return what a kit says of the reader that its learners used; of none it says nothing."""
    found = find_reader() if any(one.name == "reader" for one in learners) else None
    if found is None:
        return {}
    return {"reader": found.model_dump(include={"name", "sha256", "layer", "is_listed"})}
