"""Serve a review of a work folder: the next lines, and at its end a kit from the answers."""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterator, Sequence
from dataclasses import replace
from pathlib import Path

import numpy as np

from voile.data.files.outputs import WORK_KIT
from voile.documents.fitting.unmarked.marks import ReviewedSpan
from voile.documents.fitting.work import DEFAULT_COST, UnmarkedWork
from voile.documents.reviewing.line import ReviewLine
from voile.documents.reviewing.order import RankedTokens, next_lines
from voile.documents.reviewing.refitting import ReviewState
from voile.documents.reviewing.words import occurrences
from voile.documents.text.document import Document, Span
from voile.release.kit import StoredKit
from voile.release.options import OPTIONS


def prepare(folder: Path) -> Callable[[ReviewState], Sequence[ReviewLine]]:
    """Open a work folder for a review, and return the function that learns from its answers.

    A new order costs two quick looks. If no lines are requested, the kit is refitted.
    """
    work = UnmarkedWork.open(folder)

    def refit(reading: ReviewState) -> Sequence[ReviewLine]:
        reviewed = [*harmless_in(work.documents, reading.never), *reviewed_of(reading)]
        if not reading.tokens:
            refit_kit(work, folder, reviewed)
            return ()
        lines = next_lines(rank(work, reviewed), taken=reading.lines, size=reading.tokens)
        return [replace(line, batch=reading.batch) for line in lines]

    return refit


def rank(work: UnmarkedWork, reviewed: Sequence[ReviewedSpan] = ()) -> RankedTokens:
    """Return the known facts about every token of the notes, by proposals and answers."""
    probability = work.probabilities(reviewed)[:, None]
    cost = np.array([DEFAULT_COST])
    return RankedTokens(
        work.documents, work.look.tokens, probability, cost, work.marks.proposed_removals
    )


def refit_kit(work: UnmarkedWork, folder: Path, reviewed: Sequence[ReviewedSpan]) -> None:
    """Refit the kit of a work folder. At any moment the folder contains the old or the new kit."""
    place = folder / WORK_KIT
    options = StoredKit.load(place, "documents").facts.get(OPTIONS, {})
    made = work.fit(reviewed).to_kit()
    replace(made, facts={**made.facts, OPTIONS: options}).save(place, force=True)


def harmless_in(documents: Sequence[Document], words: Collection[str]) -> Iterator[ReviewedSpan]:
    """Yield the occurrences of words that reviewers marked as never identifying."""
    for number, document in enumerate(documents):
        for start, end in occurrences(document.text, words):
            yield ReviewedSpan(number, start, end, ())


def reviewed_of(reading: ReviewState) -> list[ReviewedSpan]:
    """Return the answers of reviewers, with offsets in the documents."""
    found = []
    for line in reading.lines:
        answer = reading.answers.get(line.number)
        if answer is not None and line.document >= 0:
            spans = tuple(
                Span(line.start + one.start, line.start + one.end, one.label)
                for one in answer.spans
            )
            found.append(ReviewedSpan(line.document, line.start, line.end, spans, answer.unsure))
    return found
