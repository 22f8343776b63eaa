"""From unmarked notes and a patients' table to an accepted release: how many minutes of reading."""

from __future__ import annotations

import csv
import shutil
import warnings
from collections.abc import Iterable, Iterator, Mapping, Sequence
from copy import copy
from dataclasses import dataclass, field, replace
from itertools import groupby
from operator import itemgetter
from pathlib import Path
from tempfile import TemporaryDirectory

import numpy as np
import pyarrow.parquet as pq
from benchmarks.documents_data import drawn
from benchmarks.documents_start_known import PATIENT, TYPES, first, notes, staff_of
from benchmarks.tables import save

import voile
from voile.core.errors import RequestError
from voile.documents import Corpus, Document, Span
from voile.documents.fitting.refit import rank, refit_kit
from voile.documents.fitting.unmarked.marked import reviewed_tokens
from voile.documents.fitting.unmarked.marks import ReviewedSpan
from voile.documents.fitting.work import UnmarkedWork
from voile.documents.model.content import DocumentsContent
from voile.documents.model.policies import UncheckedWarning
from voile.documents.model.start.rules.rule import NAME
from voile.documents.reviewing.batches import FIRST
from voile.documents.reviewing.desk import SHEET
from voile.documents.reviewing.line import BLIND, ReviewLine
from voile.documents.reviewing.order import next_lines
from voile.documents.words.token_classes import are_signs, token_labels
from voile.documents.words.tokens import TextTokens, tokenise

RECALL = 0.97


@dataclass(frozen=True)
class Way:
    """From notes to a release: what is given, and what is done before."""

    called: str
    staff: bool = False  # whether its names, e-mail addresses and hospitals are given
    cost: float = 10.0  # the policy's L/C
    read: int = 0  # tokens reviewed before


WAYS = (
    Way("patients' columns"),
    Way("patients' columns, L/C 50", cost=50.0),
    Way("and the staff's, L/C 50", staff=True, cost=50.0),
    Way("and a review, L/C 50", staff=True, cost=50.0, read=4_000),
)
CAREFUL = Way("patients' columns, L/C 300", cost=300.0)
CASES = ((300, (WAYS[1], CAREFUL), (2.0,), 11), (100, (*WAYS, CAREFUL), (2.0, 1.0), 3))
"""How many notes, by which ways, to which goals, and how often each release is read."""
IDENTIFY = frozenset(TYPES) - {"FAMILIARES_SUJETO_ASISTENCIA", "PAIS"}
"""Types that a reader marks: a relative is nearly always a word such as *mother*, and a country
identifies nobody."""
LEARNING = {
    "learners": ["svm"], "cross_fit": 3, "max_passes": 1, "seed": 1, "miss_cost": [10, 50, 300]
}  # fmt: skip
WORDS_A_MINUTE = 238
"""Silent reading of English non-fiction, the mean of 190 studies (Brysbaert 2019)."""
KEY, SHEET_SEEN = 0.28, 1.35
"""Seconds to press a key, and to make up one's mind at a sheet (Card, Moran, Newell 1980)."""
Spans = Sequence[tuple[int, int, str]]


@dataclass
class Reader:
    """Somebody at the page, who finds most of what identifies.

    A line's document is the number of its row: the release keeps the source's order.

    Parameters
    ----------
    known : what identifies, by document. asked, shown : words that could be part of an identifier,
        and all words of their lines. marks : marked in each line, in the order of reading.
    """

    known: Sequence[Sequence[Span]]
    rng: np.random.Generator
    marks: list[tuple[tuple[str, int], int]] = field(default_factory=list, init=False)
    asked: int = field(default=0, init=False)
    shown: int = field(default=0, init=False)

    def __call__(self, line: ReviewLine) -> Spans:
        """Return what is marked of a line; all of what is planted."""
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
        found = [one for one in spans if self.rng.random() < RECALL]
        self.marks.append(((line.purpose, line.batch), len(found)))
        return found

    @property
    def keys(self) -> int:
        """Return the keys: one for each mark, one for a line; one for a sheet without any."""
        return self._pressed()[0]

    def _pressed(self) -> tuple[int, float]:
        """Return the keys, and how many sheets they went through, of new lines."""
        keys, sheets = 0, 0.0
        for (purpose, _), own in groupby(self.marks, key=itemgetter(0)):
            marks, at = [n for _, n in own], 0
            sheet = SHEET if purpose in BLIND else 1
            sheets += len(marks) / sheet
            while at < len(marks):
                keys += 1 + marks[at]
                at += 1 if any(marks[at : at + sheet]) else sheet
        return keys, sheets

    @property
    def minutes(self) -> float:
        keys, sheets = self._pressed()
        return self.asked / WORDS_A_MINUTE + (keys * KEY + sheets * SHEET_SEEN) / 60


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


def staff(folder: Path, documents: Sequence[Document]) -> Path:
    rows = staff_of(documents)
    beside = zip(*rows.values(), strict=True)
    return write(
        folder / "staff.csv",
        dict(zip(("medico", "correo", "hospital"), (rows, *beside), strict=True)),
    )


def released(
    folder: Path, way: Way, documents: Sequence[Document], reader: Reader
) -> tuple[Path, Path, Path]:
    """Propose, learn, review and apply, as README does; return work folder, release and notes."""
    unmarked, patients = hospital(folder, documents)
    given = {"known": patients, "by": "patient_id", **LEARNING}
    if way.staff:
        given["known_people"] = staff(folder, documents)
    work, out = folder / "work", folder / "release.csv"
    voile.documents.init(unmarked, work, **given)
    if way.read:
        review(work, way.read, reader)
    kit = voile.open_kit(work)
    costs = [row["miss_cost"] for row in DocumentsContent.of(kit).figures.to_pylist()]
    kit.apply(kit.choose(policy=costs.index(way.cost)), str(unmarked), keep_order=True).save(out)
    return work, out, unmarked


def review(place: Path, goal: int, reader: Reader) -> None:
    """Read so many tokens in voile's order, and make the kit anew."""
    work, handed, said = UnmarkedWork.open(place), [], []
    read, batch = 0, FIRST
    while read < goal:
        lines = next_lines(rank(work, said), taken=tuple(handed), size=min(batch, goal - read))
        for line in lines:
            marked = [Span(line.start + a, line.start + b, label) for a, b, label in reader(line)]
            handed.append(line)
            said.append(ReviewedSpan(line.document, line.start, line.end, tuple(marked)))
        read, batch = int(reviewed_tokens(work.look, said)[0].sum()), batch * 2
    refit_kit(work, place, said)


def accepted(
    work: Path, release: Path, unmarked: Path, goal: float, reader: Reader
) -> Mapping[str, object]:
    """Read until a verdict, with a second try where the first proves nothing."""
    places = [str(work), str(release), str(unmarked)]
    given = {"at_most": goal, "recall": RECALL, "answers": reader}
    found: Mapping[str, object] = {"decided": False}
    for again in (False, True):
        try:
            found = voile.documents.accept(*places, again=again, **given)
        except RequestError:  # no amount of reading can prove it any more
            break
        if found["decided"]:
            break
    return found


def left(release: Path, documents: Sequence[Document]) -> tuple[float, float]:
    """Return how many tokens of identifiers a release leaves of 1,000 that it leaves, and the share
    of tokens without any mark that it removes.
    """
    gone: list[list[Span]] = [[] for _ in documents]
    for one in pq.read_table(f"{release}.private/removals.parquet").to_pylist():
        gone[one["row"]].append(Span(one["start"], one["end"], NAME))
    tokens = tokenise(one.text for one in documents)
    removed, identify = (
        covered(tokens, documents, spans) for spans in (gone, identifying(documents))
    )
    identify &= ~are_signs(tokens, [one.text for one in documents])
    harmless = ~covered(tokens, documents, [one.spans for one in documents])
    lost = float((harmless & removed).sum() / harmless.sum())
    return 1000 * float((identify & ~removed).sum() / (~removed).sum()), lost


def covered(
    tokens: TextTokens, documents: Sequence[Document], spans: Sequence[Sequence[Span]]
) -> np.ndarray:
    """Return which tokens have a character in a span of their document, (n,)."""
    marked = Corpus(
        replace(one, spans=tuple(replace(x, label=NAME) for x in own))
        for one, own in zip(documents, spans, strict=True)
    )
    return token_labels(tokens, marked, [NAME]) > 0


def rows(
    number: int, ways: Sequence[Way], goals: Sequence[float], draws: int
) -> Iterator[tuple[str, ...]]:
    """Yield a row for each way and goal."""
    documents = list(drawn(Corpus(notes("train")), number))
    for way in ways:
        with TemporaryDirectory() as place:
            folder = Path(place)
            first = Reader(identifying(documents), np.random.default_rng(0))
            work, release, unmarked = released(folder, way, documents, first)
            before = left(release, documents)
            for goal in goals:
                ends = [attempt(folder, work, release, unmarked, goal, first) for _ in range(draws)]
                yield row(number, way, goal, ends, before)


def attempt(
    folder: Path, work: Path, release: Path, unmarked: Path, goal: float, first: Reader
) -> tuple[Reader, bool]:
    """Read a copy of a release, as one who has read before what `first` has."""
    reader = copy(first)
    reader.marks = list(first.marks)
    with TemporaryDirectory(dir=folder) as tried:
        copied = Path(shutil.copytree(folder, Path(tried) / "copy", ignore=OTHERS))
        ended = accepted(work, copied / release.name, unmarked, goal, reader)
    return reader, bool(ended["decided"])


OTHERS = shutil.ignore_patterns("tmp*", "work")


def row(
    number: int,
    way: Way,
    goal: float,
    ends: Sequence[tuple[Reader, bool]],
    before: tuple[float, float],
) -> tuple[str, ...]:
    readers = sorted((one for one, _ in ends), key=lambda one: one.minutes)
    middle = readers[len(readers) // 2]
    return (
        f"{number}: {way.called}",
        f"{before[0]:.1f}",
        f"{before[1]:.1%}",
        f"{goal:g} per 1,000",
        f"{sum(decided for _, decided in ends)} of {len(ends)}",
        f"{middle.asked:,}",
        f"{middle.keys:,}",
        f"{middle.shown:,}",
        f"{middle.minutes:.0f}",
        f"{readers[0].minutes:.0f} to {readers[-1].minutes:.0f}",
    )


def main() -> None:
    warnings.simplefilter("ignore", UncheckedWarning)
    found = []
    for case in CASES:
        for one in rows(*case):
            print(*one, sep=" | ", flush=True)
            found.append(one)
    save(
        Path(__file__).stem,
        CAPTION,
        (
            "notes, and what is given", "left", "removed", "goal", "accepted", "words asked of",
            "keys", "words shown", "minutes", "from, to",
        ),
        found,
        READING,
    )  # fmt: skip


CAPTION = f"""\
Unmarked notes of MEDDOCAN, with the columns of their patients. The SVM learns from proposals in
one pass. The release is read until it is accepted at the goal, with 95% confidence. *Left*:
identifiers' tokens in the release, of 1,000 that remain. *Removed*: the share of tokens that
annotators left unmarked. Readers find {RECALL:.0%} of the annotators' names, dates, addresses,
places, organisations, numbers, e-mail addresses and phones. The staff's names, e-mail addresses
and hospitals are given in full. A review has {max(way.read for way in WAYS):,} tokens, and
counts. *Accepted* shows the number of readings of each release, with other draws. Minutes are
the median and the range."""
READING = f"""\
A sheet shows {SHEET} words, or neighbours that could be one name, each in its line. One key
confirms a sheet without marks. *Minutes* have three parts: the words asked of at
{WORDS_A_MINUTE} a minute, {KEY:g} seconds for each key, and {SHEET_SEEN:g} to decide at each
sheet. The first is the mean for silent reading (Brysbaert 2019), and the others are those of
Card, Moran and Newell (1980). Readers glance at the words around it. *Words shown* counts them,
and the minutes do not. Nobody timed a person at this page."""


if __name__ == "__main__":
    main()
