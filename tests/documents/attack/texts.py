"""Notes with names, a learner that is quick, and releases of the notes."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from voile.documents.replacements.marks import LabelMarks
from voile.documents.replacements.published_document import publish
from voile.documents.replacements.removal import TextRemoval
from voile.documents.text.corpus import Corpus
from voile.documents.text.document import Document, Span

NAMES = ["Ana", "Eva", "Leo", "Max", "Ida", "Tom", "Pia", "Jan", "Lea", "Ben", "Mia", "Kai"]
PLACES = (
    "Patient {} came on foot , and was well .",
    "We saw {} again , who felt better .",
    "The file says that {} has no fever today .",
)
REST = "The lungs are clear . No fever . Seen by the ward again in May ."


def notes(subjects=24, each=1, label="NAME", names=NAMES, places=PLACES):
    """Return notes of some subjects, `each` of them, with one name in every sentence."""
    return Corpus(
        note(f"{subject}-{number}", subject, names[subject % len(names)], places, number, label)
        for subject in range(subjects)
        for number in range(each)
    )


def note(id, subject, name, places, number, label):
    text, spans = "", []
    for place in places:
        start = len(text) + place.index("{")
        spans.append(Span(start, start + len(name), label))
        text += place.format(name) + f" {REST} "
    return Document(text, tuple(spans), id, f"s{subject}")


def released(corpus, removed, put=None):
    """Publish with some spans removed: `removed(document number, span number)` says which."""
    return Corpus(
        publish(
            document,
            [
                TextRemoval(span.start, span.end, span.label)
                for place, span in enumerate(document.spans)
                if removed(number, place)
            ],
            put or LabelMarks(),
        )
        for number, document in enumerate(corpus)
    )


@dataclass(frozen=True)
class Odds:
    """Naive Bayes without its intercept's care: each column weighs its log-odds."""

    name: str = "odds"

    def fit(self, examples, *, seed):
        seen = examples.matrix[np.flatnonzero(examples.counted)]
        true = examples.labels[examples.counted] > 0
        with_, without = (seen[np.flatnonzero(part)].sum(axis=0) + 0.1 for part in (true, ~true))
        weights = np.log(with_ / (true.sum() + 0.2)) - np.log(without / ((~true).sum() + 0.2))
        return Weighed(weights[:, None].astype(np.float32))


@dataclass(frozen=True)
class Weighed:
    weights: np.ndarray

    def margins(self, sight):
        return sight.scores(self.weights).astype(float) - 2.0
