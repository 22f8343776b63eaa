"""The verb `voile documents reader install`: build the reader from the user's encoder."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from voile.core.errors import RequestError
from voile.documents.model.policies import UNLISTED
from voile.documents.own_options import ReaderOptions
from voile.documents.reader.install import install_reader
from voile.documents.reader.installed import reader_folder
from voile.documents.reader.sources import read_source
from voile.release.own_verbs import EndedVerb, VerbReporter


def reader(
    options: ReaderOptions, reporter: VerbReporter, *, action: str, source: Any
) -> EndedVerb:
    """Install the reader from a folder or a wheel. voile downloads nothing."""
    if action != "install":
        raise RequestError(f"there is no action {action}", instead="use install")
    found = read_source(Path(source), allow_unlisted=options.allow_unlisted)
    installed = install_reader(found, options.layer)
    place = reader_folder()
    reporter.say(f"{place}: {installed.name}, layer {installed.layer}, {installed.width} numbers")
    if not installed.is_listed:
        reporter.insist(UNLISTED)
    return EndedVerb({"reader": str(place), **installed.model_dump()})
