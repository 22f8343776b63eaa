"""Small learners whose every answer is known, and notes that they read."""

from __future__ import annotations

from dataclasses import dataclass, field

import numpy as np

from voile.documents.fitting.loop.training import TrainingText
from voile.documents.learners.svm import SVM
from voile.documents.text.corpus import Corpus
from voile.documents.text.document import Document, Span

NAMES = ["Ana", "Eva", "Leo", "Max", "Ida", "Tom", "Pia", "Jan", "Lea", "Ben", "Mia", "Kai"]


@dataclass(frozen=True)
class Says:
    """Say of some forms which type they are, whatever is learnt."""

    types: tuple[tuple[str, int], ...]
    name: str = "says"
    cost_sensitive: bool = False

    def fit(self, examples, *, seed=0):
        return Told(dict(self.types), examples.types)


@dataclass(frozen=True)
class Remembers:
    """Take for an identifier what was one in the text learnt from: right there, blind elsewhere."""

    name: str = "remembers"
    cost_sensitive: bool = False

    def fit(self, examples, *, seed=0):
        words = zip(examples.words, examples.labels.tolist(), examples.counted, strict=True)
        return Told({w: label for w, label, counted in words if counted and label}, examples.types)


@dataclass(frozen=True, eq=False)
class Told:
    """Margins of 1 for the type of a form that is known, -1 for all else."""

    known: dict[str, int]
    types: int

    def margins(self, sight):
        found = np.full((len(sight.words), self.types), -1.0)
        for place, word in enumerate(sight.words):
            if word in self.known:
                found[place, self.known[word] - 1] = 1.0
        return found


@dataclass(frozen=True)
class Counted(SVM):
    """A support vector machine that notes each fit, and may be stopped at one."""

    fits: list = field(default_factory=list, repr=False, compare=False)
    stop_at: int = field(default=0, repr=False, compare=False)
    compiled: bool = field(default=False, repr=False, compare=False)

    def fit(self, examples, *, seed=0):
        if len(self.fits) + 1 == self.stop_at:
            if self.compiled:
                raise SystemError from KeyboardInterrupt()
            raise KeyboardInterrupt
        self.fits.append(len(examples.labels))
        return super().fit(examples, seed=seed)


def marked_up(text):
    """Return a text, its identifiers, written ``Ana/NAME``, and what is unknown, ``May/?``."""
    plain, spans, unknown = "", [], []
    for word in text.split(" "):
        form, _, label = word.partition("/")
        place = len(plain), len(plain) + len(form)
        if label == "?":
            unknown.append(place)
        elif label:
            spans.append(Span(*place, label))
        plain += form + " "
    return plain[:-1], tuple(spans), tuple(unknown)


def corpus_of(*texts, subjects=None):
    """Return documents of marked-up texts."""
    documents = []
    for number, text in enumerate(texts):
        plain, spans, unknown = marked_up(text)
        whose = None if subjects is None else subjects[number]
        documents.append(Document(plain, spans, str(number), whose, unknown=unknown))
    return Corpus(documents)


def notes(each=4, start=0):
    """Return notes of 12 subjects with names, ages, and words that look like both."""
    kinds = (
        "Patient {}/NAME came on foot with May and was well .",
        "We saw {}/NAME again , aged {}/AGE , at 10 .",
        "The file of Dr. {}/NAME says {}/AGE and no fever in May .",
    )
    return corpus_of(
        *(
            kinds[(who + number) % 3].format(name, 20 + (7 * who + number) % 60)
            for number in range(start, start + each)
            for who, name in enumerate(NAMES)
        ),
        subjects=NAMES * each,
    )


def training_of(*texts, subjects=None, **given):
    """Return the training corpus of marked-up texts."""
    return TrainingText.of(corpus_of(*texts, subjects=subjects), **given)
