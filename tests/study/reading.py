"""Readers of the texts of a study's release, in the place of people on the page."""

from __future__ import annotations

from contextlib import nullcontext

from voile.core.progress import silent
from voile.documents.own_options import ReadingOptions

GOAL = {"at_most": 8.0, "recall": 1.0}


class Quiet:
    """Report nothing but what a person must read."""

    def __init__(self) -> None:
        self.insisted: list[str] = []

    def say(self, text: str) -> None: ...

    def insist(self, text: str) -> None:
        self.insisted.append(text)

    def progress(self):
        return nullcontext(silent)


def see_all(line):
    """Mark the whole of a line."""
    return [(0, len(line.text), "NAME")]


def see_seeded(line):
    """Mark what is seeded, and nothing that is left."""
    return see_all(line) if line.document < 0 else []


def see_nothing(line):
    return []


def accept(study, answers, *, part=None, reporter=None, again=False):
    """Read a study's release with a reader, or with a file of answers."""
    options = ReadingOptions(**GOAL, answers=answers, again=again)
    return study.accept(options, reporter or Quiet(), part=part)
