"""Check a written release again: its columns, its messages, and its certificate."""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np

from voile.errors import TamperedError
from voile.io import Source, open_source
from voile.release import Release
from voile.signals.certify import messages, no_finer
from voile.signals.readings import Form, ReadingSettings


def verify(release: Release) -> Iterator[tuple[str, bool]]:
    """Yield each check of a release, in words, and whether it holds.

    That it decodes was proved when it was written, and can be again by `decode` alone: it takes
    the map and the classes.
    """
    source = open_source(release.path)
    named = [column["column"] for column in release.public["columns"]]
    same = list(source.columns) == named
    yield "the columns are those of the manifest", same
    if not same:
        return
    try:
        places = release.public.get("places")
        rows, blank, grains = _counted(source, _forms(release), places)
    except TamperedError:
        yield "every row holds a message for each reading, or none", False
        return
    yield "every row holds a message for each reading, or none", True
    if release.public["policy"]["strength"] > 0:
        least = "2^-44" if places is None else f"{places} decimal places"
        yield f"no message is finer than {least}", grains
    if release.private is not None:
        expected = release.private["figures"]
        yield "as many rows as were certified", rows == expected["rows"]
        yield "as many rows without a message as were certified", blank == expected["blank"]


def _forms(release: Release) -> list[Form]:
    """Return the forms of the messages: texts, or numbers."""
    return [
        Form(column["column"], ReadingSettings(nominal=column["sent"] == "text"))
        for column in release.public["columns"]
        if "sent" in column
    ]


def _counted(source: Source, forms: list[Form], places: int | None) -> tuple[int, int, bool]:
    rows, without, grains = 0, 0, True
    for batch in source.batches([form.column for form in forms]):
        Z, blank = messages(batch, forms)
        rows, without = rows + len(batch), without + int(blank.sum())
        numeric = [j for j, form in enumerate(forms) if not form.settings.nominal]
        grains &= no_finer(Z[~blank][:, numeric].astype(np.float64), places)
    return rows, without, grains
