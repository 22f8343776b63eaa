"""Store the reading of a release in a private folder next to it, from which it can resume.

The random draws are not stored. The seed, the answers and the first release reproduce the same
reading. The lines in the store must match it.
"""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass, replace
from pathlib import Path
from typing import Annotated

import numpy as np
from numpy.typing import NDArray
from pydantic import Field, TypeAdapter, ValidationError

from voile.core.errors import DamagedError, RequestError
from voile.core.evidence import FORBID
from voile.data.files import outputs
from voile.data.files.atomic import write_text
from voile.data.files.own_files import read_json
from voile.documents.acceptance.kept import READER, KeptTokens, Pair
from voile.documents.acceptance.plan import AcceptanceGoal
from voile.documents.acceptance.reading import AcceptanceReading, AcceptanceVerdict, DueTokens
from voile.documents.acceptance.screens import PlantedToken, draw_plants, screens
from voile.documents.replacements.removal import TextRemoval
from voile.documents.reviewing.line import ReviewAnswer, ReviewLine
from voile.documents.reviewing.store import ReviewStore

STATE, LINES = "acceptance.json", "reading.sqlite"
VERSION = 2
UNSURE = "OTHER"
"""The type of text that a reader was unsure of. It is also removed."""


@dataclass(frozen=True)
class ReadingState:
    """The facts from which a reading resumes.

    Parameters
    ----------
    first, now : the hashes of the original and of the current release.
    source, kit : the hash of the source, and the kit's id.
    seed : the seed of the random draws.
    recall : the readers' recall that the plan expects.
    tries : the number of tries begun.
    """

    __pydantic_config__ = FORBID

    first: str
    now: str
    source: str
    kit: str
    goal: AcceptanceGoal
    seed: tuple[Annotated[int, Field(ge=0)], ...]
    recall: Annotated[float, Field(gt=0, le=1)]
    tries: Annotated[int, Field(ge=1)] = 1

    def write(self, folder: Path) -> None:
        text = json.dumps(
            {"format": outputs.ACCEPTANCE_FORMAT, "version": VERSION, **asdict(self)}, indent=1
        )
        write_text(folder / STATE, text, outputs.ACCEPTANCE, force=True)

    @classmethod
    def read_folder(cls, folder: Path) -> ReadingState:
        """Read the state of a folder.

        Raises
        ------
        DamagedError : the state is damaged.
        RequestError : the state is from another version of voile.
        """
        place = folder / STATE
        data = read_json(place, "the state of the reading")
        try:
            if data.pop("format") != outputs.ACCEPTANCE_FORMAT or data.pop("version") != VERSION:
                raise RequestError(
                    "is of another version of voile",
                    where=str(place),
                    instead="go on with that version, or remove the folder and read again",
                )
            return TypeAdapter(cls).validate_python(data)
        except (KeyError, TypeError, AttributeError, ValidationError):
            raise DamagedError(
                "the state of the reading is damaged",
                where=str(place),
                instead="put a backup of the folder back, or remove it and read again",
            ) from None


class ReadingCourse:
    """A reading and the store of its lines, replayed up to the last answer.

    Parameters
    ----------
    pairs : the documents of the current release.
    pool : the identifiers available for seeding.
    cut : the score above which the committee removes.
    frozen : the last try with a release that was mended before its sample.
    least : the fewest tokens of the census.
    """

    def __init__(
        self,
        state: ReadingState,
        store: ReviewStore,
        kept: KeptTokens,
        pairs: Sequence[Pair],
        pool: Sequence[PlantedToken],
        cut: float,
        frozen: int,
        least: int,
    ) -> None:
        self._store, self._kept, self._pairs = store, kept, pairs
        self._pool, self._cut = list(pool), cut
        self._tries, self._frozen = state.tries, frozen
        self._numbers = kept.tokens  # the token numbers of the reading
        self.as_hard = True
        self._rng = np.random.default_rng([*state.seed, 1])
        self.reading = AcceptanceReading(
            kept.chances[self._numbers],
            state.goal,
            seed=state.seed,
            most_planted=len(pool),
            recall=state.recall,
            least=least,
            signs=kept.signs,
        )
        self._batch = 0
        self._waiting: tuple[DueTokens, list[ReviewLine]] | None = None

    def go_on(self) -> AcceptanceVerdict | DueTokens:
        """Use the available answers, and return the verdict, or the tokens that wait for answers.

        A sample that is due before the release is mended and frozen has no lines yet.
        """
        while True:
            if self._waiting is None:
                due = self.reading.due()
                if isinstance(due, AcceptanceVerdict):
                    if due.accepted or self.reading.number >= self._tries:
                        return due
                    self.reading.again()
                    continue
                if self.must_freeze(due):
                    return due
                self._waiting = due, self._lines(due)
            due, lines = self._waiting
            answers = self._answers(lines)
            if len(answers) < len(lines):
                return due
            self.reading.take(due, *self._count_found(lines, answers))
            self._waiting = None

    def must_freeze(self, due: AcceptanceVerdict | DueTokens) -> bool:
        """Return whether the census's finds must be removed before the sample is drawn."""
        is_sample = isinstance(due, DueTokens) and due.purpose == "sample"
        return is_sample and self._frozen < self.reading.number

    def _lines(self, due: DueTokens) -> list[ReviewLine]:
        """Return the screens of the due tokens, and add new ones to the store."""
        self._batch += 1
        plants, hard = draw_plants(self._pool, due.planted, self._cut, self._rng)
        self._pool = [one for one in self._pool if one not in plants]
        self.as_hard &= hard
        named = replace(due, tokens=self._numbers[due.tokens[~self.reading.found[due.tokens]]])
        lines = screens(named, plants, self._kept, self._pairs, self._rng)
        known = self._store.lines(batch=self._batch)
        if not known:
            return self._store.add(lines, batch=self._batch)
        if [*map(_strip_line, known)] != [*map(_strip_line, lines)]:
            raise DamagedError(
                "the lines that were read are not those of this release",
                where=str(self._store.path),
                instead="remove the folder, and read the release again",
            )
        return known

    def _answers(self, lines: Sequence[ReviewLine]) -> dict[int, list[ReviewAnswer]]:
        """Return the answers of every reader to these lines."""
        numbers = {one.number for one in lines}
        found: dict[int, list[ReviewAnswer]] = {}
        for purpose in ("census", "sample"):
            for one in self._store.answers(purpose=purpose):
                if one.line in numbers:
                    found.setdefault(one.line, []).append(one)
        return found

    def _count_found(
        self, lines: Sequence[ReviewLine], answers: Mapping[int, Sequence[ReviewAnswer]]
    ) -> tuple[NDArray[np.intp], int]:
        """Return the numbers of the found tokens, and the count of seeded ones seen."""
        found: list[int] = []
        seen = 0
        for line in lines:
            marked = marked_in(line, answers[line.number])
            extra = json.loads(line.extra)
            if "planted" in extra:
                start, end = extra["planted"]
                seen += any(a < end and start < b for a, b, _ in marked)
            else:
                found += self._tokens(line, marked)
        places = np.searchsorted(self._numbers, np.unique(np.array(found, dtype=np.intp)))
        return places, seen

    def _tokens(self, line: ReviewLine, marked: Sequence[tuple[int, int, str]]) -> list[int]:
        """Return the numbers of the tokens of a line that overlap a mark."""
        kept = self._kept
        first, last = np.searchsorted(kept.document, [line.document, line.document + 1])
        own = np.arange(first, last)
        return [
            token
            for a, b, _ in marked
            for token in own[
                (kept.start[first:last] < line.start + b) & (kept.end[first:last] > line.start + a)
            ].tolist()
            if kept.left[token] and not kept.is_sign[token]
        ]

    def removals(self) -> dict[int, list[TextRemoval]]:
        """Return the identifiers that readers have found so far, by document, as whole tokens."""
        types = self._types()
        found: dict[int, list[TextRemoval]] = {}
        for place in np.flatnonzero(self.reading.found).tolist():
            token = int(self._numbers[place])
            start, end = int(self._kept.start[token]), int(self._kept.end[token])
            one = TextRemoval(start, end, types[token], (READER,))
            found.setdefault(int(self._kept.document[token]), []).append(one)
        return found

    def _types(self) -> dict[int, str]:
        types: dict[int, str] = {}
        lines = {one.number: one for one in self._store.lines()}
        for answer in self._store.answers():
            line = lines[answer.line]
            if line.document >= 0:
                for marked in marked_in(line, [answer]):
                    types.update(dict.fromkeys(self._tokens(line, [marked]), marked[2]))
        return types


def _strip_line(line: ReviewLine) -> ReviewLine:
    """Return a line without the parts that change when the text around it is mended."""
    return replace(line, number=0, batch=0, before="", after="", why="")


def marked_in(line: ReviewLine, answers: Sequence[ReviewAnswer]) -> list[tuple[int, int, str]]:
    """Return all marks of any reader in a line.

    It is the whole line if a reader was unsure and there are no marks.
    """
    found = [(one.start, one.end, one.label) for answer in answers for one in answer.spans]
    if not found and any(answer.unsure for answer in answers):
        return [(0, len(line.text), UNSURE)]
    return found
