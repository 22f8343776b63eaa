"""From unmarked notes and a patients' table to an accepted release: how many minutes of reading."""

from __future__ import annotations

import csv
import shutil
import warnings
from collections.abc import Iterable, Iterator, Mapping, Sequence
from copy import copy
from dataclasses import dataclass, field, replace
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
from voile.documents.reviewing.batches import FIRST
from voile.documents.reviewing.line import Line
from voile.documents.reviewing.order import next_lines
from voile.documents.start.marks import Reviewed, reviewed_tokens
from voile.documents.start.rules import NAME
from voile.documents.verbs.content import Content
from voile.documents.verbs.policies import UncheckedWarning
from voile.documents.verbs.refit import rank, refit_kit
from voile.documents.verbs.work import Work
from voile.documents.words.tokens import Tokens, are_signs, token_labels, tokenise

NOTES, GOALS, RECALL = 100, (2.0, 1.0), 0.97


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
IDENTIFY = frozenset(TYPES) - {"FAMILIARES_SUJETO_ASISTENCIA", "PAIS"}
"""Types that a reader marks: a relative is nearly always a word such as *mother*, and a country
identifies nobody."""
LEARNING = {
    "learners": ["svm"], "cross_fit": 3, "max_passes": 1, "seed": 1, "miss_cost": [10, 50]
}  # fmt: skip
WORDS_A_MINUTE = 238
"""Silent reading of English non-fiction, the mean of 190 studies (Brysbaert 2019)."""
SECONDS_A_SCREEN = 1.0
Spans = Sequence[tuple[int, int, str]]


@dataclass
class Reader:
    """Somebody at the page, who finds most of what identifies.

    A line's document is the number of its row: the release keeps the source's order.

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
    costs = [row["miss_cost"] for row in Content.of(kit).figures.to_pylist()]
    kit.apply(kit.choose(policy=costs.index(way.cost)), str(unmarked), keep_order=True).save(out)
    return work, out, unmarked


def review(place: Path, goal: int, reader: Reader) -> None:
    """Read so many tokens in voile's order, and make the kit anew."""
    work, handed, said = Work.open(place), [], []
    read, batch = 0, FIRST
    while read < goal:
        lines = next_lines(rank(work, said), taken=tuple(handed), size=min(batch, goal - read))
        for line in lines:
            marked = [Span(line.start + a, line.start + b, label) for a, b, label in reader(line)]
            handed.append(line)
            said.append(Reviewed(line.document, line.start, line.end, tuple(marked)))
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


def left(release: Path, documents: Sequence[Document]) -> float:
    """Return how many tokens of identifiers a release leaves of 1,000 that it leaves."""
    gone: list[list[Span]] = [[] for _ in documents]
    for one in pq.read_table(f"{release}.private/removals.parquet").to_pylist():
        gone[one["row"]].append(Span(one["start"], one["end"], NAME))
    tokens = tokenise(one.text for one in documents)
    removed, identify = (
        covered(tokens, documents, spans) for spans in (gone, identifying(documents))
    )
    identify &= ~are_signs(tokens, [one.text for one in documents])
    return 1000 * float((identify & ~removed).sum() / (~removed).sum())


def covered(
    tokens: Tokens, documents: Sequence[Document], spans: Sequence[Sequence[Span]]
) -> np.ndarray:
    """Return which tokens have a character in a span of their document, (n,)."""
    marked = Corpus(
        replace(one, spans=tuple(replace(x, label=NAME) for x in own))
        for one, own in zip(documents, spans, strict=True)
    )
    return token_labels(tokens, marked, [NAME]) > 0


def rows(documents: Sequence[Document]) -> Iterator[tuple[str, ...]]:
    """Yield a row for each way and goal."""
    for way in WAYS:
        with TemporaryDirectory() as place:
            folder = Path(place)
            first = Reader(identifying(documents), np.random.default_rng(0))
            work, release, unmarked = released(folder, way, documents, first)
            before = left(release, documents)
            for goal in GOALS:
                tried = folder / f"at-most-{goal:g}"
                shutil.copytree(folder, tried, ignore=shutil.ignore_patterns("at-most-*", "work"))
                reader = copy(first)
                ended = accepted(work, tried / release.name, unmarked, goal, reader)
                yield row(way, goal, reader, ended, before)


def row(
    way: Way, goal: float, reader: Reader, found: Mapping[str, object], before: float
) -> tuple[str, ...]:
    by_words = reader.asked / WORDS_A_MINUTE
    by_screens = reader.screens * SECONDS_A_SCREEN / 60
    return (
        way.called,
        f"{before:.1f}",
        f"{goal:g} per 1,000",
        "yes" if found["decided"] else "no",
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
            "given", "left", "goal", "accepted", "screens", "words asked of", "words shown",
            "minutes by words", "minutes by screens",
        ),
        found,
        READING,
    )  # fmt: skip


CAPTION = f"""\
{NOTES} notes of MEDDOCAN that nobody marked, with the columns of their patients; proposed, learnt
from by the SVM in one pass, released and read until it is accepted, with 95% confidence, that so
few identifiers are left. *Left*: identifiers' tokens in the release, of 1,000 that it leaves.
Readers find {RECALL:.0%} of what annotators marked as names, dates, addresses, places,
organisations, numbers, e-mail addresses and phones. The staff's names, e-mail addresses and
hospitals are given whole; a review is of {max(way.read for way in WAYS):,} tokens, and counts."""
READING = f"""\
A screen shows a word, or neighbours that could be one name, in its line. *Minutes by words*: the
words asked of, at {WORDS_A_MINUTE} a minute, the mean for silent reading (Brysbaert 2019); *by
screens*: {SECONDS_A_SCREEN:g} second each, which is a key each and a glance at the line. Nobody
timed a person at this page."""


if __name__ == "__main__":
    main()
