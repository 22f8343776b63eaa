"""What a review asks of a work folder: the next lines, and at its end a kit of what was read."""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterator, Sequence
from dataclasses import replace
from pathlib import Path

import numpy as np

from voile.data.files.outputs import WORK_KIT
from voile.documents.reviewing.line import Line
from voile.documents.reviewing.order import Ranked, next_lines
from voile.documents.reviewing.refitting import ReviewState
from voile.documents.reviewing.words import occurrences
from voile.documents.start.marks import Reviewed
from voile.documents.text.document import Document, Span
from voile.documents.verbs.work import DEFAULT_COST, Work
from voile.release.kit import Kit
from voile.release.options import OPTIONS


def prepare(folder: Path) -> Callable[[ReviewState], Sequence[Line]]:
    """Open a work folder for a review, and return what learns from its answers.

    A new order takes two quick looks; when no lines are asked for, the kit is made anew.
    """
    work = Work.open(folder)

    def refit(reading: ReviewState) -> Sequence[Line]:
        reviewed = [*harmless_in(work.documents, reading.never), *reviewed_of(reading)]
        if not reading.tokens:
            refit_kit(work, folder, reviewed)
            return ()
        lines = next_lines(rank(work, reviewed), taken=reading.lines, size=reading.tokens)
        return [replace(line, batch=reading.batch) for line in lines]

    return refit


def rank(work: Work, reviewed: Sequence[Reviewed] = ()) -> Ranked:
    """Return what is known of every token of the notes, by what was proposed and read."""
    probability = work.probabilities(reviewed)[:, None]
    cost = np.array([DEFAULT_COST])
    return Ranked(work.documents, work.look.tokens, probability, cost, work.marks.proposed)


def refit_kit(work: Work, folder: Path, reviewed: Sequence[Reviewed]) -> None:
    """Make the kit of a work folder anew; it is the old one or the new one at any moment."""
    place = folder / WORK_KIT
    options = Kit.load(place, "documents").facts.get(OPTIONS, {})
    made = work.fit(reviewed).to_kit()
    replace(made, facts={**made.facts, OPTIONS: options}).save(place, force=True)


def harmless_in(documents: Sequence[Document], words: Collection[str]) -> Iterator[Reviewed]:
    """Yield where words stand of which reviewers said that they never identify anybody."""
    for number, document in enumerate(documents):
        for start, end in occurrences(document.text, words):
            yield Reviewed(number, start, end, ())


def reviewed_of(reading: ReviewState) -> list[Reviewed]:
    """Return what was read, in the documents' own characters."""
    found = []
    for line in reading.lines:
        answer = reading.answers.get(line.number)
        if answer is not None and line.document >= 0:
            spans = tuple(
                Span(line.start + one.start, line.start + one.end, one.label)
                for one in answer.spans
            )
            found.append(Reviewed(line.document, line.start, line.end, spans, answer.unsure))
    return found
