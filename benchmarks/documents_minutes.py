"""From unmarked notes and a patients' table to an accepted release: how many minutes of reading."""

from __future__ import annotations

import csv
import shutil
import warnings
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from tempfile import TemporaryDirectory

import numpy as np
from benchmarks.documents_data import drawn
from benchmarks.documents_start_known import PATIENT, TYPES, first, notes
from benchmarks.tables import save

import voile
from voile.documents import Corpus, Document, Span
from voile.documents.reviewing.line import Line
from voile.documents.verbs.policies import UncheckedWarning

NOTES, GOALS, RECALL = 100, (2.0, 1.0), 0.97
IDENTIFY = frozenset(TYPES) - {"FAMILIARES_SUJETO_ASISTENCIA", "PAIS"}
"""Types that a reader marks: a relative is nearly always a word such as *mother*, and a country
identifies nobody."""
LEARNING = {"learners": ["svm"], "cross_fit": 3, "max_passes": 1, "seed": 1, "miss_cost": 10}
WORDS_A_MINUTE = 238
"""Silent reading of English non-fiction, the mean of 190 studies (Brysbaert 2019)."""
SECONDS_A_SCREEN = 1.0
Spans = Sequence[tuple[int, int, str]]


@dataclass
class Reader:
    """Somebody at the page, who finds most of what identifies.

    Parameters
    ----------
    known : what identifies, by document. screens, asked, shown : how many; words that could be part
        of an identifier, and all words on the screens.
    """

    known: Sequence[Sequence[Span]]
    rng: np.random.Generator
    screens: int = field(default=0, init=False)
    asked: int = field(default=0, init=False)
    shown: int = field(default=0, init=False)

    def __call__(self, line: Line) -> Spans:
        """Return what is marked of a line; all of what is planted."""
        self.screens += 1
        self.asked += len(line.text.split())
        self.shown += len(f"{line.before} {line.text} {line.after}".split())
        if line.document < 0:
            spans: Spans = [(0, len(line.text), "NAME")]
        else:
            spans = [
                (max(one.start, line.start) - line.start, min(one.end, line.end) - line.start,
                 one.label)
                for one in self.known[line.document]
                if one.start < line.end and line.start < one.end
            ]  # fmt: skip
        return [one for one in spans if self.rng.random() < RECALL]


def write(path: Path, columns: Mapping[str, Iterable[str | None]]) -> Path:
    with path.open("w", newline="", encoding="utf-8") as file:
        table = csv.writer(file)
        table.writerow(columns)
        table.writerows(zip(*columns.values(), strict=True))
    return path


def hospital(folder: Path, documents: Sequence[Document]) -> tuple[Path, Path]:
    """Write the notes and the patients' table."""
    ids = [one.id for one in documents]
    unmarked = write(
        folder / "notes.csv", {"patient_id": ids, "note": [one.text for one in documents]}
    )
    patients = write(
        folder / "patients.csv",
        {
            "patient_id": ids,
            "nombre": [first(one, PATIENT) for one in documents],
            "apellidos": [first(one, PATIENT, place=1) for one in documents],
            "nacimiento": [first(one, "FECHAS") for one in documents],
            "nhc": [first(one, "ID_SUJETO_ASISTENCIA") for one in documents],
            "domicilio": [first(one, "CALLE") for one in documents],
            "localidad": [first(one, "TERRITORIO") for one in documents],
        },
    )
    return unmarked, patients


def identifying(documents: Sequence[Document]) -> list[list[Span]]:
    return [[span for span in one.spans if span.label in IDENTIFY] for one in documents]


def released(folder: Path, unmarked: Path, patients: Path) -> tuple[Path, Path]:
    """Propose, learn and apply, as README does; return the work folder and the release."""
    given = {"known": patients, "by": "patient_id", **LEARNING}
    voile.documents.init(unmarked, folder / "work", **given)
    out = folder / "release.csv"
    voile.open_kit(folder / "work").apply(None, str(unmarked)).save(out)
    return folder / "work", out


def accepted(
    work: Path, release: Path, unmarked: Path, goal: float, reader: Reader
) -> Mapping[str, object]:
    """Read until a verdict, with a second try where the first proves nothing."""
    places = [str(work), str(release), str(unmarked)]
    read: Callable[..., Mapping[str, object]] = voile.documents.accept
    found = read(*places, at_most=goal, recall=RECALL, answers=reader)
    if not found["decided"]:
        found = read(*places, at_most=goal, recall=RECALL, answers=reader, again=True)
    return found


def rows(documents: Sequence[Document]) -> Iterator[tuple[str, ...]]:
    """Yield a row for each goal."""
    with TemporaryDirectory() as place:
        folder = Path(place)
        tables = hospital(folder, documents)
        work, release = released(folder, *tables)
        for goal in GOALS:
            tried = folder / f"at-most-{goal:g}"
            shutil.copytree(folder, tried, ignore=shutil.ignore_patterns("at-most-*", "work"))
            reader = Reader(identifying(documents), np.random.default_rng(0))
            ended = accepted(work, tried / release.name, tables[0], goal, reader)
            yield row(goal, reader, ended)


def row(goal: float, reader: Reader, found: Mapping[str, object]) -> tuple[str, ...]:
    by_words = reader.asked / WORDS_A_MINUTE
    by_screens = reader.screens * SECONDS_A_SCREEN / 60
    return (
        f"{goal:g} per 1,000",
        "yes" if found["decided"] else "no",
        f"{found['tokens']:,}",
        f"{reader.screens:,}",
        f"{reader.asked:,}",
        f"{reader.shown:,}",
        f"{by_words:.0f}",
        f"{by_screens:.0f}",
    )


def main() -> None:
    warnings.simplefilter("ignore", UncheckedWarning)
    found = []
    for one in rows(list(drawn(Corpus(notes("train")), NOTES))):
        print(*one, sep=" | ", flush=True)
        found.append(one)
    save(
        Path(__file__).stem,
        CAPTION,
        (
            "goal", "accepted", "tokens left", "screens", "words asked of", "words shown",
            "minutes by words", "minutes by screens",
        ),
        found,
        READING,
    )  # fmt: skip


CAPTION = f"""\
{NOTES} notes of MEDDOCAN that nobody marked, with the columns of their patients, and of no staff;
proposed, learnt from by the SVM in one pass, released and read until it is accepted, with 95%
confidence, that so few identifiers are left. Readers find {RECALL:.0%} of what annotators marked
as names, dates, addresses, places, organisations, numbers, e-mail addresses and phones."""
READING = f"""\
A screen shows a word, or neighbours that could be one name, in its line. *Minutes by words*: the
words asked of, at {WORDS_A_MINUTE} a minute, the mean for silent reading (Brysbaert 2019); *by
screens*: {SECONDS_A_SCREEN:g} second each, which is a key each and a glance at the line. Nobody
timed a person at this page."""


if __name__ == "__main__":
    main()
