"""Check a written release again: its columns, its messages, and its certificate."""

from __future__ import annotations

import csv
from collections.abc import Iterator

import numpy as np

from voile.core.errors import TamperedError
from voile.data import Source
from voile.data.files.memory import AnyPath
from voile.release.manifest import Release
from voile.release.verify import Check, has_columns, recounted
from voile.signals.model.readings.forms import ReadingColumn, ReadingSettings
from voile.signals.verbs.certify import messages, no_finer
from voile.signals.verbs.release_columns import CLASSES, OUTSIDE

LEFT = "not measured again: it takes the map and the classes, which the kit and the holder have"


def verify(release: Release) -> Iterator[Check]:
    """Yield each check of a release, in words, and whether it holds.

    That it decodes was proved when it was written, and can be again by `decode` alone: it takes
    the map and the classes.
    """
    source, public = release.rows(), release.public
    yield (same := has_columns(source, public))
    if not same.holds:
        return
    places = public["places"]
    try:
        rows, blank, grains = _counted(source, _forms(release), places)
    except TamperedError:
        yield Check("every row holds a message for each reading, or none", False)
        return
    yield Check("every row holds a message for each reading, or none", True)
    if public["policy"]["strength"] > 0:
        least = "2^-44" if places is None else f"{places} decimal places"
        yield Check(f"no message is finer than {least}", grains)
    found = {"rows": rows, "blank": blank, "decoded": rows - blank}
    for name, file in (("subjects", CLASSES), ("outside", OUTSIDE)) if release.private else ():
        found[name] = _lines(release.folder / file)
    yield from recounted(release, found, left=LEFT)


def _lines(path: AnyPath) -> int:
    with path.open(newline="", encoding="utf-8") as file:
        return sum(1 for _ in csv.reader(file)) - 1


def _forms(release: Release) -> list[ReadingColumn]:
    return [
        ReadingColumn(column["column"], ReadingSettings(nominal=column["sent"] == "text"))
        for column in release.public["columns"]
        if "sent" in column
    ]


def _counted(
    source: Source, forms: list[ReadingColumn], places: int | None
) -> tuple[int, int, bool]:
    rows, without, grains = 0, 0, True
    for batch in source.batches([form.column for form in forms]):
        Z, blank = messages(batch, forms)
        rows, without = rows + len(batch), without + int(blank.sum())
        numeric = [j for j, form in enumerate(forms) if not form.settings.nominal]
        grains &= no_finer(Z[~blank][:, numeric].astype(np.float64), places)
    return rows, without, grains
