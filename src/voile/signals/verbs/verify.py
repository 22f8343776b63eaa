"""Check a written release again: its columns, its messages and its findings."""

from __future__ import annotations

import csv
from collections.abc import Iterator, Mapping
from typing import Any

import pyarrow as pa

from voile.core.errors import TamperedError
from voile.data.files.memory import AnyPath
from voile.gate.finding import figures_of
from voile.gate.signals import MessageColumns, measure_signals
from voile.release.manifest import StoredRelease
from voile.release.verify import ReleaseCheck, check_recount, has_columns
from voile.signals.verbs.release_columns import CLASSES, OUTSIDE, PSEUDONYM

LEFT = "not measured again: it takes the map and the classes, which the kit and the holder have"


def verify(release: StoredRelease) -> Iterator[ReleaseCheck]:
    """Yield each check of a release, as a sentence and its result.

    Decoding was checked when the release was written. Only `decode` can check it again, since that
    needs the map and the classes.
    """
    source, public = release.rows(), release.public
    yield (same := has_columns(source, public))
    if not same.holds:
        return
    columns = _columns(public)
    try:
        found = figures_of(measure_signals(source, columns, _classes(release)))
    except TamperedError:
        yield ReleaseCheck("every row has a message for each reading, or none", False)
        return
    yield ReleaseCheck("every row has a message for each reading, or none", True)
    if public["policy"]["strength"] > 0:
        least = "2^-44" if columns.places is None else f"{columns.places} decimal places"
        yield ReleaseCheck(f"no message is finer than {least}", found["finer_messages"] == 0)
    for name, file in (("subjects", CLASSES), ("outside", OUTSIDE)) if release.private else ():
        found[name] = _lines(release.folder / file)
    yield from check_recount(release, found, left=LEFT)


def _columns(public: Mapping[str, Any]) -> MessageColumns:
    sent = {one["column"]: one["sent"] for one in public["columns"] if "sent" in one}
    return MessageColumns(
        numbers=[name for name, form in sent.items() if form == "number"],
        names=[name for name, form in sent.items() if form == "text"],
        places=public["places"],
        person=PSEUDONYM,
    )


def _classes(release: StoredRelease) -> pa.Table | None:
    """Read each pseudonym's class from the second column, or return None without the folder."""
    if release.private is None:
        return None
    with (release.folder / CLASSES).open(newline="", encoding="utf-8") as file:
        lines = [line[:2] for line in csv.reader(file)][1:]
    person, own = zip(*lines, strict=True) if lines else ((), ())
    return pa.table({"person": pa.array(person, pa.string()), "class": pa.array(own, pa.string())})


def _lines(path: AnyPath) -> int:
    with path.open(newline="", encoding="utf-8") as file:
        return sum(1 for _ in csv.reader(file)) - 1
