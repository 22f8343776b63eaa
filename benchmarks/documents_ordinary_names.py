"""Names that are ordinary words, guessed behind marks by comparing patients."""

from __future__ import annotations

import random
import tempfile
import warnings
from collections.abc import Sequence
from dataclasses import dataclass, replace
from pathlib import Path

import pyarrow as pa
import pyarrow.parquet as pq
from benchmarks.data import folder
from benchmarks.tables import save

import voile
from voile.core.evidence import Evidence
from voile.data import open_source
from voile.documents import Corpus, Document, Span
from voile.documents.attack.ordinary_names import guess_ordinary_names
from voile.documents.model.start.known.known_values import KnownValues
from voile.documents.replacements.marks import LabelMarks
from voile.documents.replacements.published_document import publish
from voile.documents.replacements.removal import TextRemoval

WORDS = (
    *("Summer", "May", "Hope", "Mark", "Will", "Grant", "Rich", "Frank", "Art", "Bill"),
    *("Faith", "Grace", "Joy", "Rose", "Dawn", "June", "April", "Guy", "Drew", "Rob"),
)
GIVEN = ("Ana", "Boris", "Clara", "Dmitri", "Elena", "Farid", "Greta", "Hugo", "Ines", "Jonas")
FAMILY = (
    *("Abbate", "Brandt", "Castellan", "Drummond", "Eriksen", "Farrow", "Gallo", "Hartwell"),
    *("Young", "Brown", "Rice", "Page", "Field", "Stone", "Marsh", "Bell", "Price", "Day"),
)
PEOPLE, NAMED, OTHERS = 150, 4, 4
"""How many people there are, and texts of each with names, and without."""
LEARNER, SEED = "svm", 1


@dataclass(frozen=True)
class World:
    """Texts about people who are called as they are in the table beside them."""

    notes: Sequence[Document]
    people: Sequence[dict[str, str]]

    @classmethod
    def drawn(cls, rng: random.Random) -> World:
        found = list(Corpus.read(folder("presidio-synthetic-pii") / "synth_dataset_v2.jsonl.gz"))
        rng.shuffle(found)
        with_names = [one for one in found if _persons(one)]
        without = [one for one in found if not _persons(one)]
        notes, people = [], []
        for number in range(PEOPLE):
            given, family = rng.choice((WORDS, GIVEN)[number % 2]), rng.choice(FAMILY)
            people.append({"pid": f"p{number}", "name": f"{given} {family}"})
            own = [with_names[(number * NAMED + n) % len(with_names)] for n in range(NAMED)]
            rest = [without[(number * OTHERS + n) % len(without)] for n in range(OTHERS)]
            notes += [
                _called(replace(one, subject=f"p{number}"), given, family) for one in own + rest
            ]
        return cls([replace(one, id=str(n)) for n, one in enumerate(notes)], people)

    def known(self) -> KnownValues:
        return KnownValues.read(open_source(pa.Table.from_pylist(list(self.people))), "pid")


def _persons(document: Document) -> list[Span]:
    return [span for span in document.spans if span.label == "PERSON"]


def _called(document: Document, given: str, family: str) -> Document:
    """Return a text in which everybody is one person, by given name where one word stood."""
    text, spans, done = "", [], 0
    for span in _persons(document):
        alone = " " not in document.text[span.start : span.end]
        text += document.text[done : span.start]
        name = given if alone else f"{given} {family}"
        spans.append(Span(len(text), len(text) + len(name), "NAME"))
        text, done = text + name, span.end
    return replace(document, text=text + document.text[done:], spans=tuple(spans))


def by_known_values(world: World, *, sure: bool) -> Evidence:
    """Attack a release of known values alone: those that are nothing else, or all."""
    known = world.known()
    published = Corpus(
        publish(document, [one for one in found if known.sure(one) or not sure], LabelMarks())
        for document, found in zip(world.notes, known.propose(world.notes), strict=True)
    )
    return guess_ordinary_names(published, Corpus(world.notes), random_state=SEED)


def by_annotation(world: World) -> Evidence:
    """Attack a release in which every name and nothing else is replaced."""
    published = Corpus(
        publish(one, [TextRemoval(x.start, x.end, x.label) for x in one.spans], LabelMarks())
        for one in world.notes
    )
    return guess_ordinary_names(published, Corpus(world.notes), random_state=SEED)


def by_voile(world: World) -> Evidence:
    """Attack what `init` and `apply` release."""
    rows = pa.table(
        {"pid": [one.subject for one in world.notes], "note": [one.text for one in world.notes]}
    )
    with tempfile.TemporaryDirectory() as place, warnings.catch_warnings():
        warnings.simplefilter("ignore")
        notes, people = Path(place) / "notes.parquet", Path(place) / "people.parquet"
        pq.write_table(rows, notes)
        pq.write_table(pa.Table.from_pylist(list(world.people)), people)
        voile.documents.init(
            notes, Path(place) / "work", known=people, by="pid", seed=SEED, learners=[LEARNER]
        )
        release = voile.open_kit(Path(place) / "work").apply(None, notes)
        found = release.attack(notes, known=people, by="pid", seed=SEED)
    return next(one for one in found if one.heading == "inference")


def row(what: str, evidence: Evidence) -> tuple[str, ...]:
    guessed, left = evidence.findings
    assert guessed.baseline is not None
    low, high = guessed.rate.interval()
    return (
        what,
        f"{guessed.rate.trials}",
        f"{left.rate.value:.2f}",
        f"{guessed.rate.value:.2f}",
        f"{low:.2f} to {high:.2f}",
        f"{guessed.baseline.value:.2f}",
    )


def main() -> None:
    world = World.drawn(random.Random(SEED))
    rows = [
        row("every name, and nothing else", by_annotation(world)),
        row("known values that are nothing else", by_known_values(world, sure=True)),
        row("known values, whatever else they are", by_known_values(world, sure=False)),
        row("`init` and `apply`", by_voile(world)),
    ]
    save(Path(__file__).stem, CAPTION, COLUMNS, rows, NOTES)


COLUMNS = ("what is replaced", "names", "also left", "guessed", "95% interval", "by chance")
CAPTION = f"""\
{PEOPLE} people, each with {NAMED + OTHERS} texts of presidio-synthetic, in which everybody has
the person's name. The given names of half and the surnames of half are ordinary words. *Names*:
words of replaced names that are ordinary, one for each person. *Also left*: the share that also
remains in that person's texts, for example as a word. *Guessed*: the share that is among as
many guesses."""
NOTES = f"""\
The attacker learns the words around marks, and compares people. `init` has the table of names
and learns by the {LEARNER.upper()}. *By chance* is the expectation of the same guesses with the
people permuted."""


if __name__ == "__main__":
    main()
